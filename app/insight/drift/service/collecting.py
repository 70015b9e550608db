"""Collect the samples of a period from the newest documents, in bounded memory."""

import json
import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import NamedTuple
from uuid import UUID

from app.engines.drift import Categories, Numbers, Rate, Sample
from app.insight.drift.models import Metric
from app.insight.drift.queries.feedback import Outcome
from app.insight.drift.queries.records import VersionFields
from app.insight.drift.queries.samples import AcceptedTagSet, Decisions, Document
from app.insight.feedback.models import FeedbackOutcome

CATEGORICAL_TYPES = frozenset({"choice", "boolean", "country", "currency"})
NUMERIC_TYPES = frozenset({"number", "integer", "money", "date", "time", "datetime"})
TYPES_WITH_LENGTH = frozenset({"text", "span", "email", "phone", "url", "address"})
_DAY_SECONDS = 86_400
_HOUR_SECONDS = 3600
_MILLION = 1_000_000


class FieldTypes(NamedTuple):
    """The field types of the newest version, and the fields of each version with the same type.

    `changed` are the fields that had another type in an older version.
    """

    types: Mapping[str, str]
    comparable: Mapping[UUID, frozenset[str]]
    changed: frozenset[str]


def compare_versions(versions: Iterable[VersionFields]) -> FieldTypes:
    """Return the fields to compare; `versions` must be ordered newest first."""
    types: dict[str, str] | None = None
    comparable, changed = {}, set()
    for version in versions:
        types = version.types if types is None else types
        shared = version.types.keys() & types.keys()
        same_type_keys = frozenset(key for key in shared if version.types[key] == types[key])
        comparable[version.version_id] = same_type_keys
        changed |= shared - same_type_keys
    return FieldTypes(types or {}, comparable, frozenset(changed))


@dataclass(slots=True)
class _FieldValues:
    """The values of a field, each with the number of its owner."""

    counts: Counter[tuple[int, str]] = field(default_factory=Counter)
    numbers: "array[float]" = field(default_factory=lambda: array("d"))
    owners: "array[int]" = field(default_factory=lambda: array("l"))
    filled_counts: Counter[int] = field(default_factory=Counter)
    asked_counts: Counter[int] = field(default_factory=Counter)


class Selection(NamedTuple):
    """The labelers whose tag sets are in a sample: all, one, or with `is_peers` all except one.

    A document is in each sample only once.
    """

    labeler_id: UUID | None = None
    is_peers: bool = False

    def includes_labeler(self, labeler_id: UUID | None) -> bool:
        """Return whether the work of a labeler belongs to the sample."""
        return self.labeler_id is None or (labeler_id == self.labeler_id) is not self.is_peers


ALL_LABELERS = Selection()


class _Owner(NamedTuple):
    """The labeler of a tag set, and the samples in which the tag set represents its document.

    The first tag set represents its document in samples of all labelers. In the sample of the first
    labeler's peers, the second tag set represents it: `replaces` is the first labeler. Further tag
    sets are only in the sample of their own labeler.
    """

    labeler_id: UUID | None
    is_first: bool
    replaces: UUID | None

    def is_selected(self, selection: Selection) -> bool:
        if not selection.includes_labeler(self.labeler_id):
            return False
        if selection.labeler_id is None:
            return self.is_first
        return self.is_first or not selection.is_peers or self.replaces == selection.labeler_id


