"""The history of a document's tag sets, and the tally of its contributions."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from app.engines.fields import Tag
from app.insight.quality.models import COUNTERS, Subject
from app.workflow.tag_sets.transitions import NOT_INDEPENDENT

SubjectKey = tuple[Subject, str, str]
"""A subject, its name, and the type of the field, which is empty for other subjects."""
_POSITIONS = {name: position for position, name in enumerate(COUNTERS)}
SUBMISSIONS = ("submit", "import")
DECISIONS = ("accept", "correction", "reject")


class Key(NamedTuple):
    """The key of a cell within its organization."""

    subject: Subject
    schema_id: UUID
    name: str
    field_type: str
    day: date


Contributions = dict[Key, list[int]]
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
    """A tag set with its revisions in order, without the saves."""

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
        """Return the schema and the labeler as subjects; none if the tag set has no labeler."""
        if self.labeler_id is None:
            return []
        return [(Subject.SCHEMA, "", ""), (Subject.LABELER, str(self.labeler_id), "")]

    @property
    def is_independent(self) -> bool:
        """Return whether the tag set is the independent answer of one labeler."""
        return self.source not in NOT_INDEPENDENT

    def list_submissions(self) -> list[Revision]:
        """Return the revisions that submitted the tag set."""
        return [revision for revision in self.revisions if revision.kind in SUBMISSIONS]


@dataclass(frozen=True, slots=True)
class Document:
    """An artifact with the histories of its tag sets.

    `has_tags` is false if the tags are too large to be compared; then the revisions have no tags.
    """

    schema_id: UUID | None
    gold: bool
    tag_sets: list[TagSetHistory]
    has_tags: bool = True


@dataclass(slots=True)
class Tally:
    """The contributions of one document while they are counted. `zone` decides on the days."""

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
            cell = self.counts[Key(subject, schema_id, name, field_type, day)]
            for counter, value in increments.items():
                cell[_POSITIONS[counter]] += value
