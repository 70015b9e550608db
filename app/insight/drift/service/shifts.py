"""Possible shifts that a detection tests, and the pairs of samples that may show them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from app.engines.drift.model import DriftThresholds, Hypothesis, Sample
from app.insight.drift.models import DriftMetric, DriftSubject
from app.insight.drift.queries.records import AcknowledgedShift, DetectionPeriods
from app.insight.drift.service.collecting import (
    FieldTypes,
    LabelerSelection,
    PeriodData,
    list_metrics,
)
from app.kit.days import TimeRange

THRESHOLDS = DriftThresholds()
MAX_DOCUMENTS = 5000
"""The maximum number of documents compared in each period. The newest documents are used."""
MAX_DECISIONS = 20_000
"""The maximum number of review decisions counted in each period. The newest decisions are used."""
MAX_LABELERS = 20
"""The maximum number of labelers compared with their peers: the labelers with the most tag sets."""

_REVIEW_METRICS = (DriftMetric.ACCEPTANCE_RATE, DriftMetric.CORRECTION_RATE)
_MODEL_METRICS = (DriftMetric.ACCURACY, DriftMetric.CONFIDENCE, DriftMetric.CORRECTION_RATE)


class Shift(NamedTuple):
    """A possible shift of a metric: of one labeler if `labeler_id` is set, otherwise overall."""

    subject: DriftSubject
    metric: DriftMetric
    field: str | None = None
    labeler_id: UUID | None = None

    @property
    def is_review_metric(self) -> bool:
        """Return whether the metric is computed from review decisions instead of tag sets."""
        return self.subject == DriftSubject.LABELING and self.field is None

    @property
    def key(self) -> str:
        """Return the text that identifies the shift within its schema."""
        return ":".join((self.subject, self.metric, self.field or "", str(self.labeler_id or "")))


class ShiftPeriods(NamedTuple):
    """A possible shift, with the two periods whose samples are compared."""

    shift: Shift
    baseline: TimeRange
    current: TimeRange


@dataclass(frozen=True)
class DetectionData:
    """The data of all periods that a detection compares.

    `acknowledged_ends` maps the key of each acknowledged shift to the latest end of its
    acknowledged reports, as of the time before the samples were read. `acknowledged_shifts` has the
    shifts that are compared with a reference period instead of the baseline (see
    `find_reference_starts`), by shift key. Their `current_until` is the start of the reference
    period. `reference_periods` maps each of these starts to the data of the reference period.
    """

    fields: FieldTypes
    periods: DetectionPeriods
    baseline: PeriodData
    current: PeriodData
    acknowledged_ends: Mapping[str, datetime]
    acknowledged_shifts: Mapping[str, AcknowledgedShift]
    reference_periods: Mapping[datetime, PeriodData]

    def list_period_data(self, shift_periods: ShiftPeriods) -> list[PeriodData]:
        """Return the data of the one or two periods from which the two samples were taken."""
        shift, start = shift_periods.shift, shift_periods.baseline.start
        if shift.key in self.acknowledged_shifts:
            return [self.reference_periods[start], self.current]
        return [self.current] if shift.labeler_id is not None else [self.baseline, self.current]

    @property
    def current_range(self) -> TimeRange:
        """Return the start and end of the current period."""
        return TimeRange(self.periods.current_from, self.periods.current_until)


def find_reference_starts(
    periods: DetectionPeriods, acknowledged_shifts: list[AcknowledgedShift]
) -> dict[str, datetime]:
    """Return the start of the reference period of each acknowledged shift, by shift key.

    The reference period replaces the baseline. It begins at the end of the acknowledged shift, and
    ends at the start of the current period. While a reference period has too few tag sets, no new
    shift of the same metric is found. Acknowledged shifts outside the periods of the detection are
    left out.
    """
    return {
        shift.shift_key: shift.current_until
        for shift in acknowledged_shifts
        if shift.current_from < periods.current_until
        and periods.baseline_from < shift.current_until
    }


def iterate_shifts(fields: FieldTypes, current: PeriodData) -> Iterator[Shift]:
    """Yield every possible shift that a detection tests.

    These are overall shifts, and shifts of at most MAX_LABELERS labelers who have at least
    `THRESHOLDS.min_size` tag sets in the current period.
    """
    for metric in _REVIEW_METRICS:
        yield Shift(DriftSubject.LABELING, metric)
    for key, field_type in fields.types.items():
        for metric in list_metrics(field_type):
            yield Shift(DriftSubject.LABELING, metric, key)
        for metric in _MODEL_METRICS:
            yield Shift(DriftSubject.MODEL, metric, key)
    labeler_ids = [
        labeler_id
        for labeler_id, n in current.tag_set_counts.most_common()
        if labeler_id is not None and n >= THRESHOLDS.min_size
    ]
    for labeler_id in labeler_ids[:MAX_LABELERS]:
        for metric in _REVIEW_METRICS:
            yield Shift(DriftSubject.LABELING, metric, None, labeler_id)
        for key, field_type in fields.types.items():
            for metric in list_metrics(field_type):
                yield Shift(DriftSubject.LABELING, metric, key, labeler_id)


def iterate_comparisons(detection_data: DetectionData) -> Iterator[tuple[ShiftPeriods, Hypothesis]]:
    """Yield each possible shift with its two periods, and a hypothesis with the two samples."""
    for shift in iterate_shifts(detection_data.fields, detection_data.current):
        current = _build_sample(detection_data.current, shift, LabelerSelection(shift.labeler_id))
        period, baseline = _build_baseline(detection_data, shift)
        yield (
            ShiftPeriods(shift, period, detection_data.current_range),
            Hypothesis(shift.key, baseline, current),
        )


def _build_baseline(detection_data: DetectionData, shift: Shift) -> tuple[TimeRange, Sample]:
    periods = detection_data.periods
    acknowledged_shift = detection_data.acknowledged_shifts.get(shift.key)
    if acknowledged_shift is not None:
        # After an acknowledged shift, a labeler is compared with their own work.
        start = acknowledged_shift.current_until
        period = TimeRange(start, max(start, periods.current_from))
        data = detection_data.reference_periods[start]
        return period, _build_sample(data, shift, LabelerSelection(shift.labeler_id))
    if shift.labeler_id is not None:
        peers = LabelerSelection(shift.labeler_id, peers_only=True)
        return detection_data.current_range, _build_sample(detection_data.current, shift, peers)
    period = TimeRange(periods.baseline_from, periods.baseline_until)
    return period, _build_sample(detection_data.baseline, shift, LabelerSelection())


def _build_sample(data: PeriodData, shift: Shift, selection: LabelerSelection) -> Sample:
    if shift.subject == DriftSubject.MODEL:
        assert shift.field is not None
        return data.build_model_sample(shift.field, shift.metric)
    return data.build_sample(shift.field, shift.metric, selection)
