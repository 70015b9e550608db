"""Documents: taken in, read, claimed for labeling, deleted. What other features call is here."""

from app.documents.artifacts.service.acting import acts, note_discard
from app.documents.artifacts.service.assigning import (
    Assigned,
    assign_many,
    unassign,
    unassign_unable,
)
from app.documents.artifacts.service.bulk import (
    archive_many,
    changed_since,
    delete_expired,
    delete_many,
)
from app.documents.artifacts.service.claiming import (
    claim,
    count_reserved_for_others,
    expire_claims,
    free_expired,
    list_organizations_to_free,
    pass_over,
    refresh_schema,
    refresh_status,
    refresh_statuses,
    release,
    release_member,
    unreserve,
    unskip,
)
from app.documents.artifacts.service.cleaning import delete, delete_content, sweep
from app.documents.artifacts.service.counting import stats
from app.documents.artifacts.service.creating import create, create_from_file, create_from_text
from app.documents.artifacts.service.drawing import Wish, draw
from app.documents.artifacts.service.images import page_image
from app.documents.artifacts.service.parsing import give_up, parse
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
    bind_rules,
    finish_routing,
    give_up_routing,
    release_delayed,
)
from app.documents.artifacts.service.searching import index_backlog
from app.documents.artifacts.service.texts import source_text
from app.documents.artifacts.service.updating import reprocess, update

__all__ = [
    "Assigned",
    "Wish",
    "acts",
    "archive_many",
    "assign_many",
    "bind_rules",
    "by_ids",
    "changed_since",
    "claim",
    "count_reserved_for_others",
    "create",
    "create_from_file",
    "create_from_text",
    "delete",
    "delete_content",
    "delete_expired",
    "delete_many",
    "download",
    "draw",
    "expire_claims",
    "finish_routing",
    "free_expired",
    "get",
    "get_text",
    "give_up",
    "give_up_routing",
    "index_backlog",
    "list_artifacts",
    "list_organizations_to_free",
    "list_pages",
    "lock",
    "note_discard",
    "page_image",
    "parse",
    "pass_over",
    "refresh_schema",
    "refresh_status",
    "refresh_statuses",
    "release",
    "release_delayed",
    "release_member",
    "reopen_failed",
    "reprocess",
    "reprocess_failed",
    "selected_ids",
    "show",
    "source_text",
    "stats",
    "sweep",
    "unassign",
    "unassign_unable",
    "unreserve",
    "unskip",
    "update",
]
