"""Compute the agreement between labelers. Importing this module loads numpy and scipy."""

import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any
from uuid import UUID

from app.engines.agreement.coefficients.kappa import count_pairs
from app.engines.agreement.coefficients.mark_measures import (
    count_mark_pairs,
    measure_mark_pairs,
    measure_marks,
)
from app.engines.agreement.coefficients.mark_sets import MarkSets, build_mark_sets
from app.engines.agreement.coefficients.measuring import measure, measure_pairs
from app.engines.agreement.coefficients.ratings import EMPTY, Ratings, build_ratings_by_field
from app.engines.agreement.coefficients.values import normalize_value
from app.engines.agreement.marks import Mark, get_region_mark, get_span_mark
from app.engines.agreement.metrics import (
    Estimate,
    EstimateWarning,
    Level,
    Metric,
    PairEstimate,
    WarningCode,
)
from app.engines.plurals import format_count
from app.insight.quality_runs.queries.answers import Answer, AnswerSnapshot, DocumentAnswers
from app.insight.quality_runs.service.confusion_matrices import ConfusionCounter
from app.insight.quality_runs.service.plans import (
    MAX_PAIRS,
    MAX_RATERS_IN_PAIRS,
    PAIR_METRICS,
    ComparisonMethod,
    FieldPlan,
    choose_resample_count,
    group_value_plans,
)
from app.kit.db import ReportProgress

_DISTANCES_SUFFIX = "\x00distances"
_WHOLE_PAGE = (0.0, 0.0, 1.0, 1.0)


@dataclass(slots=True)
class RunResults:
    """The results of a run, in the format in which they are stored."""

    results: list[dict[str, Any]] = field(default_factory=list)
    pairs: list[dict[str, Any]] = field(default_factory=list)
    confusions: dict[str, Any] = field(default_factory=dict)
    warnings: list[dict[str, Any]] = field(default_factory=list)

    def add_warning(self, code: str, message: str, field_name: str | None = None) -> None:
        """Add a warning, unless it already exists."""
        warning = {"code": code, "field": field_name, "message": message}
        if warning not in self.warnings:
            self.warnings.append(warning)


def compute(
    snapshot: AnswerSnapshot, plans: list[FieldPlan], seed: UUID, report: ReportProgress
) -> RunResults:
    """Compute all coefficients of all fields from a snapshot.

    `seed` makes the intervals repeatable. `report` receives the number of tag sets read and the
    total over all passes. There is one pass for each group of single-value fields, and one pass for
    each other field. Memory use depends on the answers of one group, not on the number of fields.
    """
    computation = _Computation(snapshot, plans, zlib.crc32(seed.bytes), report)
    for group in group_value_plans(plans):
        computation.measure_values(group)
    for plan in plans:
        if plan.comparison != ComparisonMethod.VALUE:
            computation.measure_marks(plan)
    computation.warn_about_omissions()
    # The order of the passes differs from the order of the fields.
    order = {plan.name: position for position, plan in enumerate(plans)}
    computation.run_results.results.sort(key=lambda result: order[result["field"]])
    computation.run_results.pairs.sort(key=lambda pair: order[pair["field"]])
    return computation.run_results


