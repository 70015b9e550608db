"""The report of a verification."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal
from uuid import UUID

Fault = Literal["edited", "removed", "inserted", "truncated", "broken", "backdated", "missing"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A deviation from what was appended to the chain.

    `organization` is a slug, or an id if the slug no longer exists. None means the chain of records
    that belong to no organization. `position` counts the chain's entries from 0.
    """

    organization: str | None
    kind: Fault
    position: int | None
    entry_id: UUID | None
    message: str


@dataclass
class Report:
    """The result of a verification.

    `unsealed` counts entries that are too new to be in a chain. `faults` counts all findings;
    `findings` contains the first thousand.
    """

    MAX_FINDINGS: ClassVar[int] = 1000

    chains: int = 0
    entries: int = 0
    unsealed: int = 0
    faults: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Return whether no fault was found."""
        return self.faults == 0

    def add(self, finding: Finding) -> None:
        """Add a finding."""
        self.faults += 1
        if len(self.findings) < self.MAX_FINDINGS:
            self.findings.append(finding)
