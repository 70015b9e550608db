"""The SELECT for lists of documents. It limits the total size of the metadata on a page."""

from typing import Any

from sqlalchemy import ColumnElement, Select, Text, Uuid, case, cast, func, select

from app.documents.artifacts.models.documents import Artifact
from app.documents.artifacts.models.rows import ARTIFACT_COLUMNS
from app.kit.periods import Column

SORTS: dict[str, Column] = {
    "created_at": Artifact.created_at,
    "name": Artifact.name,
    "priority": Artifact.priority,
    "updated_at": Artifact.updated_at,
}
MAX_PAGE_BYTES = 16 * 1024 * 1024
"""The maximum size in bytes of all metadata on a page of a list. Each document gets an equal share.
"""
# Ids are read as text: a page has hundreds, and each would only be converted back to text.
_LISTED = select(
    *(
        cast(column, Text).label(str(column.key)) if isinstance(column.type, Uuid) else column
        for column in ARTIFACT_COLUMNS
        if column.key != "metadata"
    )
)


def build_list_statement(page_size: int | ColumnElement[int]) -> Select[Any]:
    """Build the SELECT of the documents in a list of `page_size` documents.

    `metadata` is null if it exceeds an equal share of `MAX_PAGE_BYTES`.
    """
    is_small = func.octet_length(cast(Artifact.meta, Text)) <= MAX_PAGE_BYTES // page_size
    return _LISTED.add_columns(case((is_small, Artifact.meta)).label("metadata"))
