"""The state machine of an artifact schema: its statuses, and the actions that set the status."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class SchemaStatus(StrEnum):
    """The status of an artifact schema; only an active schema is open for labeling."""

    DRAFT = "draft"
    ACTIVE = "active"
    INACTIVE = "inactive"


DELETED = "deleted"
"""The stored status of a deleted schema until a job has removed it from its documents. No query of
this feature finds such a schema, so it has no state for clients."""


class Transition(NamedTuple):
    """An action that changes the status from one of `sources` to `target`."""

    sources: tuple[SchemaStatus, ...]
    target: SchemaStatus


# Activation also needs a published version. Both actions are idempotent.
ACTIVATE = Transition(tuple(SchemaStatus), SchemaStatus.ACTIVE)
DEACTIVATE = Transition((SchemaStatus.ACTIVE, SchemaStatus.INACTIVE), SchemaStatus.INACTIVE)
TRANSITIONS: Mapping[str, Transition] = {"activate": ACTIVATE, "deactivate": DEACTIVATE}
