"""Service functions to create, read, run, cancel and retry ingestion jobs, for other features."""

from app.intake.ingestion_jobs.queries.records import (
    ItemRow,
    has_processing_items,
    list_failed_documents,
)
from app.intake.ingestion_jobs.queries.settling import has_waiting_job
from app.intake.ingestion_jobs.service.cleaning import (
    build_source_key,
    delete_expired_files,
    delete_unused_files,
)
from app.intake.ingestion_jobs.service.documents import (
    ItemOutcome,
    build_failure,
    create_document,
)
from app.intake.ingestion_jobs.service.reading import get, get_stats, list_items, list_jobs
from app.intake.ingestion_jobs.service.requests import (
    cancel,
    cancel_all_crawls,
    cancel_crawl,
    create_crawl,
    create_extraction,
    create_import,
    create_reprocess,
    retry,
    start_reprocess,
)
from app.intake.ingestion_jobs.service.running import (
    begin_batch,
    fail,
    finish,
    is_running,
    record_batch,
    reopen,
    run_steps,
    set_source,
    set_total,
    settle,
    settle_documents,
    start,
)

__all__ = [
    "ItemOutcome",
    "ItemRow",
    "begin_batch",
    "build_failure",
    "build_source_key",
    "cancel",
    "cancel_all_crawls",
    "cancel_crawl",
    "create_crawl",
    "create_document",
    "create_extraction",
    "create_import",
    "create_reprocess",
    "delete_expired_files",
    "delete_unused_files",
    "fail",
    "finish",
    "get",
    "get_stats",
    "has_processing_items",
    "has_waiting_job",
    "is_running",
    "list_failed_documents",
    "list_items",
    "list_jobs",
    "record_batch",
    "reopen",
    "retry",
    "run_steps",
    "set_source",
    "set_total",
    "settle",
    "settle_documents",
    "start",
    "start_reprocess",
]
