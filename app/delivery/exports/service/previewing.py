"""Previews, which show the first rows of an export without creating the export."""

import io
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson

from app.delivery.exports.queries import previews
from app.delivery.exports.queries.rows import Version
from app.delivery.exports.service import creating
from app.delivery.exports.service.creating import Request
from app.engines.formats import FORMATS, merge_fields
from app.kit import db

MAX_BYTES = 1024 * 1024
"""The maximum size in bytes of all rows in a preview; the first row may be larger."""


def preview(
    *,
    format_id: str,
    where: Mapping[str, Any],
    options: Mapping[str, Any],
    include: Mapping[str, Any],
    limit: int,
) -> dict[str, Any]:
    """Return the first `limit` rows of an export, and the total number of its tag sets.

    Returns {count, count_is_exact, rows, content}; `content` is the content of a file with these
    rows, or None if the format is binary or needs the documents. Raises 400 `validation_error` if
    the request is invalid.
    """
    creating.check_references(where)
    request = creating.check_request(
        format_id=format_id, where=where, options=options, include=include, compute_end=_compute_end
    )
    total = previews.count(request.filter, request.include)
    versions, lines = previews.read_first_rows(request.filter, request.include, limit)
    shown_lines = _limit_bytes(lines)
    return {
        "count": total.number,
        "count_is_exact": total.is_exact,
        "rows": [orjson.Fragment(line) for line in shown_lines],
        "content": _render(request, versions, shown_lines),
    }


def _compute_end(requested: datetime | None) -> datetime:
    """Return the end of a period.

    Does not raise the watermark, because no later export begins at the end of a preview.
    """
    now = db.utc_now()
    return now if requested is None else min(requested, now)


def _limit_bytes(lines: list[bytes]) -> list[bytes]:
    size = 0
    for number, line in enumerate(lines):
        if number and size + len(line) > MAX_BYTES:
            return lines[:number]
        size += len(line)
    return lines


def _render(request: Request, versions: list[Version], lines: list[bytes]) -> str | None:
    format_ = FORMATS[request.format]
    if not format_.is_text or format_.writer is None:
        return None
    out = io.BytesIO()
    fields = merge_fields([version.fields for version in versions])
    writer = format_.writer(out, fields, request.options)
    for line in lines:
        writer.write_json(line)
    writer.close()
    return out.getvalue().decode("utf-8-sig")
