"""Service functions for export formats, which the format engine defines."""

from dataclasses import replace

from app.engines.formats import FORMATS
from app.engines.formats.model import Format
from app.kit import errors
from app.kit.pagination import Page, PageRequest, paginate_values


def list_formats(*, page: PageRequest) -> Page:
    """Return a page of export formats, sorted by id or by name."""
    names = [format_.name for format_ in FORMATS.values()]
    row_page = paginate_values(page, id=list(FORMATS), name=names)
    return replace(row_page, items=[FORMATS[row.id] for row in row_page.items])


def get(format_id: str) -> Format:
    """Return the export format with this id. Raises 404 if it is not defined."""
    return errors.require_found(FORMATS.get(format_id))
