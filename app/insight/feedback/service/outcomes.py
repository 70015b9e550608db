"""Compare predicted values with accepted values, field by field."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from app.engines.agreement import Shape, Shapes, align_rows, build_value_key, diff
from app.engines.fields import Tag
from app.insight.feedback.models import FeedbackOutcome

_TEXT = Shape("text", multiple=False)


class ComparedValue(NamedTuple):
    """The outcome for one value; `row` is the row of the correct or the spurious value."""

    field: str
    row: int | None
    outcome: FeedbackOutcome
    confidence: float | None


def compare_tags(
    predicted: Sequence[Tag], accepted: Sequence[Tag], shapes: Shapes
) -> Iterator[ComparedValue]:
    """Yield the outcome of each predicted and each accepted value.

    The rows of a table are matched by content, and their cells are compared one by one. The values
    of a field with several tags are matched by value; values without a match are spurious or
    missed.
    """
    old_tags, new_tags = align_rows([predicted, accepted], shapes).sets
    for change in diff(old_tags, new_tags, shapes, same=True):
        old, new = change["from"], change["to"]
        outcome = classify(old, new, shapes.get(change["field"], _TEXT))
        confidence = None if old is None else old["confidence"]
        yield ComparedValue(change["field"], change["row"], outcome, confidence)


def classify(predicted: Tag | None, correct: Tag | None, shape: Shape) -> FeedbackOutcome:
    """Return the outcome of a predicted tag and the correct tag, either of which may be None."""
    if predicted is None:
        return FeedbackOutcome.MISSED
    if correct is None:
        return FeedbackOutcome.SPURIOUS
    is_same = _build_key(predicted, shape) == _build_key(correct, shape)
    return FeedbackOutcome.CORRECT if is_same else FeedbackOutcome.CORRECTED


def _build_key(tag: Tag, shape: Shape) -> Any:
    """Return the comparison key of a tag: its value, or the place and label of a span or region."""
    if not shape.is_mark:
        return build_value_key(tag)
    names = ("page", "box", "start", "end")
    place = [[evidence[name] for name in names] for evidence in tag["evidence"]]
    # The text of a span follows from its place.
    return place if shape.kind == "span" else (place, build_value_key(tag))
