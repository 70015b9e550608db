"""The state machine of a tag set: its statuses, and the actions that change the status."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class TagSetStatus(StrEnum):
    """The status of a tag set, from draft to review decision."""

    DRAFT = "draft"
    SUBMITTED = "submitted"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Action(StrEnum):
    """An action that a user can take on a tag set, if its status allows the action."""

    SAVE = "save"
    DELETE = "delete"
    SUBMIT = "submit"
    ACCEPT = "accept"
    REJECT = "reject"
    REOPEN = "reopen"


class Transition(NamedTuple):
    """The statuses that allow an action (`sources`), and the possible new statuses (`targets`).

    A deletion has no targets.
    """

    sources: tuple[TagSetStatus, ...]
    targets: tuple[TagSetStatus, ...]


_DRAFT, _SUBMITTED, _ACCEPTED, _REJECTED = TagSetStatus

TRANSITIONS: Mapping[Action, Transition] = {
    Action.SAVE: Transition((_DRAFT,), (_DRAFT,)),
    Action.DELETE: Transition((_DRAFT,), ()),
    # The tag set is accepted immediately if the schema's policy requires no review.
    Action.SUBMIT: Transition((_DRAFT,), (_SUBMITTED, _ACCEPTED)),
    Action.ACCEPT: Transition((_SUBMITTED,), (_ACCEPTED,)),
    # The tag set becomes a draft if it is returned to its labeler.
    Action.REJECT: Transition((_SUBMITTED,), (_REJECTED, _DRAFT)),
    Action.REOPEN: Transition((_ACCEPTED, _REJECTED), (_SUBMITTED, _DRAFT)),
}
"""The transition for each action.

Accepting a merge also rejects its submitted sources; see `TagSet.superseded_by`."""
COMPLETED = (_SUBMITTED, _ACCEPTED)
"""The statuses in which a tag set counts toward the number of tag sets that a schema requires."""

DEPENDENT_SOURCES = ("merge", "model")
"""The sources (`TagSet.source`) of tag sets that do not count as independent opinions."""
