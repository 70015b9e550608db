"""Service functions for export formats, which the format engine defines."""

from dataclasses import replace

from sqlalchemy import String, column, select, values

from app.engines.formats import FORMATS, Format
from app.kit import errors
from app.kit.pagination import Page, PageRequest, paginate


def list_formats(*, page: PageRequest) -> Page:
    """Return a page of export formats, sorted by id or by name."""
    # The query reads the formats from a VALUES list, so that the pagination for tables can be used.
    names = [(format_.id, format_.name) for format_ in FORMATS.values()]
    table = values(column("id", String), column("name", String), name="formats").data(names)
    sorts = {"id": table.c.id, "name": table.c.name}
    rows = paginate(select(table.c.id, table.c.name), page, sorts=sorts, unique=table.c.id)
    return replace(rows, items=[FORMATS[row.id] for row in rows.items])


def get(format_id: str) -> Format:
    """Return the export format with this id. Raises 404 if it is not defined."""
    return errors.require_found(FORMATS.get(format_id))
