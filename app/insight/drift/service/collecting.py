"""Collect the tag set values, decisions and outcomes of a period, and build samples from them."""

import json
import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import NamedTuple
from uuid import UUID

from app.engines.calibration import MILLION
from app.engines.drift.model import CategorySample, NumberSample, RateSample, Sample
from app.insight.drift.models import DriftMetric
from app.insight.drift.queries.records import VersionFieldTypes
from app.insight.drift.queries.samples import (
    DecisionCount,
    DocumentTagSets,
    PredictionOutcome,
    SampledTagSet,
)
from app.insight.feedback.models import FeedbackOutcome

CATEGORICAL_TYPES = frozenset({"choice", "boolean", "country", "currency"})
NUMERIC_TYPES = frozenset({"number", "integer", "money", "date", "time", "datetime"})
TYPES_WITH_LENGTH = frozenset({"text", "span", "email", "phone", "url", "address"})
_DAY_SECONDS = 86_400
_HOUR_SECONDS = 3600


class FieldTypes(NamedTuple):
    """The field types in the newest schema version, and the fields that can be compared.

    `comparable_fields` maps each version id to the fields that have the same type as in the newest
    version. `changed_fields` are the fields that had another type in an older version.
    """

    types: Mapping[str, str]
    comparable_fields: Mapping[UUID, frozenset[str]]
    changed_fields: frozenset[str]


def compare_versions(versions: Iterable[VersionFieldTypes]) -> FieldTypes:
    """Compare the field types of schema versions, and return the fields that can be compared.

    `versions` must be ordered newest first.
    """
    types: dict[str, str] | None = None
    comparable_keys, changed_keys = {}, set()
    for version in versions:
        types = version.types if types is None else types
        shared_keys = version.types.keys() & types.keys()
        same_type_keys = frozenset(key for key in shared_keys if version.types[key] == types[key])
        comparable_keys[version.version_id] = same_type_keys
        changed_keys |= shared_keys - same_type_keys
    return FieldTypes(types or {}, comparable_keys, frozenset(changed_keys))


@dataclass(slots=True)
class _FieldValues:
    """The values of one field in a period.

    Each value has an owner number, which identifies an `_Owner` in `PeriodData`. For each owner
    number, `tag_set_counts` has the number of tag sets that could have a value for the field, and
    `filled_counts` has the number of tag sets that have a value. Values of categorical types are
    counted in `counts`. Other values are in `numbers`, and `owner_numbers` has their owner numbers.
    """

    counts: Counter[tuple[int, str]] = field(default_factory=Counter)
    numbers: "array[float]" = field(default_factory=lambda: array("d"))
    owner_numbers: "array[int]" = field(default_factory=lambda: array("l"))
    filled_counts: Counter[int] = field(default_factory=Counter)
    tag_set_counts: Counter[int] = field(default_factory=Counter)


class LabelerSelection(NamedTuple):
    """The labelers whose tag sets are in a sample.

    A sample contains the tag sets of all labelers (`labeler_id` is None), of one labeler, or, with
    `peers_only`, of all labelers except `labeler_id`. Each document is in a sample only once.
    """

    labeler_id: UUID | None = None
    peers_only: bool = False

    def includes_labeler(self, labeler_id: UUID | None) -> bool:
        """Return whether this labeler is one of the selected labelers."""
        return self.labeler_id is None or (labeler_id == self.labeler_id) is not self.peers_only


ALL_LABELERS = LabelerSelection()


class _Owner(NamedTuple):
    """The labeler of a tag set, and the samples in which the tag set represents its document.

    Every tag set represents its document in the sample of its own labeler. In the sample of all
    labelers, the first tag set represents the document (`is_first`). In the sample of a labeler's
    peers, the first tag set also represents the document, unless it is by that labeler. Then the
    tag set of the second labeler does; its `replaced_labeler_id` is the first labeler's id.
    """

    labeler_id: UUID | None
    is_first: bool
    replaced_labeler_id: UUID | None

    def is_selected(self, selection: LabelerSelection) -> bool:
        if not selection.includes_labeler(self.labeler_id):
            return False
        if selection.labeler_id is None:
            return self.is_first
        return (
            self.is_first
            or not selection.peers_only
            or self.replaced_labeler_id == selection.labeler_id
        )


