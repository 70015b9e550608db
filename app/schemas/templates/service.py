"""List schema templates, and create schema drafts from templates."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from sqlalchemy import String, column, or_, select, values

from app.engines.fields import Field
from app.kit import errors
from app.kit.pagination import Page, PageRequest, paginate
from app.schemas.artifact_schemas.models import ArtifactSchema
from app.schemas.artifact_schemas.service import drafts as schemas
from app.schemas.templates.catalog import Template, load_templates


def list_templates(
    *,
    page: PageRequest,
    industry: str | None = None,
    document_type: str | None = None,
    q: str | None = None,
) -> Page:
    """Return a page of the templates that match the filters; a filter that is None matches all.

    `q` is a part of the name or the document type, in any case. The database filters and paginates
    the templates like the rows of a table.
    """
    templates = load_templates()
    columns = ("id", "name", "industry", "document_type")
    rows = [tuple(getattr(template, name) for name in columns) for template in templates.values()]
    table = values(*(column(name, String) for name in columns), name="templates").data(rows).c
    statement = select(table.id, table.name, table.industry)
    if industry is not None:
        statement = statement.where(table.industry == industry)
    if document_type is not None:
        statement = statement.where(table.document_type == document_type)
    if q:
        searched_columns = (table.name, table.document_type)
        matches = (searched.icontains(q, autoescape=True) for searched in searched_columns)
        statement = statement.where(or_(*matches))
    sort_columns = {"name": table.name, "id": table.id, "industry": table.industry}
    rows_page = paginate(statement, page, sort_columns=sort_columns, unique=table.id)
    return replace(rows_page, items=[templates[row.id] for row in rows_page.items])


def get(template_id: str) -> Template:
    """Return the template with this id. Raises 404 if it does not exist."""
    return errors.require_found(load_templates().get(template_id))


def instantiate(
    template_id: str,
    *,
    created_by: UUID,
    name: str | None = None,
    document_type: str | None = None,
    fields: Sequence[str] | None = None,
) -> ArtifactSchema:
    """Create a schema draft from a template. `fields` lists the keys to use; None means all.

    By default, `name` and `document_type` are those of the template. Raises 404 if the
    template does not exist, and 400 if `fields` is empty or contains a key that is not in the
    template.
    """
    template = get(template_id)
    return schemas.create(
        created_by=created_by,
        name=name or template.name,
        document_type=document_type or template.document_type,
        description=template.description,
        guidelines=template.guidelines,
        fields=template.fields if fields is None else _select_fields(template, fields),
    )


def _select_fields(template: Template, keys: Sequence[str]) -> list[Field]:
    if not keys:
        raise errors.invalid("A schema needs at least one field.", "fields")
    template_keys = {field["key"] for field in template.fields}
    for position, key in enumerate(keys):
        if key not in template_keys:
            raise errors.invalid("The template has no field with this key.", f"fields.{position}")
    return [field for field in template.fields if field["key"] in keys]
