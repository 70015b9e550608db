"""Compare predicted values with accepted ones, field by field."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from app.engines.agreement import Shape, Shapes, align_rows, build_value_key, diff
from app.engines.fields import Tag
from app.insight.feedback.models import FeedbackOutcome

_TEXT = Shape("text", multiple=False)


class ComparedValue(NamedTuple):
    """The outcome for one value; `row` is the row of the right value, or of a spurious one."""

    field: str
    row: int | None
    outcome: FeedbackOutcome
    confidence: float | None


def compare_tags(
    predicted: Sequence[Tag], accepted: Sequence[Tag], shapes: Shapes
) -> Iterator[ComparedValue]:
    """Yield the outcome of each predicted and each accepted value.

    The cells of a table are compared one by one, with its rows matched by content. The values of a
    field with several tags are matched by value, the rest is spurious and missed.
    """
    old_tags, new_tags = align_rows([predicted, accepted], shapes).sets
    for change in diff(old_tags, new_tags, shapes, same=True):
        old, new = change["from"], change["to"]
        outcome = classify(old, new, shapes.get(change["field"], _TEXT))
        confidence = None if old is None else old["confidence"]
        yield ComparedValue(change["field"], change["row"], outcome, confidence)


def classify(predicted: Tag | None, right: Tag | None, shape: Shape) -> FeedbackOutcome:
    """Return how a predicted tag compares with the correct one; one of them may be None."""
    if predicted is None:
        return FeedbackOutcome.MISSED
    if right is None:
        return FeedbackOutcome.SPURIOUS
    same = _build_key(predicted, shape) == _build_key(right, shape)
    return FeedbackOutcome.CORRECT if same else FeedbackOutcome.CORRECTED


def _build_key(tag: Tag, shape: Shape) -> Any:
    """Return the comparison key of a tag: its value; of a span or region, its place and label."""
    if not shape.is_mark:
        return build_value_key(tag)
    place = [[piece[name] for name in ("page", "box", "start", "end")] for piece in tag["evidence"]]
    # The text of a span follows from its place.
    return place if shape.kind == "span" else (place, build_value_key(tag))
