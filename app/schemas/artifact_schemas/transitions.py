"""The state machine of a schema: its statuses, and the actions that change the status."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class SchemaStatus(StrEnum):
    """The status of an artifact schema; only an active schema accepts new tag sets."""

    DRAFT = "draft"
    ACTIVE = "active"
    INACTIVE = "inactive"


class Action(StrEnum):
    """An action that changes the status of a schema, if the status allows the action."""

    ACTIVATE = "activate"
    DEACTIVATE = "deactivate"


class Transition(NamedTuple):
    """The statuses that allow an action (`sources`), and the new status (`target`)."""

    sources: tuple[SchemaStatus, ...]
    target: SchemaStatus


_DRAFT, _ACTIVE, _INACTIVE = SchemaStatus

TRANSITIONS: Mapping[Action, Transition] = {
    # The schema must also have a published version.
    Action.ACTIVATE: Transition((_DRAFT, _ACTIVE, _INACTIVE), _ACTIVE),
    Action.DEACTIVATE: Transition((_ACTIVE, _INACTIVE), _INACTIVE),
}
"""The transition for each action. Repeating an action changes nothing."""
