"""Define the arguments and results of the extraction engine."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from dataclasses import fields as fields_of
from typing import Any, NamedTuple

from app.engines.fields import Tag

Box = tuple[float, float, float, float]

MIN_EXAMPLES = 5
"""The minimum number of usable examples for training; with fewer, rules and memory propose."""

MAX_EXAMPLES = 1_000
"""The maximum number of examples in one training; the newest examples are used."""


class SourceWord(NamedTuple):
    """A word of a document.

    `page` counts from 1; `box` is (x0, y0, x1, y1) from 0 to 1, or None in a text without layout;
    `start` and `end` are code point offsets into the document's text.
    """

    text: str
    page: int
    box: Box | None
    start: int
    end: int


MAX_WORDS = 3_000
"""The maximum number of words to read: two thirds from the start, one third from the end."""


@dataclass(frozen=True, slots=True)
class Document:
    """The text and the words of a document; the order of the words does not matter."""

    text: str
    words: Sequence[SourceWord]
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A document with the tags that were accepted for it.

    `id` and `revision` identify the accepted state and are part of the model's version.
    `labeler_id` is the person who submitted the tags. `accepted_at` orders the examples; any
    sortable string is allowed.
    """

    id: str
    revision: int
    document: Document
    tags: Sequence[Tag]
    labeler_id: str | None = None
    accepted_at: str = ""


class NotEnoughExamples(Exception):  # noqa: N818 - named after the outcome
    """Fewer than MIN_EXAMPLES examples have a value that was found in its document."""

    def __init__(self, usable: int) -> None:
        super().__init__(usable)
        self.usable = usable

    def __str__(self) -> str:
        return f"{self.usable} usable examples; {MIN_EXAMPLES} are needed"


class InvalidModel(Exception):  # noqa: N818 - named after the outcome
    """The bytes are not a model of this feature version."""


@dataclass(frozen=True, slots=True)
class FieldReport:
    """The out-of-fold results of one field.

    `support` counts accepted values, `proposed` the proposals, and `correct` the proposals that
    equal the accepted value (dates and money in canonical form, other values strictly).
    `correct_letters` counts the proposals that have the same letters and digits.
    """

    support: int
    proposed: int
    correct: int
    correct_letters: int

    @property
    def precision(self) -> float:
        """Return the share of proposals that are correct; 0 without proposals."""
        return self.correct / self.proposed if self.proposed else 0.0

    @property
    def recall(self) -> float:
        """Return the share of accepted values that were proposed; 0 without values."""
        return self.correct / self.support if self.support else 0.0

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall."""
        total = self.proposed + self.support
        return 2 * self.correct / total if total else 0.0

    @property
    def f1_letters(self) -> float:
        """Return the F1 when values with the same letters and digits count as equal."""
        total = self.proposed + self.support
        return 2 * self.correct_letters / total if total else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and the measures derived from them."""
        derived = {
            name: getattr(self, name) for name in ("precision", "recall", "f1", "f1_letters")
        }
        return {**asdict(self), **derived}

    @staticmethod
    def from_dict(content: dict[str, Any]) -> "FieldReport":
        """Return the field report from the result of `to_dict`."""
        return FieldReport(**{field.name: content[field.name] for field in fields_of(FieldReport)})


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """The proposals whose confidence is between `low` and `high`."""

    low: float
    high: float
    count: int
    mean_confidence: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class Report:
    """Out-of-fold results: each document was predicted by a model that had not seen it.

    `expected_calibration_error` is the mean difference between confidence and accuracy over `bins`,
    weighted by their counts. `confident_precision` and `confident_coverage` describe proposals with
    a confidence of at least 0.9; coverage is their share of all proposals.
    `document_counts` has (correct, proposed, support) per document in the order of `document_ids`,
    to compare two models on the same documents.
    """

    fields: dict[str, FieldReport]
    overall: FieldReport
    expected_calibration_error: float
    confident_precision: float
    confident_coverage: float
    bins: tuple[CalibrationBin, ...] = ()
    document_ids: tuple[str, ...] = ()
    document_counts: tuple[tuple[int, int, int], ...] = field(default=(), repr=False)
    folds: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON-compatible values, with precision, recall and F1."""
        return {
            "fields": {name: item.to_dict() for name, item in self.fields.items()},
            "overall": self.overall.to_dict(),
            "expected_calibration_error": self.expected_calibration_error,
            "confident_precision": self.confident_precision,
            "confident_coverage": self.confident_coverage,
            "bins": [asdict(item) for item in self.bins],
            "document_ids": list(self.document_ids),
            "document_counts": [list(item) for item in self.document_counts],
            "folds": self.folds,
        }

    @staticmethod
    def from_dict(content: dict[str, Any]) -> "Report":
        """Return the report from the result of `to_dict`."""
        return Report(
            fields={name: FieldReport.from_dict(item) for name, item in content["fields"].items()},
            overall=FieldReport.from_dict(content["overall"]),
            expected_calibration_error=content["expected_calibration_error"],
            confident_precision=content["confident_precision"],
            confident_coverage=content["confident_coverage"],
            bins=tuple(CalibrationBin(**item) for item in content["bins"]),
            document_ids=tuple(content["document_ids"]),
            document_counts=tuple((a, b, c) for a, b, c in content["document_counts"]),
            folds=content["folds"],
        )


def select_words(words: Sequence[SourceWord]) -> list[SourceWord]:
    """Return the words to read, in order; from a long document only its first and last words."""
    ordered = sorted(words, key=lambda word: (word.page, word.start, word.end))
    if len(ordered) <= MAX_WORDS:
        return ordered
    return ordered[: 2 * MAX_WORDS // 3] + ordered[-(MAX_WORDS // 3) :]