class _Computation:
    """A computation in progress: its results, and the number of tag sets read so far."""

    def __init__(
        self, snapshot: AnswerSnapshot, plans: list[FieldPlan], seed: int, report: ReportProgress
    ) -> None:
        self._snapshot = snapshot
        self._seed = seed
        self._report = report
        self._done = 0
        self._omitted_counts: dict[tuple[str, int], int] = {}
        mark_plans = [plan for plan in plans if plan.comparison != ComparisonMethod.VALUE]
        self._total = snapshot.total * (len(mark_plans) + len(group_value_plans(plans)))
        self.run_results = RunResults()

    def measure_values(self, plans: list[FieldPlan]) -> None:
        """Measure fields with one value per labeler, in one pass over the documents."""
        confusions = {
            plan.name: ConfusionCounter(plan.options) for plan in plans if plan.has_confusion_matrix
        }
        levels = {
            plan.name + _DISTANCES_SUFFIX: Level.INTERVAL for plan in plans if plan.has_distances
        }
        categories = {plan.name: list(plan.options) for plan in plans if plan.options}
        ratings = build_ratings_by_field(
            self._iterate_ratings(plans, confusions), levels=levels, categories=categories
        )
        for plan in plans:
            if plan.name not in ratings:
                self._add_empty_results(plan)
                continue
            for metric in plan.metrics:
                with_distances = plan.has_distances and metric == Metric.KRIPPENDORFF_ALPHA
                name = plan.name + _DISTANCES_SUFFIX if with_distances else plan.name
                self._measure_ratings(plan, metric, ratings.get(name, ratings[plan.name]))
            # Measuring needs as much memory as the ratings, so these are deleted immediately.
            del ratings[plan.name]
            ratings.pop(plan.name + _DISTANCES_SUFFIX, None)
        self.run_results.confusions.update(
            {key: counts.build() for key, counts in confusions.items()}
        )

    def measure_marks(self, plan: FieldPlan) -> None:
        """Compute the metrics of a field whose answers are sets of values, spans or regions."""
        marks = build_mark_sets(chain.from_iterable(self._iterate_marks(plan)))
        for metric in plan.metrics:
            self._measure_mark_sets(plan, metric, marks)

    def warn_about_omissions(self) -> None:
        """Add warnings about tag sets that could not be compared."""
        for (name, number), count in self._omitted_counts.items():
            tag_sets_text = format_count(count, "tag set", "tag sets")
            message = (
                f"The field has another type in version {number} of the schema;"
                f" the run left out {tag_sets_text} of that version."
            )
            self.run_results.add_warning("field_type_changed", message, name)
        if self._snapshot.too_large_count:
            tag_sets_text = format_count(self._snapshot.too_large_count, "tag set", "tag sets")
            message = f"The run left out {tag_sets_text} above the maximum size."
            self.run_results.add_warning("tag_set_too_large", message)

    def _measure_ratings(self, plan: FieldPlan, metric: Metric, ratings: Ratings) -> None:
        self._add_result(plan, measure(ratings, metric, seed=self._seed))
        if self._should_compute_pairs(plan, metric, ratings):
            resamples = choose_resample_count(len(ratings.raters))
            self._add_pairs(
                plan,
                measure_pairs(ratings, metric, resamples=resamples, seed=self._seed),
            )

    def _measure_mark_sets(self, plan: FieldPlan, metric: Metric, marks: MarkSets) -> None:
        self._add_result(plan, measure_marks(marks, metric, seed=self._seed))
        if self._should_compute_pairs(plan, metric, marks):
            resamples = choose_resample_count(len(marks.raters))
            self._add_pairs(
                plan,
                measure_mark_pairs(marks, metric, resamples=resamples, seed=self._seed),
            )

    def _should_compute_pairs(
        self, plan: FieldPlan, metric: Metric, data: Ratings | MarkSets
    ) -> bool:
        """Return whether to compute the pairs of labelers; add a warning if there are too many."""
        if metric not in PAIR_METRICS:
            return False
        if len(data.raters) > MAX_RATERS_IN_PAIRS:
            message = f"There are more than {MAX_RATERS_IN_PAIRS} labelers, so pairs are omitted."
            self.run_results.add_warning("too_many_pairs", message, plan.name)
            return False
        # Each pair costs memory and time, so they are counted before they are computed.
        pair_count = count_pairs(data) if isinstance(data, Ratings) else count_mark_pairs(data)
        if len(self.run_results.pairs) + pair_count > MAX_PAIRS:
            message = f"The run would exceed {MAX_PAIRS:,} pairs, so this field has no pairs."
            self.run_results.add_warning("too_many_pairs", message, plan.name)
            return False
        return len(data.raters) > 1

    def _add_empty_results(self, plan: FieldPlan) -> None:
        warning = EstimateWarning(
            WarningCode.NO_RATINGS, "Nobody has labeled this field in the period."
        )
        for metric in plan.metrics:
            self._add_result(plan, Estimate(metric, None, None, None, 0, 0, 0, (warning,)))

    def _add_result(self, plan: FieldPlan, estimate: Estimate) -> None:
        values = asdict(estimate)
        del values["warnings"]
        self.run_results.results.append({"field": plan.name, **values})
        for warning in estimate.warnings:
            self.run_results.add_warning(warning.code, warning.text, plan.name)

    def _add_pairs(self, plan: FieldPlan, pairs: list[PairEstimate]) -> None:
        names = ("metric", "value", "ci_low", "ci_high", "units")
        for pair in pairs:
            values = {name: getattr(pair.estimate, name) for name in names}
            self.run_results.pairs.append({"a": pair.a, "b": pair.b, "field": plan.name, **values})

    def _iterate_documents(self) -> Iterator[DocumentAnswers]:
        for document in self._snapshot.iterate_documents():
            yield document
            self._done += document.tag_set_count
            self._report(self._done, self._total)

    def _has_newest_type(self, plan: FieldPlan, answer: Answer) -> bool:
        """Return whether the field has its newest type in the answer's schema version.

        If the field has another type in that version, count the answer as omitted.
        """
        if answer.version_id in plan.version_ids:
            return True
        number = plan.other_versions.get(answer.version_id)
        if number is not None:
            key = (plan.name, number)
            self._omitted_counts[key] = self._omitted_counts.get(key, 0) + 1
        return False

    def _iterate_ratings(
        self, plans: list[FieldPlan], confusions: dict[str, ConfusionCounter]
    ) -> Iterator[tuple[str, UUID, str, Any]]:
        """Yield the rows for `build_ratings_by_field`, and count the values in `confusions`."""
        for document in self._iterate_documents():
            values = [
                (answer, {tag["field"]: tag["value"] for tag in answer.tags})
                for answer in document.answers
            ]
            accepted_answer = document.accepted_answer
            accepted_tags = accepted_answer.tags if accepted_answer else []
            accepted_values = {tag["field"]: tag["value"] for tag in accepted_tags}
            for plan in plans:
                plan_values = [
                    (answer.labeler_id, value_by_field.get(plan.name))
                    for answer, value_by_field in values
                    if self._has_newest_type(plan, answer)
                ]
                for labeler_id, value in plan_values:
                    yield from _build_ratings(plan, document.id, labeler_id, value)
                confusion = confusions.get(plan.name)
                if confusion is not None:
                    answers = [value for _, value in plan_values]
                    confusion.add(answers)
                    if accepted_answer and accepted_answer.version_id in plan.version_ids:
                        confusion.add_accepted(answers, accepted_values.get(plan.name))

    def _iterate_marks(self, plan: FieldPlan) -> Iterator[list[tuple[Any, ...]]]:
        """Yield, for each document, the rows for `build_mark_sets`: one row for each answer."""
        for document in self._iterate_documents():
            rows = [
                (document.id, answer.labeler_id, _list_marks(plan, answer))
                for answer in document.answers
                if self._has_newest_type(plan, answer)
            ]
            if plan.comparison == ComparisonMethod.SPANS:
                # If text recognition was repeated, the new text may be shorter than earlier spans.
                ends = [int(mark.box[3]) for _, _, marks in rows for mark in marks]
                length = max([document.text_length, *ends])
                yield [(key, length, labeler_id, marks) for key, labeler_id, marks in rows]
            else:
                yield list(rows)