class PeriodData:
    """The tag set values, review decisions and prediction outcomes of one period."""

    def __init__(self, fields: FieldTypes) -> None:
        self._fields = fields
        self._values: defaultdict[str, _FieldValues] = defaultdict(_FieldValues)
        self._owners: dict[_Owner, int] = {}
        self._decisions: Counter[tuple[UUID | None, str]] = Counter()
        self._outcomes: Counter[tuple[str, str]] = Counter()
        self._confidences: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))
        self.tag_set_counts: Counter[UUID | None] = Counter()
        self.document_count = 0

    @property
    def decision_count(self) -> int:
        """Return the number of review decisions in the period."""
        return self._decisions.total()

    def add_document(self, document: DocumentTagSets) -> None:
        """Add the values of a document, from the first tag set of each labeler."""
        self.document_count += 1
        tag_set_by_labeler: dict[UUID | None, SampledTagSet] = {}
        for tag_set in document:
            tag_set_by_labeler.setdefault(tag_set.labeler_id, tag_set)
        for index, (labeler_id, tag_set) in enumerate(tag_set_by_labeler.items()):
            replaced_labeler_id = document[0].labeler_id if index == 1 else None
            self._add_tag_set(tag_set, _Owner(labeler_id, index == 0, replaced_labeler_id))

    def _add_tag_set(self, tag_set: SampledTagSet, owner: _Owner) -> None:
        """Add the values of the fields that have their newest type in the tag set's version."""
        owner_number = self._owners.setdefault(owner, len(self._owners))
        self.tag_set_counts[tag_set.labeler_id] += 1
        values = tag_set.values or {}
        for key in self._fields.comparable_fields.get(tag_set.version_id, ()):
            data = self._values[key]
            data.tag_set_counts[owner_number] += 1
            if key in values:
                data.filled_counts[owner_number] += 1
                _add_value(
                    data, self._fields.types[key], owner_number, values[key], tag_set.decided_at
                )

    def add_decisions(self, rows: Iterable[DecisionCount]) -> None:
        """Add the counts of review decisions, by labeler and decision type."""
        for row in rows:
            self._decisions[row.labeler_id, row.kind] += row.n

    def add_outcomes(
        self, documents: Iterable[DocumentTagSets], outcomes: Iterable[PredictionOutcome]
    ) -> None:
        """Add the outcomes of a model's predictions, from one tag set of each document."""
        outcomes_by_tag_set: defaultdict[UUID, list[PredictionOutcome]] = defaultdict(list)
        for outcome in outcomes:
            outcomes_by_tag_set[outcome.tag_set_id].append(outcome)
        for document in documents:
            # Tag sets of a document may begin from the same prediction. Only one tag set is used.
            groups = (outcomes_by_tag_set[t.id] for t in document if t.id in outcomes_by_tag_set)
            for outcome in next(groups, ()):
                self._outcomes[outcome.field, outcome.outcome] += 1
                if outcome.confidence is not None:
                    self._confidences[outcome.field].append(outcome.confidence / MILLION)

    def build_model_sample(self, field_key: str, metric: DriftMetric) -> Sample:
        """Build the sample for a metric of model predictions.

        The accuracy is the number of correct predictions divided by the number of all outcomes,
        including missed values. The correction rate is the number of corrected predictions divided
        by the number of correct and corrected predictions. The confidence is a sample of numbers.
        """
        if metric == DriftMetric.CONFIDENCE:
            return NumberSample(self._confidences[field_key])
        counts = {name: self._outcomes[field_key, name] for name in FeedbackOutcome}
        if metric == DriftMetric.ACCURACY:
            return RateSample(counts[FeedbackOutcome.CORRECT], sum(counts.values()))
        corrected_count = counts[FeedbackOutcome.CORRECTED]
        return RateSample(corrected_count, corrected_count + counts[FeedbackOutcome.CORRECT])

    def build_sample(
        self, field_key: str | None, metric: DriftMetric, selection: LabelerSelection = ALL_LABELERS
    ) -> Sample:
        """Build the sample for a labeling metric, from the work of the selected labelers."""
        if metric == DriftMetric.ACCEPTANCE_RATE:
            return self._build_decision_rate(("accept", "correction"), ("reject",), selection)
        if metric == DriftMetric.CORRECTION_RATE:
            return self._build_decision_rate(("correction",), ("accept",), selection)
        assert field_key is not None
        data = self._values[field_key]
        owner_numbers = {n for owner, n in self._owners.items() if owner.is_selected(selection)}
        if metric == DriftMetric.EMPTY_RATE:
            tag_set_count, filled_count = (
                sum(n for number, n in counts.items() if number in owner_numbers)
                for counts in (data.tag_set_counts, data.filled_counts)
            )
            return RateSample(tag_set_count - filled_count, tag_set_count)
        if metric == DriftMetric.VALUES and self._fields.types[field_key] in CATEGORICAL_TYPES:
            counts_by_value: Counter[str] = Counter()
            for (number, value), n in data.counts.items():
                if number in owner_numbers:
                    counts_by_value[value] += n
            return CategorySample(counts_by_value)
        pairs = zip(data.numbers, data.owner_numbers, strict=True)
        return NumberSample([value for value, number in pairs if number in owner_numbers])

    def _build_decision_rate(
        self, counted_types: Sequence[str], other_types: Sequence[str], selection: LabelerSelection
    ) -> RateSample:
        def count_decisions(decision_types: Sequence[str]) -> int:
            return sum(
                n
                for (labeler_id, kind), n in self._decisions.items()
                if kind in decision_types and selection.includes_labeler(labeler_id)
            )

        count = count_decisions(counted_types)
        return RateSample(count, count + count_decisions(other_types))


