"""Compare proposals with accepted values, and report precision, recall, F1 and calibration."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from app.engines.extraction.calibration import build_bins
from app.engines.extraction.model import FieldReport, Report
from app.engines.extraction.values import Target, get_compact_text
from app.engines.fields import JsonValue

CONFIDENT_THRESHOLD = 0.9
_BOOTSTRAP_ROUNDS, _CONFIDENCE_LEVEL = 1000, 0.95


@dataclass(slots=True)
class ComparisonOutcome:
    """The result of comparing a proposal with an accepted value of a document.

    An outcome without a proposal has `proposed` false. `support` is 1, or 0 if the proposal matches
    no accepted value.
    """

    field: str
    document_index: int
    support: int
    proposed: bool
    correct: bool
    correct_letters: bool
    log_odds: float = 0.0
    margin: float = 0.0
    confidence: float = 0.0

    def withdraw_if_below(self, threshold: float) -> None:
        """Remove the proposal from the outcome if its confidence is below `threshold`.

        An outcome without a proposal is not changed.
        """
        if self.proposed and self.confidence < threshold:
            self.proposed = self.correct = self.correct_letters = False


def compare_proposals(
    target: Target,
    document_index: int,
    values: Sequence[JsonValue],
    proposals: Sequence[tuple[JsonValue, float, float]],
) -> list[ComparisonOutcome]:
    """Compare the proposals for a field with its accepted values in one document.

    A proposal is (value, log odds, margin). The outcomes for the proposals come first, in order;
    an outcome for each unmatched accepted value follows.
    """
    unmatched_keys = [target.build_key(value) for value in values]
    unmatched_texts = [get_compact_text(value) for value in values]
    outcomes = []
    for value, log_odds, margin in proposals:
        key, compact_value = target.build_key(value), get_compact_text(value)
        correct = key in unmatched_keys
        correct_letters = correct or compact_value in unmatched_texts
        if correct_letters:
            index = unmatched_keys.index(key) if correct else unmatched_texts.index(compact_value)
            del unmatched_keys[index], unmatched_texts[index]
        support = 1 if correct_letters else 0
        outcomes.append(
            ComparisonOutcome(
                target.name,
                document_index,
                support,
                True,  # noqa: FBT003
                correct,
                correct_letters,
                log_odds,
                margin,
            )
        )
    missed_count = len(unmatched_keys)
    outcomes += [
        ComparisonOutcome(target.name, document_index, 1, False, False, False)  # noqa: FBT003
        for _ in range(missed_count)
    ]
    return outcomes


def build_report(
    outcomes: Sequence[ComparisonOutcome],
    document_ids: Sequence[str],
    targets: Sequence[Target],
    fold_count: int,
) -> Report:
    """Build the report: count the outcomes by field and by document, and measure the calibration.

    The `document_index` of an outcome is an index into `document_ids`.
    """
    names = [target.name for target in targets]
    pairs = [(outcome.confidence, outcome.correct) for outcome in outcomes if outcome.proposed]
    bins = build_bins(pairs)
    total = len(pairs) or 1
    calibration_error = (
        sum(interval.count * abs(interval.mean_confidence - interval.accuracy) for interval in bins)
        / total
    )
    confident_results = [
        is_correct for confidence, is_correct in pairs if confidence >= CONFIDENT_THRESHOLD
    ]
    counts = [[0, 0, 0] for _ in document_ids]
    for outcome in outcomes:
        row = counts[outcome.document_index]
        row[0] += outcome.correct
        row[1] += outcome.proposed
        row[2] += outcome.support
    return Report(
        fields={name: _count_outcomes([o for o in outcomes if o.field == name]) for name in names},
        overall=_count_outcomes(outcomes),
        expected_calibration_error=calibration_error,
        confident_precision=sum(confident_results) / len(confident_results)
        if confident_results
        else 0.0,
        confident_coverage=len(confident_results) / total,
        bins=tuple(bins),
        document_ids=tuple(document_ids),
        document_counts=tuple((row[0], row[1], row[2]) for row in counts),
        folds=fold_count,
    )


def _count_outcomes(outcomes: Sequence[ComparisonOutcome]) -> FieldReport:
    return FieldReport(
        support=sum(outcome.support for outcome in outcomes),
        proposed=sum(outcome.proposed for outcome in outcomes),
        correct=sum(outcome.correct for outcome in outcomes),
        correct_letters=sum(outcome.correct_letters for outcome in outcomes),
    )


def is_not_worse(new: Report, old: Report) -> bool:
    """Return whether the new F1 score is not significantly lower than the old F1 score.

    Documents that both reports contain are resampled with a fixed seed. If there are fewer than two
    of these documents, the difference is compared with its standard error instead.
    """
    old_counts = dict(zip(old.document_ids, old.document_counts, strict=True))
    pairs = [
        (counts, old_counts[document_id])
        for document_id, counts in zip(new.document_ids, new.document_counts, strict=True)
        if document_id in old_counts
    ]
    if len(pairs) < 2:  # noqa: PLR2004 - nothing to resample
        size = max(min(new.overall.support, old.overall.support), 1)
        standard_error = (old.overall.f1 * (1 - old.overall.f1) * 2 / size) ** 0.5
        return bool(new.overall.f1 >= old.overall.f1 - 1.64 * standard_error)
    generator = random.Random(0)  # noqa: S311 - a repeatable sample, not a secret
    not_worse_count = 0
    for _ in range(_BOOTSTRAP_ROUNDS):
        sample = generator.choices(pairs, k=len(pairs))
        not_worse_count += _compute_f1([new_row for new_row, _ in sample]) >= _compute_f1(
            [old_row for _, old_row in sample]
        )
    return not_worse_count > _BOOTSTRAP_ROUNDS * (1 - _CONFIDENCE_LEVEL)


def _compute_f1(counts: Sequence[tuple[int, int, int]]) -> float:
    correct = sum(row[0] for row in counts)
    total = sum(row[1] + row[2] for row in counts)
    return 2 * correct / total if total else 0.0
