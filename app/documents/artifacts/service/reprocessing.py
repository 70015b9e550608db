"""Reprocess failed documents, many at once or when their failed job is retried."""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from app.documents.artifacts.queries import reprocessing as queries
from app.kit import events

Checkpoint = Callable[[], None]
Report = Callable[[int, int], None]


def reprocess_failed(
    checkpoint: Checkpoint,
    report: Report,
    *,
    failure_code: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> int:
    """Queue the matching failed documents of the bound organization; return how many.

    Skips archived documents and those with tag sets. `checkpoint` commits after each batch;
    `report` gets the numbers of processed and of all documents. Emits `artifact.reprocessed` for
    each.
    """
    artifact_ids = queries.find_failed(failure_code, created_after, created_before)
    queued = 0
    for start in range(0, len(artifact_ids), queries.BATCH):
        batch = queries.reopen(artifact_ids[start : start + queries.BATCH])
        events.emit_many(
            "artifact.reprocessed", [{"artifact_id": reopened, "by": None} for reopened in batch]
        )
        checkpoint()
        queued += len(batch)
        report(min(start + queries.BATCH, len(artifact_ids)), len(artifact_ids))
    return queued


def reopen_failed(artifact_id: UUID) -> None:
    """Set a failed document to processing again, for the retry of its job; ignore any other."""
    queries.reopen([artifact_id])
