"""List schema templates, and create schema drafts from templates."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from app.engines.fields import Field
from app.kit import errors
from app.kit.pagination import Page, PageRequest
from app.schemas.artifact_schemas.models import ArtifactSchema
from app.schemas.artifact_schemas.service import drafts as schemas
from app.schemas.templates import queries
from app.schemas.templates.catalog import Template, load_templates


def list_templates(
    *,
    page: PageRequest,
    industry: str | None = None,
    document_type: str | None = None,
    q: str | None = None,
) -> Page:
    """Return a page of templates. `q` is a substring of the name or the document type."""
    templates = load_templates()
    rows = queries.list_templates(
        page, templates.values(), industry=industry, document_type=document_type, q=q
    )
    return replace(rows, items=[templates[row.id] for row in rows.items])


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
    """Create a schema draft from a template. `fields` has the keys of its fields; None means all.

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
