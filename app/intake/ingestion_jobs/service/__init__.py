"""Ingestion jobs: create, read, run, cancel and retry them. Other features call these."""

from app.intake.ingestion_jobs.queries.records import ItemRow
from app.intake.ingestion_jobs.service.reading import get, get_stats, list_items, list_jobs
from app.intake.ingestion_jobs.service.requests import cancel, create_import, retry
from app.intake.ingestion_jobs.service.running import (
    begin_batch,
    delete_expired_files,
    fail,
    fail_after_attempts,
    finish,
    record_batch,
    reopen,
    set_total,
    settle,
    start,
)

__all__ = [
    "ItemRow",
    "begin_batch",
    "cancel",
    "create_import",
    "delete_expired_files",
    "fail",
    "fail_after_attempts",
    "finish",
    "get",
    "get_stats",
    "list_items",
    "list_jobs",
    "record_batch",
    "reopen",
    "retry",
    "set_total",
    "settle",
    "start",
]