class PeriodData:
    """The values of the tag sets and the review decisions of a period."""

    def __init__(self, fields: FieldTypes) -> None:
        self._fields = fields
        self._values: defaultdict[str, _FieldValues] = defaultdict(_FieldValues)
        self._owners: dict[_Owner, int] = {}
        self._decisions: Counter[tuple[UUID | None, str]] = Counter()
        self._outcomes: Counter[tuple[str, str]] = Counter()
        self._confidences: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))
        self.tag_sets: Counter[UUID | None] = Counter()
        self.documents = 0

    @property
    def decisions(self) -> int:
        """Return the number of review decisions."""
        return self._decisions.total()

    def add(self, document: Document) -> None:
        """Add a document, with the first tag set of each labeler."""
        self.documents += 1
        by_labeler: dict[UUID | None, AcceptedTagSet] = {}
        for tag_set in document:
            by_labeler.setdefault(tag_set.labeler_id, tag_set)
        for index, (labeler_id, tag_set) in enumerate(by_labeler.items()):
            replaces = document[0].labeler_id if index == 1 else None
            self._add_tag_set(tag_set, _Owner(labeler_id, index == 0, replaces))

    def _add_tag_set(self, tag_set: AcceptedTagSet, owned_by: _Owner) -> None:
        """Add a tag set. Fields whose type differs in its version are left out."""
        owner = self._owners.setdefault(owned_by, len(self._owners))
        self.tag_sets[tag_set.labeler_id] += 1
        values = tag_set.values or {}
        for key in self._fields.comparable.get(tag_set.version_id, ()):
            data = self._values[key]
            data.asked_counts[owner] += 1
            if key in values:
                data.filled_counts[owner] += 1
                _add_value(data, self._fields.types[key], owner, values[key], tag_set.decided_at)

    def add_decisions(self, rows: Iterable[Decisions]) -> None:
        """Add review decisions."""
        for row in rows:
            self._decisions[row.labeler_id, row.kind] += row.n

    def add_outcomes(self, documents: Iterable[Document], outcomes: Iterable[Outcome]) -> None:
        """Add the outcomes of a model's predictions, from one tag set of each document."""
        by_tag_set: defaultdict[UUID, list[Outcome]] = defaultdict(list)
        for outcome in outcomes:
            by_tag_set[outcome.tag_set_id].append(outcome)
        for document in documents:
            # All tag sets of a document may begin from the same prediction.
            ids = [tag_set.id for tag_set in document if tag_set.id in by_tag_set]
            tag_set_id = next(iter(ids), None)
            for outcome in () if tag_set_id is None else by_tag_set[tag_set_id]:
                self._outcomes[outcome.field, outcome.outcome] += 1
                if outcome.confidence is not None:
                    self._confidences[outcome.field].append(outcome.confidence / _MILLION)

    def _select(self, selection: Selection) -> frozenset[int]:
        return frozenset(n for owner, n in self._owners.items() if owner.is_selected(selection))

    def build_model_sample(self, field_key: str, metric: Metric) -> Sample:
        """Return the sample of a metric of a model's predictions.

        The accuracy is the number of correct predictions divided by all outcomes, including missed
        values. The correction rate is the number of corrected predictions divided by the
        predictions of fields that have a value.
        """
        if metric == Metric.CONFIDENCE:
            return Numbers(self._confidences[field_key])
        counts = {name: self._outcomes[field_key, name] for name in FeedbackOutcome}
        if metric == Metric.ACCURACY:
            return Rate(counts[FeedbackOutcome.CORRECT], sum(counts.values()))
        corrected = counts[FeedbackOutcome.CORRECTED]
        return Rate(corrected, corrected + counts[FeedbackOutcome.CORRECT])

    def build_sample(
        self, field_key: str | None, metric: Metric, selection: Selection = ALL_LABELERS
    ) -> Sample:
        """Return the sample of a metric of labeling."""
        if metric == Metric.ACCEPTANCE_RATE:
            return self._build_decision_rate(("accept", "correction"), ("reject",), selection)
        if metric == Metric.CORRECTION_RATE:
            return self._build_decision_rate(("correction",), ("accept",), selection)
        assert field_key is not None
        data, owners = self._values[field_key], self._select(selection)
        if metric == Metric.EMPTY_RATE:
            asked_count, filled_count = (
                sum(n for owner, n in counts.items() if owner in owners)
                for counts in (data.asked_counts, data.filled_counts)
            )
            return Rate(asked_count - filled_count, asked_count)
        if metric == Metric.VALUES and self._fields.types[field_key] in CATEGORICAL_TYPES:
            counts_by_value: Counter[str] = Counter()
            for (owner, value), n in data.counts.items():
                if owner in owners:
                    counts_by_value[value] += n
            return Categories(counts_by_value)
        pairs = zip(data.numbers, data.owners, strict=True)
        return Numbers([value for value, owner in pairs if owner in owners])

    def _build_decision_rate(
        self, hits: tuple[str, ...], misses: tuple[str, ...], selection: Selection
    ) -> Rate:
        def count(kinds: tuple[str, ...]) -> int:
            return sum(
                n
                for (labeler_id, kind), n in self._decisions.items()
                if kind in kinds and selection.includes_labeler(labeler_id)
            )

        hit_count = count(hits)
        return Rate(hit_count, hit_count + count(misses))


def list_metrics(field_type: str) -> tuple[Metric, ...]:
    """Return the metrics of labeling for fields of a type."""
    if field_type in CATEGORICAL_TYPES or field_type in NUMERIC_TYPES:
        return (Metric.VALUES, Metric.EMPTY_RATE)
    if field_type in TYPES_WITH_LENGTH:
        return (Metric.LENGTH, Metric.EMPTY_RATE)
    return (Metric.EMPTY_RATE,)


def _add_value(
    data: _FieldValues, field_type: str, owner: int, value: tuple[str, int], decided_at: datetime
) -> None:
    text, length = value
    if field_type in CATEGORICAL_TYPES:
        data.counts[owner, text] += 1
        return
    number = float(length) if field_type in TYPES_WITH_LENGTH else None
    if field_type in NUMERIC_TYPES:
        number = parse_number(field_type, text, decided_at)
    if number is not None:
        data.numbers.append(number)
        data.owners.append(owner)


def parse_number(field_type: str, text: str, decided_at: datetime) -> float | None:
    """Return a value as a number: an amount, hours, or days before the decision.

    Dates move with the calendar, so that only their distance from the decision can be compared.
    Returns None for a value that is not valid for its type.
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