def _build_ratings(
    plan: FieldPlan, document_id: UUID, labeler_id: str, value: object
) -> Iterator[tuple[str, UUID, str, Any]]:
    key = EMPTY if value is None else normalize_value(plan.kind, value)
    yield plan.name, document_id, labeler_id, key
    if plan.has_distances:
        yield (
            plan.name + _DISTANCES_SUFFIX,
            document_id,
            labeler_id,
            EMPTY if value is None else value,
        )


def _list_marks(plan: FieldPlan, answer: Answer) -> list[Mark]:
    """Return the marks of an answer. Each value of a set becomes a mark on the whole page.

    For spans and regions, tags without a position are left out.
    """
    tags = [tag for tag in answer.tags if tag["field"] == plan.name]
    marks: list[Mark | None]
    if plan.comparison == ComparisonMethod.SPANS:
        marks = [get_span_mark(tag["evidence"]) for tag in tags]
    elif plan.comparison == ComparisonMethod.REGIONS:
        marks = [get_region_mark(tag["evidence"], _normalize(plan, tag)) for tag in tags]
    else:
        marks = [Mark(0, _WHOLE_PAGE, _normalize(plan, tag)) for tag in tags]
    return [mark for mark in marks if mark is not None]


def _normalize(plan: FieldPlan, tag: dict[str, Any]) -> object:
    return normalize_value(plan.kind, tag["value"])
