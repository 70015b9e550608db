"""What verifying finds."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal
from uuid import UUID

Fault = Literal["edited", "removed", "inserted", "truncated", "broken", "backdated", "missing"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it was sealed.

    `organization` is a slug, or an id where the slug is gone; None is the chain of what belongs to
    no organization. `position` counts the chain's entries from 0.
    """

    organization: str | None
    kind: Fault
    position: int | None
    entry_id: UUID | None
    message: str


@dataclass
class Report:
    """What was found. `unsealed` entries are too new to be in a chain; of `faults` findings the
    first thousand are kept."""

    MOST: ClassVar[int] = 1000

    chains: int = 0
    entries: int = 0
    unsealed: int = 0
    faults: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether everything is as it was sealed."""
        return self.faults == 0

    def add(self, finding: Finding) -> None:
        """Count a finding."""
        self.faults += 1
        if len(self.findings) < self.MOST:
            self.findings.append(finding)
