"""Services of artifacts, and the queries that other features use."""

from app.documents.artifacts.queries.reading import select_matching
from app.documents.artifacts.queries.search_pages import select_ids
from app.documents.artifacts.queries.updating import (
    FailedSelection,
    count_failed_documents,
    find_failed_ids,
    list_failed_documents,
    set_predictions,
)

__all__ = [
    "FailedSelection",
    "count_failed_documents",
    "find_failed_ids",
    "list_failed_documents",
    "select_ids",
    "select_matching",
    "set_predictions",
]
