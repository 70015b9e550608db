"""Previews that show the first rows of an export without creating the export."""

import io
from datetime import datetime
from typing import Any, Unpack

import orjson

from app.delivery.exports.queries import previews
from app.delivery.exports.queries.rows import Version
from app.delivery.exports.service import creating
from app.delivery.exports.service.creating import ExportParameters, ExportRequest
from app.engines.formats import FORMATS
from app.engines.formats.labels import merge_fields
from app.kit import db

MAX_BYTES = 1024 * 1024
"""The maximum size in bytes of all rows in a preview.

The first row is always included, but its history is cut off at this size.
"""


def preview(*, limit: int, **parameters: Unpack[ExportParameters]) -> dict[str, Any]:
    """Preview an export: return up to `limit` of its first rows, and the number of its tag sets.

    `rows` has the rows as JSON. `count` is the number of tag sets; if `count_is_exact` is false,
    the true number is higher. `content` is the content of a file with these rows, or None if the
    format is binary or includes the documents. Raises 400 `validation_error` if the request is
    invalid.
    """
    creating.check_references(parameters["filter_"])
    request = creating.validate_request(**parameters, compute_end=_compute_end)
    count = previews.count_tag_sets(request.filter, request.include)
    versions, lines = previews.read_first_rows(
        request.filter, request.include, limit=limit, max_bytes=MAX_BYTES
    )
    return {
        "count": count.value,
        "count_is_exact": count.is_exact,
        "rows": [orjson.Fragment(line) for line in lines],
        "content": _render_content(request, versions, lines),
    }


def _compute_end(requested_end: datetime | None) -> datetime:
    """Return the requested end of a period, or the current time if it is earlier or no end is set.

    Does not raise the watermark (see `app.kit.watermarks`), because no later export begins
    at the end of a preview's period.
    """
    now = db.utc_now()
    return now if requested_end is None else min(requested_end, now)


def _render_content(
    request: ExportRequest, versions: list[Version], lines: list[bytes]
) -> str | None:
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
