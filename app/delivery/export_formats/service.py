"""Service functions of export formats, which the format engine defines."""

from dataclasses import replace
from typing import Any

from app.delivery.export_formats import queries
from app.engines.formats import FORMATS, Format
from app.kit import errors
from app.kit.pagination import Page, PageRequest


def list_formats(*, page: PageRequest) -> Page:
    """Return a page of formats, without their samples."""
    rows = queries.list_formats(page, ((format_.id, format_.name) for format_ in FORMATS.values()))
    return replace(rows, items=[_describe(FORMATS[row.id]) for row in rows.items])


def get(format_id: str) -> dict[str, Any]:
    """Return one format with its sample. Raises 404."""
    format_ = FORMATS.get(format_id)
    if format_ is None:
        raise errors.not_found()
    return {**_describe(format_), "sample": format_.sample}


def _describe(format_: Format) -> dict[str, Any]:
    return {
        "id": format_.id,
        "name": format_.name,
        "description": format_.description,
        "media_type": format_.media_type,
        "extension": format_.extension,
        "keeps": format_.keeps,
        "options_schema": format_.options_schema,
    }
