"""Services to create, read, search, reprocess and delete artifacts, for use by other features."""

from app.documents.artifacts.queries.listing import list_artifacts
from app.documents.artifacts.queries.reading import select_matching
from app.documents.artifacts.queries.search_pages import select_ids
from app.documents.artifacts.queries.updating import (
    FailedSelection,
    count_failed_documents,
    detach_schema,
    find_failed_ids,
    list_failed_documents,
    set_predictions,
)
from app.documents.artifacts.service.attaching import attach
from app.documents.artifacts.service.bulk import (
    archive_many,
    build_missing_errors,
    delete_expired_documents,
    delete_many,
)
from app.documents.artifacts.service.cleaning import delete, delete_contents, sweep
from app.documents.artifacts.service.counting import get_stats
from app.documents.artifacts.service.creating import create, create_from_file
from app.documents.artifacts.service.creating_many import (
    MAX_BATCH,
    NewText,
    Outcome,
    PreparedText,
    create_from_texts,
    prepare_text,
)
from app.documents.artifacts.service.images import PageImage, PageImages, get_page_image
from app.documents.artifacts.service.parsing import ATTACH_JOB, RECOGNIZE_JOB, mark_failed, parse
from app.documents.artifacts.service.reading import (
    download,
    get,
    get_api_row,
    get_text,
    is_newest_file_stored,
    list_pages,
    lock,
    open_content,
)
from app.documents.artifacts.service.recognizing import finish_recognition, recognize
from app.documents.artifacts.service.reprocessing import (
    index_backlog,
    reopen_failed,
    reprocess,
    reprocess_as_job,
    reprocess_failed,
)
from app.documents.artifacts.service.routing import (
    finish_routing,
    release_delayed_documents,
    release_unrouted_document,
    request_routing_many,
)
from app.documents.artifacts.service.texts import build_source_text
from app.documents.artifacts.service.updating import update
from app.documents.artifacts.service.words import lay_out_page

__all__ = [
    "ATTACH_JOB",
    "MAX_BATCH",
    "RECOGNIZE_JOB",
    "FailedSelection",
    "NewText",
    "Outcome",
    "PageImage",
    "PageImages",
    "PreparedText",
    "archive_many",
    "attach",
    "build_missing_errors",
    "build_source_text",
    "count_failed_documents",
    "create",
    "create_from_file",
    "create_from_texts",
    "delete",
    "delete_contents",
    "delete_expired_documents",
    "delete_many",
    "detach_schema",
    "download",
    "find_failed_ids",
    "finish_recognition",
    "finish_routing",
    "get",
    "get_api_row",
    "get_page_image",
    "get_stats",
    "get_text",
    "index_backlog",
    "is_newest_file_stored",
    "lay_out_page",
    "list_artifacts",
    "list_failed_documents",
    "list_pages",
    "lock",
    "mark_failed",
    "open_content",
    "parse",
    "prepare_text",
    "recognize",
    "release_delayed_documents",
    "release_unrouted_document",
    "reopen_failed",
    "reprocess",
    "reprocess_as_job",
    "reprocess_failed",
    "request_routing_many",
    "select_ids",
    "select_matching",
    "set_predictions",
    "sweep",
    "update",
]
