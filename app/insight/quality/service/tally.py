"""The history of a document's tag sets, and the tally of its contributions."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from app.engines.fields import Tag
from app.insight.quality.models import COUNTERS, CellSubject

SubjectKey = tuple[CellSubject, str, str]
"""A subject, its name, and its field type. The type is empty unless the subject is a field."""
_POSITIONS = {name: position for position, name in enumerate(COUNTERS)}
SUBMISSION_KINDS = ("submit", "import")
DECISION_KINDS = ("accept", "correction", "reject")


class CellKey(NamedTuple):
    """The key of a quality cell within its organization; see `QualityCell`."""

    subject: CellSubject
    schema_id: UUID
    name: str
    field_type: str
    day: date


Contributions = dict[CellKey, list[int]]
"""The counters of each cell, in the order of `COUNTERS`."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision of a tag set, other than a save."""

    number: int
    kind: str
    author_id: UUID | None
    created_at: datetime
    tags: list[Tag]


@dataclass(frozen=True, slots=True)
class TagSetHistory:
    """A tag set with its revisions in order, excluding saves."""

    id: UUID
    schema_id: UUID
    schema_version_id: UUID
    labeler_id: UUID | None
    source: str
    status: str
    superseded: bool
    seconds_spent: int
    revisions: list[Revision]

    def list_subjects(self) -> list[SubjectKey]:
        """Return the schema and the labeler as subjects; an empty list if there is no labeler."""
        if self.labeler_id is None:
            return []
        return [(CellSubject.SCHEMA, "", ""), (CellSubject.LABELER, str(self.labeler_id), "")]

    def list_submissions(self) -> list[Revision]:
        """Return the revisions that submitted the tag set."""
        return [revision for revision in self.revisions if revision.kind in SUBMISSION_KINDS]


@dataclass(frozen=True, slots=True)
class DocumentHistory:
    """An artifact with the histories of its tag sets.

    `has_tags` is false if the tags are too large to be compared; then the revisions have no tags.
    """

    schema_id: UUID | None
    gold: bool
    tag_sets: list[TagSetHistory]
    has_tags: bool = True


@dataclass(slots=True)
class Tally:
    """The contributions of one document while they are being counted.

    `zone` is the time zone in which days begin and end.
    """

    zone: ZoneInfo
    counts: Contributions = field(default_factory=lambda: defaultdict(lambda: [0] * len(COUNTERS)))

    def add(
        self,
        at: datetime,
        schema_id: UUID,
        subjects: Iterable[SubjectKey],
        **increments: int,
    ) -> None:
        """Add `increments` to the cells of the subjects on the day of `at`."""
        day = at.astimezone(self.zone).date()
        for subject, name, field_type in subjects:
            cell = self.counts[CellKey(subject, schema_id, name, field_type, day)]
            for counter, value in increments.items():
                cell[_POSITIONS[counter]] += value
