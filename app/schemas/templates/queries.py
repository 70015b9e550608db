"""SQL query that filters and paginates templates, which are sent as a VALUES list."""

from collections.abc import Iterable

from sqlalchemy import String, column, or_, select, values

from app.kit.pagination import Page, PageRequest, paginate
from app.schemas.templates.catalog import Template


def list_templates(
    request: PageRequest,
    templates: Iterable[Template],
    *,
    industry: str | None,
    document_type: str | None,
    q: str | None,
) -> Page:
    """Return a page of rows with the id, name and industry of the templates that match the filters.

    `q` is a substring of the name or the document type. A filter that is None matches everything.
    """
    columns = ("id", "name", "industry", "document_type")
    rows = [tuple(getattr(template, name) for name in columns) for template in templates]
    table = values(*(column(name, String) for name in columns), name="templates").data(rows)
    statement = select(table.c.id, table.c.name, table.c.industry)
    if industry is not None:
        statement = statement.where(table.c.industry == industry)
    if document_type is not None:
        statement = statement.where(table.c.document_type == document_type)
    if q:
        searched_columns = (table.c.name, table.c.document_type)
        matches = [
            searched_column.icontains(q, autoescape=True) for searched_column in searched_columns
        ]
        statement = statement.where(or_(*matches))
    sorts = {"name": table.c.name, "id": table.c.id, "industry": table.c.industry}
    return paginate(statement, request, sorts=sorts, unique=table.c.id)
