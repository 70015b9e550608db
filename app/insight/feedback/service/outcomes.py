"""Compare predicted values with correct values, field by field."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.engines.agreement.comparing import diff
from app.engines.agreement.rows import align_rows
from app.engines.agreement.tag_keys import FieldSpec, FieldSpecs, build_value_key
from app.engines.fields import Tag
from app.insight.feedback.models import FeedbackOutcome

_TEXT_FIELD_SPEC = FieldSpec("text", multiple=False)


class ComparedValue(NamedTuple):
    """The outcome of comparing one value.

    `row` is the table row of the correct value, or of the predicted value if it is spurious; None
    outside tables. `confidence` is None if no value was predicted or its confidence is unknown.
    """

    field: str
    row: int | None
    outcome: FeedbackOutcome
    confidence: float | None


def compare_tags(
    predicted_tags: Sequence[Tag], correct_tags: Sequence[Tag], field_specs: FieldSpecs
) -> Iterator[ComparedValue]:
    """Compare predicted tags with correct tags, and yield the outcome of each value.

    The rows of a table are matched by content, and their cells are compared one by one. If a field
    has several tags, they are matched by value. Values without a match are spurious or missed.
    """
    old_tags, new_tags = align_rows([predicted_tags, correct_tags], field_specs).tag_sets
    for change in diff(old_tags, new_tags, field_specs, include_same=True):
        old, new = change["from"], change["to"]
        outcome = classify(old, new, field_specs.get(change["field"], _TEXT_FIELD_SPEC))
        confidence = None if old is None else old["confidence"]
        yield ComparedValue(change["field"], change["row"], outcome, confidence)


def classify(
    predicted_tag: Tag | None, correct_tag: Tag | None, field_spec: FieldSpec
) -> FeedbackOutcome:
    """Classify a predicted tag by comparing it with the correct tag; one of them may be None."""
    if predicted_tag is None:
        return FeedbackOutcome.MISSED
    if correct_tag is None:
        return FeedbackOutcome.SPURIOUS
    is_same = _build_key(predicted_tag, field_spec) == _build_key(correct_tag, field_spec)
    return FeedbackOutcome.CORRECT if is_same else FeedbackOutcome.CORRECTED


def _build_key(tag: Tag, field_spec: FieldSpec) -> object:
    """Build the comparison key of a tag: its value, or the position of a span or region.

    The key of a region also contains its value.
    """
    if not field_spec.has_marks:
        return build_value_key(tag)
    names = ("page", "box", "start", "end")
    positions = [[evidence[name] for name in names] for evidence in tag["evidence"]]
    # The text of a span follows from its position.
    return positions if field_spec.field_type == "span" else (positions, build_value_key(tag))
