"""Shifts that a detection looks for, and the pairs of samples that may show them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from app.engines.drift import Hypothesis, Limits, Sample
from app.insight.drift.models import Metric, Subject
from app.insight.drift.queries.records import AcknowledgedShift, Periods
from app.insight.drift.service.collecting import (
    FieldTypes,
    PeriodData,
    Selection,
    list_metrics,
)
from app.insight.drift.service.periods import Range

LIMITS = Limits()
MAX_DOCUMENTS = 5000
"""The maximum number of documents compared in each period; the newest count."""
MAX_DECISIONS = 20_000
"""The maximum number of review decisions counted in each period; the newest count."""
MAX_LABELERS = 20
"""The maximum number of labelers compared with their peers, by number of tag sets."""

_REVIEW_METRICS = (Metric.ACCEPTANCE_RATE, Metric.CORRECTION_RATE)
_MODEL_METRICS = (Metric.ACCURACY, Metric.CONFIDENCE, Metric.CORRECTION_RATE)


class Shift(NamedTuple):
    """A metric that may have shifted. With `labeler_id`, this labeler differs from their peers."""

    subject: Subject
    metric: Metric
    field: str | None = None
    labeler_id: UUID | None = None

    @property
    def is_review_metric(self) -> bool:
        """Return whether the metric is computed from review decisions, and not from tag sets."""
        return self.subject == Subject.LABELING and self.field is None

    @property
    def key(self) -> str:
        """Return the text that identifies the shift within its schema."""
        return ":".join((self.subject, self.metric, self.field or "", str(self.labeler_id or "")))


class Pair(NamedTuple):
    """A shift, with the periods of the samples that may show it."""

    shift: Shift
    baseline: Range
    current: Range


@dataclass(frozen=True)
class Material:
    """The data of all periods of a detection. `references` are keyed by the start of their period.

    `known_ends` has the end of each shift's latest acknowledged report when the samples were read.
    """

    fields: FieldTypes
    periods: Periods
    baseline: PeriodData
    current: PeriodData
    known_ends: Mapping[str, datetime]
    acknowledged: Mapping[str, AcknowledgedShift]
    references: Mapping[datetime, PeriodData]

    def list_compared(self, pair: Pair) -> list[PeriodData]:
        """Return the data from which the samples of a pair were taken."""
        shift, start = pair.shift, pair.baseline.start
        if shift.key in self.acknowledged:
            return [self.references[start], self.current]
        return [self.current] if shift.labeler_id is not None else [self.baseline, self.current]

    @property
    def current_range(self) -> Range:
        """Return the current period."""
        return Range(self.periods.current_from, self.periods.current_until)


def find_reference_starts(
    periods: Periods, acknowledged: list[AcknowledgedShift]
) -> dict[str, datetime]:
    """Return the start of the reference period of each acknowledged shift, by shift key.

    The reference period replaces the baseline: it begins at the end of the acknowledged shift. As
    long as it has too few tag sets, a new shift of the same metric is not found.
    """
    return {
        shift.shift_key: shift.current_until
        for shift in acknowledged
        if shift.current_from < periods.current_until
        and periods.baseline_from < shift.current_until
    }


def list_shifts(fields: FieldTypes, current: PeriodData) -> Iterator[Shift]:
    """Yield all shifts that a detection looks for."""
    for metric in _REVIEW_METRICS:
        yield Shift(Subject.LABELING, metric)
    for key, field_type in fields.types.items():
        for metric in list_metrics(field_type):
            yield Shift(Subject.LABELING, metric, key)
        for metric in _MODEL_METRICS:
            yield Shift(Subject.MODEL, metric, key)
    labelers = [
        labeler_id
        for labeler_id, n in current.tag_sets.most_common()
        if labeler_id is not None and n >= LIMITS.least
    ]
    for labeler_id in labelers[:MAX_LABELERS]:
        for metric in _REVIEW_METRICS:
            yield Shift(Subject.LABELING, metric, None, labeler_id)
        for key, field_type in fields.types.items():
            for metric in list_metrics(field_type):
                yield Shift(Subject.LABELING, metric, key, labeler_id)


def build_pairs(material: Material) -> Iterator[tuple[Pair, Hypothesis]]:
    """Yield each shift with the samples that may show it."""
    for shift in list_shifts(material.fields, material.current):
        current = _build_sample(material.current, shift, Selection(shift.labeler_id))
        period, baseline = _build_baseline(material, shift)
        yield Pair(shift, period, material.current_range), Hypothesis(shift.key, baseline, current)


def _build_baseline(material: Material, shift: Shift) -> tuple[Range, Sample]:
    periods = material.periods
    acknowledged = material.acknowledged.get(shift.key)
    if acknowledged is not None:
        # After an acknowledged shift, a labeler is compared with their own work.
        start = acknowledged.current_until
        period = Range(start, max(start, periods.current_from))
        data = material.references[start]
        return period, _build_sample(data, shift, Selection(shift.labeler_id))
    if shift.labeler_id is not None:
        peers = Selection(shift.labeler_id, is_peers=True)
        return material.current_range, _build_sample(material.current, shift, peers)
    period = Range(periods.baseline_from, periods.baseline_until)
    return period, _build_sample(material.baseline, shift, Selection())


def _build_sample(data: PeriodData, shift: Shift, selection: Selection) -> Sample:
    if shift.subject == Subject.MODEL:
        assert shift.field is not None
        return data.build_model_sample(shift.field, shift.metric)
    return data.build_sample(shift.field, shift.metric, selection)
