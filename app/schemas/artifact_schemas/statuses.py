"""The state machine of an artifact schema: its statuses, and the actions that lead to them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class SchemaStatus(StrEnum):
    """The status of an artifact schema."""

    DRAFT = "draft"
    ACTIVE = "active"
    INACTIVE = "inactive"


class Transition(NamedTuple):
    """The statuses that allow an action, and the one that it leads to."""

    sources: tuple[SchemaStatus, ...]
    target: SchemaStatus


# A schema needs a published version, too. Both actions may be repeated.
ACTIVATE = Transition(tuple(SchemaStatus), SchemaStatus.ACTIVE)
DEACTIVATE = Transition((SchemaStatus.ACTIVE, SchemaStatus.INACTIVE), SchemaStatus.INACTIVE)
TRANSITIONS: Mapping[str, Transition] = {"activate": ACTIVATE, "deactivate": DEACTIVATE}
