"""SQL queries for the exports that notifications report on."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import select

from app.delivery.exports.models import Export
from app.kit import db


class ExportResult(NamedTuple):
    """The result of an export.

    `user_id` is the user who requested the export, or None if an API key requested it.
    """

    user_id: UUID | None
    format: str
    row_count: int | None
    expires_at: datetime | None
    error: dict[str, Any] | None


def get_export_result(export_id: UUID) -> ExportResult | None:
    """Return the result of an export, or None if it no longer exists."""
    statement = select(
        Export.created_by,
        Export.api_key_id,
        Export.format,
        Export.row_count,
        Export.expires_at,
        Export.error,
    ).where(Export.id == export_id)
    row = db.session().execute(statement).first()
    if row is None:
        return None
    user_id = row.created_by if row.api_key_id is None else None
    return ExportResult(user_id, row.format, row.row_count, row.expires_at, row.error)
