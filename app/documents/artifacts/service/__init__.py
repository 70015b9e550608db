"""Artifacts: create, read, search, reprocess and delete them. Other features call these."""

from app.documents.artifacts.queries.detaching import detach_schema
from app.documents.artifacts.queries.reading import select_ids, select_matching
from app.documents.artifacts.service.bulk import (
    archive_many,
    delete_expired,
    delete_many,
    explain_missing,
)
from app.documents.artifacts.service.cleaning import delete, delete_contents, sweep
from app.documents.artifacts.service.counting import get_stats
from app.documents.artifacts.service.creating import create, create_from_file, create_from_text
from app.documents.artifacts.service.images import get_page_image
from app.documents.artifacts.service.parsing import give_up, parse
from app.documents.artifacts.service.ports import Workflow, bind_workflow
from app.documents.artifacts.service.reading import (
    download,
    get,
    get_text,
    list_artifacts,
    list_pages,
    lock,
    show,
)
from app.documents.artifacts.service.reprocessing import reopen_failed, reprocess_failed
from app.documents.artifacts.service.routing import (
    finish_routing,
    give_up_routing,
    release_delayed,
)
from app.documents.artifacts.service.searching import index_backlog
from app.documents.artifacts.service.texts import source_text
from app.documents.artifacts.service.updating import reprocess, update

__all__ = [
    "Workflow",
    "archive_many",
    "bind_workflow",
    "create",
    "create_from_file",
    "create_from_text",
    "delete",
    "delete_contents",
    "delete_expired",
    "delete_many",
    "detach_schema",
    "download",
    "explain_missing",
    "finish_routing",
    "get",
    "get_page_image",
    "get_stats",
    "get_text",
    "give_up",
    "give_up_routing",
    "index_backlog",
    "list_artifacts",
    "list_pages",
    "lock",
    "parse",
    "release_delayed",
    "reopen_failed",
    "reprocess",
    "reprocess_failed",
    "select_ids",
    "select_matching",
    "show",
    "source_text",
    "sweep",
    "update",
]
