"""Define the example tag set for the samples of all formats, and render samples in text formats."""

import io
from collections.abc import Mapping
from typing import Any

import orjson

from app.engines.formats.model import Row, WriterFactory

SAMPLE_FIELDS: tuple[dict[str, Any], ...] = (
    {"key": "invoice_number", "type": "text", "multiple": False, "columns": []},
    {"key": "total", "type": "money", "multiple": False, "columns": []},
    {
        "key": "items",
        "type": "table",
        "multiple": False,
        "columns": [
            {"key": "description", "type": "text", "multiple": False, "columns": []},
            {"key": "quantity", "type": "number", "multiple": False, "columns": []},
        ],
    },
)

SAMPLE_ROW: dict[str, Any] = {
    "tag_set_id": "01920000-0000-7000-8000-000000000001",
    "status": "accepted",
    "source": "human",
    "revision": 4,
    "artifact": {
        "id": "01920000-0000-7000-8000-000000000002",
        "name": "invoice-1042.pdf",
        "external_id": "erp-1042",
        "media_type": "application/pdf",
        "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "metadata": {"source": "mail"},
        "page_count": 1,
        "language": "en",
        "gold": False,
        "archived": False,
    },
    "schema": {
        "id": "01920000-0000-7000-8000-000000000003",
        "name": "Invoices",
        "version_id": "01920000-0000-7000-8000-000000000004",
        "version": 2,
    },
    "labeler_id": "01920000-0000-7000-8000-000000000005",
    "reviewer_id": "01920000-0000-7000-8000-000000000006",
    "submitted_at": "2024-05-13T09:30:00Z",
    "decided_at": "2024-05-13T10:00:00Z",
    "labels": {
        "invoice_number": "RE-1042",
        "total": {"amount": "119.00", "currency": "EUR"},
        "items": [
            {"description": "Paper, A4", "quantity": 10},
            {"description": "Toner", "quantity": 1},
        ],
    },
}


def render_sample(
    create_writer: WriterFactory, options: Mapping[str, Any], row: Row = SAMPLE_ROW
) -> str:
    """Write a sample file in a text format, and return its text.

    `row` is the only tag set in the file.
    """
    out = io.BytesIO()
    sample_writer = create_writer(out, SAMPLE_FIELDS, options)
    sample_writer.write_json(orjson.dumps(row))
    sample_writer.close()
    return out.getvalue().decode()
