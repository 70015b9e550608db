"""The state machine of a tag set: its statuses, and the actions that change the status."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class TagSetStatus(StrEnum):
    """The status of a tag set."""

    DRAFT = "draft"
    SUBMITTED = "submitted"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Action(StrEnum):
    """An action on a tag set."""

    SAVE = "save"
    DELETE = "delete"
    SUBMIT = "submit"
    ACCEPT = "accept"
    REJECT = "reject"
    REOPEN = "reopen"


class Transition(NamedTuple):
    """The statuses that allow an action, and the statuses that it leads to; none for a deletion."""

    sources: tuple[TagSetStatus, ...]
    targets: tuple[TagSetStatus, ...]


_DRAFT, _SUBMITTED, _ACCEPTED, _REJECTED = TagSetStatus

TRANSITIONS: Mapping[Action, Transition] = {
    Action.SAVE: Transition((_DRAFT,), (_DRAFT,)),
    Action.DELETE: Transition((_DRAFT,), ()),
    # Accepted immediately if the schema's policy requires no review.
    Action.SUBMIT: Transition((_DRAFT,), (_SUBMITTED, _ACCEPTED)),
    Action.ACCEPT: Transition((_SUBMITTED,), (_ACCEPTED,)),
    # A draft if it returns to its labeler.
    Action.REJECT: Transition((_SUBMITTED,), (_REJECTED, _DRAFT)),
    Action.REOPEN: Transition((_ACCEPTED, _REJECTED), (_SUBMITTED, _DRAFT)),
}
"""The acceptance of a merge also rejects its submitted sources; see `superseded_by`."""
COMPLETED = (_SUBMITTED, _ACCEPTED)
"""The statuses that count towards the number of tag sets which a schema requires."""

NOT_INDEPENDENT = ("merge", "model")
"""Sources whose tag sets do not count as independent opinions."""
