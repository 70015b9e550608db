"""Counters of all documents, and of those that are scanned, due, assigned or searchable."""

from app.kit.counters import Cube, Source, build_cubes
from app.kit.counters.spans import DAY, HOUR, MONTH

_STATE_FACETS = ("schema_id", "status", "archived", "gold", "assigned")
ARTIFACTS = Source(
    "artifacts",
    (*_STATE_FACETS, "media_type", "language", "created", "due"),
    (
        Cube("artifacts", _STATE_FACETS),
        Cube("artifacts.types", (*_STATE_FACETS, "media_type", "language")),
        *build_cubes("artifacts.created", _STATE_FACETS, "created", MONTH, DAY, HOUR),
        *build_cubes("artifacts.due", _STATE_FACETS, "due", MONTH, DAY),
        Cube("artifacts.due.hour", ("status", "archived"), bucket="due", length=HOUR),
    ),
)

SCANNED = Source(
    "scanned",
    ("schema_id", "status", "archived", "ocr"),
    (Cube("scanned", ("schema_id", "status", "archived", "ocr")),),
)
"""Documents whose `ocr` is not `none`: at least one page needs text recognition."""

DUE = Source(
    "due",
    ("schema_id", "due_day", "created"),
    (Cube("due.created.day", ("schema_id", "due_day"), bucket="created", length=DAY),),
)
"""Documents with a due date that are not done, failed or archived; `due_day` is in UTC."""

ASSIGNED = Source(
    "assigned",
    ("assignee_id", "schema_id", "status", "archived"),
    (Cube("assigned", ("schema_id", "status", "archived"), key="assignee_id"),),
)
"""Assigned documents; a document is counted once for each of its assignees."""

_OFFER_FACETS = ("schema_id", "assignees", "labeled_by", "places_taken")
OFFERED = Source(
    "offered",
    ("assignee_id", *_OFFER_FACETS, "due"),
    (
        Cube("offered", _OFFER_FACETS, key="assignee_id"),
        *build_cubes("offered.due", _OFFER_FACETS, "due", MONTH, DAY, key="assignee_id"),
    ),
)
"""Assigned documents whose status allows labeling, counted once for each of their assignees.

These are the documents whose `ArtifactAssignee.is_open` is true. `labeled_by` has the ids of the
users who labeled the document. `assignees` is a hash of all its assignees. `places_taken` is the
number of its submitted or accepted tag sets, plus the number of users for whom it is reserved.
"""

SEARCHED = Source("searched", ("archived",), (Cube("searched", ("archived",)),))
"""Searchable documents. Each document's measure is computed from its id and number of changes. If
the sum of all measures changes, the results of a search may have changed."""
