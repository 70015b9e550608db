"""Reading the audit log, and what keeps it honest: sealing, verifying, erasing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

Fault = Literal["edited", "removed", "inserted", "truncated", "broken", "backdated", "missing"]
Progress = Callable[[int, int], None]
"""Called with how many entries were looked at, and how many there are."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it was sealed. `organization` is a slug, or an id where the slug is
    gone; None is the chain of what belongs to no organization."""

    organization: str | None
    kind: Fault
    position: int | None
    entry_id: UUID | None
    message: str


@dataclass(slots=True)
class Report:
    """What `verify` found. `unsealed` entries are too new to be in a chain."""

    chains: int = 0
    entries: int = 0
    unsealed: int = 0
    faults: int = 0
    findings: list[Finding] = field(default_factory=list)
    """The first thousand of `faults`."""

    @property
    def ok(self) -> bool:
        """Whether everything is as it was sealed."""
        return self.faults == 0


def verify(organization_slug: str | None = None, progress: Progress | None = None) -> Report:
    """Check every chain, or one organization's. Raises 404 `not_found` for an unknown slug."""
    raise NotImplementedError


def erase(organization_id: UUID, proof: Mapping[str, Any]) -> UUID:
    """Remove a closed organization's entries, in the running transaction; the id of the last one.

    Call it at the very end, with the organization's row in its final state: what changes before is
    removed too, what changes after is kept. `proof` (counts per table, files, bytes) is JSON and
    goes into the one entry that stays, beside the old chain's length and head.
    """
    raise NotImplementedError
