"""How documents are counted: all of them, and those that somebody is assigned to."""

from app.kit.counters import Cube, Source
from app.kit.counters.spans import DAY, HOUR, MONTH

_STATE = ("schema_id", "status", "archived", "gold", "assigned")
ARTIFACTS = Source(
    "artifacts",
    (*_STATE, "media_type", "language", "created", "due"),
    (
        Cube("artifacts", _STATE),
        Cube("artifacts.types", (*_STATE, "media_type", "language")),
        Cube("artifacts.created.month", _STATE, bucket="created", length=MONTH),
        Cube("artifacts.created.day", _STATE, bucket="created", length=DAY),
        Cube("artifacts.created.hour", _STATE, bucket="created", length=HOUR),
        Cube("artifacts.due.month", _STATE, bucket="due", length=MONTH),
        Cube("artifacts.due.day", _STATE, bucket="due", length=DAY),
        Cube("artifacts.due.hour", ("status", "archived"), bucket="due", length=HOUR),
    ),
)

ASSIGNED = Source(
    "assigned",
    ("assignee_id", "schema_id", "status", "archived"),
    (Cube("assigned", ("schema_id", "status", "archived"), key="assignee_id"),),
)

_OFFER = ("schema_id", "assignees", "labeled_by", "places_taken")
OFFERED = Source(
    "offered",
    ("assignee_id", *_OFFER, "due"),
    (
        Cube("offered", _OFFER, key="assignee_id"),
        Cube("offered.due.month", _OFFER, key="assignee_id", bucket="due", length=MONTH),
        Cube("offered.due.day", _OFFER, key="assignee_id", bucket="due", length=DAY),
    ),
)
"""Open documents by their assignees. `labeled_by` are the ids of those who labeled it."""

SEARCHED = Source("searched", ("archived",), (Cube("searched", ("archived",)),))
"""What words are searched in. The measure is made of each document's id and changes: another sum
says that something is found that was not, or the other way round."""
