"""Artifacts: create, read, search, reprocess and delete them. Other features call these."""

from app.documents.artifacts.queries.detaching import detach_schema
from app.documents.artifacts.service.bulk import (
    archive_many,
    changed_since,
    delete_expired,
    delete_many,
)
from app.documents.artifacts.service.cleaning import delete, delete_contents, sweep
from app.documents.artifacts.service.counting import stats
from app.documents.artifacts.service.creating import create, create_from_file, create_from_text
from app.documents.artifacts.service.images import page_image
from app.documents.artifacts.service.parsing import give_up, parse
from app.documents.artifacts.service.ports import Workflow, bind_workflow
from app.documents.artifacts.service.reading import (
    by_ids,
    download,
    get,
    get_text,
    list_artifacts,
    list_pages,
    lock,
    selected_ids,
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
    "by_ids",
    "changed_since",
    "create",
    "create_from_file",
    "create_from_text",
    "delete",
    "delete_contents",
    "delete_expired",
    "delete_many",
    "detach_schema",
    "download",
    "finish_routing",
    "get",
    "get_text",
    "give_up",
    "give_up_routing",
    "index_backlog",
    "list_artifacts",
    "list_pages",
    "lock",
    "page_image",
    "parse",
    "release_delayed",
    "reopen_failed",
    "reprocess",
    "reprocess_failed",
    "selected_ids",
    "show",
    "source_text",
    "stats",
    "sweep",
    "update",
]
