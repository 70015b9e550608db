"""Measure proposals: precision, recall, F1 and calibration."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from app.engines.extraction.calibration import build_bins
from app.engines.extraction.model import CalibrationBin, FieldReport, Report
from app.engines.extraction.values import Target, letters_of
from app.engines.fields import JsonValue

CONFIDENT = 0.9
_ROUNDS, _TAIL = 1000, 0.95


@dataclass(slots=True)
class Outcome:
    """One accepted value, one proposal, or both if they belong together."""

    field: str
    document: int
    support: int
    proposed: bool
    correct: bool
    correct_letters: bool
    odds: float = 0.0
    margin: float = 0.0
    confidence: float = 0.0

    def drop_below(self, threshold: float) -> None:
        """Withdraw the proposal if its confidence is below the threshold."""
        if self.proposed and self.confidence < threshold:
            self.proposed = self.correct = self.correct_letters = False


def judge(
    target: Target,
    document: int,
    values: Sequence[JsonValue],
    proposals: Sequence[tuple[JsonValue, float, float]],
) -> list[Outcome]:
    """Compare proposals (value, log odds, margin) with the accepted values of one document."""
    open_keys = [target.build_key(value) for value in values]
    open_letters = [letters_of(value) for value in values]
    outcomes = []
    for value, odds, margin in proposals:
        key, letters = target.build_key(value), letters_of(value)
        correct, loose = key in open_keys, key in open_keys or letters in open_letters
        if loose:
            place = open_keys.index(key) if correct else open_letters.index(letters)
            del open_keys[place], open_letters[place]
        support = 1 if loose else 0
        outcomes.append(Outcome(target.name, document, support, True, correct, loose, odds, margin))  # noqa: FBT003
    missed = len(open_keys)
    outcomes += [Outcome(target.name, document, 1, False, False, False) for _ in range(missed)]  # noqa: FBT003
    return outcomes


def build_report(
    outcomes: Sequence[Outcome], ids: Sequence[str], targets: Sequence[Target], folds: int
) -> Report:
    """Return the report of all outcomes."""
    names = [target.name for target in targets]
    pairs = [(one.confidence, one.correct) for one in outcomes if one.proposed]
    bins = [CalibrationBin(*values) for values in build_bins(pairs)]
    total = len(pairs) or 1
    error = sum(one.count * abs(one.mean_confidence - one.accuracy) for one in bins) / total
    confident = [ok for confidence, ok in pairs if confidence >= CONFIDENT]
    counts = [[0, 0, 0] for _ in ids]
    for one in outcomes:
        row = counts[one.document]
        row[0] += one.correct
        row[1] += one.proposed
        row[2] += one.support
    return Report(
        fields={name: _count([o for o in outcomes if o.field == name]) for name in names},
        overall=_count(outcomes),
        expected_calibration_error=error,
        confident_precision=sum(confident) / len(confident) if confident else 0.0,
        confident_coverage=len(confident) / total,
        bins=tuple(bins),
        document_ids=tuple(ids),
        document_counts=tuple((row[0], row[1], row[2]) for row in counts),
        folds=folds,
    )


def _count(outcomes: Sequence[Outcome]) -> FieldReport:
    return FieldReport(
        support=sum(one.support for one in outcomes),
        proposed=sum(one.proposed for one in outcomes),
        correct=sum(one.correct for one in outcomes),
        correct_letters=sum(one.correct_letters for one in outcomes),
    )


def is_not_worse(new: Report, old: Report) -> bool:
    """Return whether the new F1 is not below the old one by more than noise.

    On the documents of both reports the difference is resampled with a fixed seed; without such
    documents the two values are compared with the standard error of their difference.
    """
    before = dict(zip(old.document_ids, old.document_counts, strict=True))
    pairs = [
        (counts, before[document])
        for document, counts in zip(new.document_ids, new.document_counts, strict=True)
        if document in before
    ]
    if len(pairs) < 2:  # noqa: PLR2004 - nothing to resample
        size = max(min(new.overall.support, old.overall.support), 1)
        spread = (old.overall.f1 * (1 - old.overall.f1) * 2 / size) ** 0.5
        return bool(new.overall.f1 >= old.overall.f1 - 1.64 * spread)
    generator = random.Random(0)  # noqa: S311 - a repeatable sample, not a secret
    better = 0
    for _ in range(_ROUNDS):
        sample = generator.choices(pairs, k=len(pairs))
        better += _f1([one for one, _ in sample]) >= _f1([other for _, other in sample])
    return better > _ROUNDS * (1 - _TAIL)


def _f1(counts: Sequence[tuple[int, int, int]]) -> float:
    correct = sum(one[0] for one in counts)
    total = sum(one[1] + one[2] for one in counts)
    return 2 * correct / total if total else 0.0