def list_metrics(field_type: str) -> tuple[DriftMetric, ...]:
    """Return the labeling metrics that apply to fields of this type."""
    if field_type in CATEGORICAL_TYPES or field_type in NUMERIC_TYPES:
        return (DriftMetric.VALUES, DriftMetric.EMPTY_RATE)
    if field_type in TYPES_WITH_LENGTH:
        return (DriftMetric.LENGTH, DriftMetric.EMPTY_RATE)
    return (DriftMetric.EMPTY_RATE,)


def _add_value(
    data: _FieldValues,
    field_type: str,
    owner_number: int,
    value: tuple[str, int],
    decided_at: datetime,
) -> None:
    text, length = value
    if field_type in CATEGORICAL_TYPES:
        data.counts[owner_number, text] += 1
        return
    number = float(length) if field_type in TYPES_WITH_LENGTH else None
    if field_type in NUMERIC_TYPES:
        number = parse_number(field_type, text, decided_at)
    if number is not None:
        data.numbers.append(number)
        data.owner_numbers.append(owner_number)


def parse_number(field_type: str, text: str, decided_at: datetime) -> float | None:
    """Parse a field value as a number.

    A time becomes the hours since midnight, and a money value becomes its amount. A date or
    datetime becomes the days from it to the review decision: dates increase over time, so the
    distance is compared. Returns None if the value is invalid for its type or not finite.
    """
    try:
        if field_type == "date":
            day = datetime.combine(date.fromisoformat(text), time.min, UTC)
            return float((decided_at.astimezone(UTC).date() - day.date()).days)
        if field_type == "datetime":
            timestamp = datetime.fromisoformat(text)
            return (decided_at - timestamp).total_seconds() / _DAY_SECONDS
        if field_type == "time":
            clock = time.fromisoformat(text)
            return clock.hour + (clock.minute * 60 + clock.second) / _HOUR_SECONDS
        number = float(json.loads(text)["amount"] if field_type == "money" else text)
    except (ValueError, TypeError, KeyError):
        return None
    return number if math.isfinite(number) else None
