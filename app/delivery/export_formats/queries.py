"""SQL that lists the export formats, so that they use the same pagination as stored rows."""

from collections.abc import Iterable

from sqlalchemy import String, column, select, values

from app.kit.pagination import Page, PageRequest, paginate


def list_formats(request: PageRequest, formats: Iterable[tuple[str, str]]) -> Page:
    """Return a page of rows with the id and name of each format."""
    table = values(column("id", String), column("name", String), name="formats").data(list(formats))
    sorts = {"id": table.c.id, "name": table.c.name}
    return paginate(select(table.c.id, table.c.name), request, sorts=sorts, unique=table.c.id)
