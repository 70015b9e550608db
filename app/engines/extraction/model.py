"""Define the types of the arguments and results of the extraction engine."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from dataclasses import fields as fields_of
from typing import Any, NamedTuple

from app.engines.fields import Tag

Box = tuple[float, float, float, float]  # x0, y0, x1, y1, from 0 to 1

MIN_EXAMPLES = 5
"""The minimum number of usable examples for training; with fewer, use `propose_by_rules`."""

MAX_EXAMPLES = 1_000
"""The maximum number of examples in one training run; the newest examples are used."""


MAX_TRAINING_WORDS = 160_000
"""The maximum number of words in the examples of one training run.

More words need more processor time and memory than a training run is allowed. Each AI-assisted
field reduces this limit; see `select_examples`.
"""


class SourceWord(NamedTuple):
    """A word of a document.

    `page` counts from 1; `box` is (x0, y0, x1, y1) from 0 to 1, or None if the text has no layout;
    `start` and `end` are code point offsets into the document's text.
    """

    text: str
    page: int
    box: Box | None
    start: int
    end: int


MAX_WORDS = 3_000
"""The maximum number of words to read from one document.

If a document has more, two thirds of these words are from its start, and one third from its end.
"""


@dataclass(frozen=True, slots=True)
class Document:
    """The text and the words of a document. The words may be in any order."""

    text: str
    words: Sequence[SourceWord]


@dataclass(frozen=True, slots=True)
class Example:
    """A document with the tags that were accepted for it.

    `id` and `revision` identify the accepted tags; the model's version depends on them.
    `labeler_id` identifies the person who submitted the tags. `accepted_at` is any string that
    sorts the examples by time.
    """

    id: str
    revision: int
    document: Document
    tags: Sequence[Tag]
    labeler_id: str | None = None
    accepted_at: str = ""


class NotEnoughExamples(Exception):  # noqa: N818 - named after the outcome
    """There are fewer usable examples than `required_count`.

    An example is usable if `sequences.align_values` locates one of its accepted values. In
    cross-validation, every example that `select_examples` selects counts as usable.
    """

    def __init__(self, usable_count: int, required_count: int = MIN_EXAMPLES) -> None:
        super().__init__(usable_count, required_count)
        self.usable_count, self.required_count = usable_count, required_count

    def __str__(self) -> str:
        verb = "is" if self.usable_count == 1 else "are"
        return (
            f"At least {self.required_count} usable examples are required; "
            f"there {verb} {self.usable_count}."
        )


class InvalidModel(Exception):  # noqa: N818 - named after the outcome
    """The content is not a model, or the model is too large or was trained with other features."""


@dataclass(frozen=True, slots=True)
class FieldReport:
    """The out-of-fold results for one field, or for all fields together.

    `support` counts the accepted values, and `proposed` the proposals. `correct` counts the
    proposals that equal an accepted value: dates and amounts are compared in canonical form, and
    all other values must be identical. `correct_letters` counts the proposals that have the same
    letters and digits as an accepted value.
    """

    support: int
    proposed: int
    correct: int
    correct_letters: int

    @property
    def precision(self) -> float:
        """Return the fraction of proposals that are correct, or 0 if there are no proposals."""
        return self.correct / self.proposed if self.proposed else 0.0

    @property
    def recall(self) -> float:
        """Return the fraction of accepted values that were proposed, or 0 without such values."""
        return self.correct / self.support if self.support else 0.0

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall.

        The result is 0 if there are neither proposals nor accepted values.
        """
        total = self.proposed + self.support
        return 2 * self.correct / total if total else 0.0

    @property
    def f1_letters(self) -> float:
        """Return the F1 score that counts values with the same letters and digits as equal."""
        total = self.proposed + self.support
        return 2 * self.correct_letters / total if total else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, precision, recall and both F1 scores as a dictionary."""
        derived = {
            name: getattr(self, name) for name in ("precision", "recall", "f1", "f1_letters")
        }
        return {**asdict(self), **derived}

    @staticmethod
    def from_dict(content: dict[str, Any]) -> "FieldReport":
        """Build a field report from a dictionary that `to_dict` returned."""
        return FieldReport(**{field.name: content[field.name] for field in fields_of(FieldReport)})


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """The number, mean confidence and accuracy of proposals in one interval of confidences."""

    low: float
    high: float
    count: int
    mean_confidence: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class Report:
    """The out-of-fold results: a document's tags come from a model that was not trained on it.

    `expected_calibration_error` is the mean difference between confidence and accuracy over `bins`,
    weighted by their counts. `confident_precision` is the precision of the proposals with a
    confidence of at least 0.9, and `confident_coverage` is the fraction of proposals with that
    confidence. `document_counts` contains (correct, proposed, support) for each document, in the
    order of `document_ids`, to compare two models on the same documents. `folds` is the number of
    folds, or 0 without cross-validation.
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
        """Return the report as a JSON-compatible dictionary, with precision, recall and F1."""
        return {
            **asdict(self),
            "fields": {name: item.to_dict() for name, item in self.fields.items()},
            "overall": self.overall.to_dict(),
        }

    @staticmethod
    def from_dict(content: dict[str, Any]) -> "Report":
        """Build a report from a dictionary that `to_dict` returned."""
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


def enclose_boxes(boxes: Sequence[Box]) -> Box:
    """Return the smallest box around all `boxes`, which must not be empty."""
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return min(x0), min(y0), max(x1), max(y1)


def select_words(words: Sequence[SourceWord]) -> list[SourceWord]:
    """Select at most MAX_WORDS words of a document, and return them in the order of the text.

    If there are more words, words in the middle of the document are left out.
    """
    sorted_words = sorted(words, key=lambda word: (word.page, word.start, word.end))
    if len(sorted_words) <= MAX_WORDS:
        return sorted_words
    return sorted_words[: 2 * MAX_WORDS // 3] + sorted_words[-(MAX_WORDS // 3) :]
