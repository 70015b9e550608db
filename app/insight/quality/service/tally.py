"""The tally of a document's contributions to the daily aggregates (`QualityCell`, cells)."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from app.insight.quality.models import COUNTERS, CellSubject
from app.insight.quality.queries.documents import SubjectKey

_POSITIONS = {name: position for position, name in enumerate(COUNTERS)}


class CellKey(NamedTuple):
    """The key of a daily aggregate (`QualityCell`) within its organization."""

    subject: CellSubject
    schema_id: UUID
    name: str
    field_type: str
    day: date


Contributions = dict[CellKey, list[int]]
"""The amounts that a document adds to the counters of each cell, in the order of `COUNTERS`."""


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
        """Add `increments`, by counter name, to the cells of the subjects on the day of `at`."""
        day = at.astimezone(self.zone).date()
        for subject, name, field_type in subjects:
            amounts = self.counts[CellKey(subject, schema_id, name, field_type, day)]
            for counter, increment in increments.items():
                amounts[_POSITIONS[counter]] += increment
