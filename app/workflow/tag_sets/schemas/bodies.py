"""Request bodies of tag sets."""

from collections.abc import Iterator
from typing import Any, Unpack
from uuid import UUID

from marshmallow import ValidationError
from marshmallow.validate import Length, Range

from app.engines.fields import MAX_EVIDENCE_ITEMS, MAX_ROW, MAX_TAGS
from app.kit.api.fields import (
    NOT_BLANK,
    UUID_PATTERN,
    Any_,
    Bool,
    Data,
    FieldOptions,
    Float,
    Int,
    List,
    Nested,
    OneOf,
    Schema,
    Str,
    Uuid,
)
from app.workflow.tag_sets.schemas.records import TAG_SOURCES


class EvidenceInput(Schema):
    """The location of a value, as in `Evidence`: offsets, text, or a page and optionally a box."""

    page = Int(allow_none=True, minimum=1)
    box = List(Float(), allow_none=True, metadata={"minItems": 4, "maxItems": 4})
    start = Int(allow_none=True)
    end = Int(allow_none=True)
    text = Str(allow_none=True, max_length=20_000)


class TagInput(Schema):
    """The value of a field. For a table cell, `field` is `table.column`, and `row` is required."""

    field = Str(required=True)
    value = Any_(allow_none=True)
    row = Int(maximum=MAX_ROW, allow_none=True)
    confidence = Float(validate=Range(min=0, max=1), allow_none=True)
    source = Str(allow_none=True, validate=OneOf(TAG_SOURCES))
    evidence = List(Nested(EvidenceInput), max_items=MAX_EVIDENCE_ITEMS, allow_none=True)


_NUMBER_TYPES = (int, float)
_TAG_TYPES: dict[str, tuple[type, ...]] = {
    "field": (str,),
    "row": (int,),
    "confidence": _NUMBER_TYPES,
    "source": (str,),
    "evidence": (list,),
}
_EVIDENCE_TYPES: dict[str, tuple[type, ...]] = {
    "page": (int,),
    "box": (list,),
    "start": (int,),
    "end": (int,),
    "text": (str,),
}
_TYPE_NAMES: dict[tuple[type, ...], str] = {
    (str,): "string",
    (int,): "integer",
    _NUMBER_TYPES: "number",
    (list,): "list",
}


class Tags(List):
    """A list of `TagInput` objects, of which only the property names and types are validated.

    The list is returned unchanged. Full validation by marshmallow would take about one second for
    5,000 tags. `engines.fields` later checks all properties against the schema version.
    """

    def __init__(self, **options: Unpack[FieldOptions]) -> None:
        super().__init__(Nested(TagInput), max_items=MAX_TAGS, **options)

    def _deserialize(self, value: object, *_: object, **__: object) -> list[Any]:
        if not isinstance(value, list):
            raise self.make_error("invalid")
        for position, tag in enumerate(value):
            for path, message in _find_errors(tag):
                raise ValidationError({f"{position}{path}": [message]})
        return value


def _find_errors(tag: object) -> Iterator[tuple[str, str]]:
    yield from _find_property_errors(tag, "", _TAG_TYPES, untyped_name="value")
    if not isinstance(tag, dict):
        return
    if tag.get("field") is None:
        yield ".field", "Missing data for required field."
    for position, evidence in enumerate(tag.get("evidence") or ()):
        yield from _find_property_errors(evidence, f".evidence.{position}", _EVIDENCE_TYPES)


def _find_property_errors(
    value: object, path: str, types: dict[str, tuple[type, ...]], untyped_name: str = ""
) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict):
        yield path, "Must be an object."
        return
    for name, content in value.items():
        allowed_types = types.get(name)
        if allowed_types is None:
            if name != untyped_name:
                yield f"{path}.{name[:64]}", "Unknown field."
        elif (
            content is not None
            and type(content) not in allowed_types
            and not _is_allowed_integer(content, allowed_types)
        ):
            yield f"{path}.{name}", f"Not a valid {_TYPE_NAMES[allowed_types]}."


def _is_allowed_integer(content: object, allowed_types: tuple[type, ...]) -> bool:
    """Return whether integers are allowed and `content` is a float without a fraction, like 1.0."""
    return int in allowed_types and isinstance(content, float) and content.is_integer()


def check_not_blank(text: str) -> None:
    """Raise ValidationError if the text is empty or contains only whitespace."""
    if not text.strip():
        raise ValidationError("Must not be blank.")


class Reason(Str):
    """A required field for the reason of a decision or escalation. The reason must not be blank."""

    def __init__(self) -> None:
        super().__init__(
            required=True, max_length=5000, validate=check_not_blank, metadata=NOT_BLANK
        )


class CreateTagSet(Schema):
    """The source of the draft's initial tags: none, a prediction, or another tag set."""

    source = Str(
        data_key="from",
        load_default="empty",
        max_length=36,
        description=(
            "`empty` for no tags, `prediction` for the tags in the latest prediction, or the id of"
            " the tag set whose tags are copied."
        ),
    )


class ReplaceTags(Schema):
    """All tags of the draft, and the revision that they are based on."""

    tags = Tags(required=True)
    revision = Int(
        description="The revision that the client has read, unless the header If-Match contains it."
    )
    seconds_spent = Int(description="Total working time in seconds. If omitted, it is unchanged.")


class AcceptTagSet(Schema):
    """An acceptance, with optional corrections."""

    tags = Tags(
        description=(
            "The complete list of tags after the reviewer's corrections. If omitted, the tags stay"
            " unchanged."
        )
    )
    note = Str(max_length=5000)
    revision = Int()


class Recipient(Str):
    """A field that accepts `labeler`, `pool` or a user's id, and normalizes the id."""

    def _deserialize(self, value: object, attr: str | None, data: Data, **options: object) -> str:
        recipient = super()._deserialize(value, attr, data, **options)
        if recipient in ("labeler", "pool"):
            return recipient
        try:
            return str(UUID(recipient))
        except ValueError:
            raise ValidationError("Must be `labeler`, `pool` or a user's id.") from None


class RejectTagSet(Schema):
    """A rejection, its reason, and the next labeler."""

    reason = Reason()
    send_to = Recipient(
        load_default="labeler",
        max_length=45,
        metadata={"pattern": f"^(labeler|pool|{UUID_PATTERN})$"},
        description=(
            "Who labels the artifact next: `labeler` (the labeler of this tag set), `pool` (another"
            " labeler), or the id of a member."
        ),
    )
    revision = Int()


class ReopenTagSet(Schema):
    """The reason for reopening, and whether the tag set goes to review or to its labeler."""

    reason = Reason()
    to = Str(
        load_default="review",
        validate=OneOf(("review", "labeler")),
        description=(
            "`review`: the tag set is pending review again. `labeler`: the tag set returns to its"
            " labeler as a draft."
        ),
    )
    revision = Int()


class MergeChoice(Schema):
    """The tag set from which the merge copies the tags for one field and row.

    If this tag set has no value for the field and row, the merge has no value either.
    """

    field = Str(required=True, description="A field's key, or `table.column`.")
    row = Int(load_default=None, allow_none=True)
    tag_set_id = Uuid(required=True)


class MergeTagSets(Schema):
    """Tag sets of one artifact, and how to merge them."""

    tag_set_ids = List(Uuid(), required=True, max_items=20, validate=Length(min=2))
    strategy = Str(
        load_default="majority",
        validate=OneOf(("majority", "choose")),
        description=(
            "How to decide fields that have no entry in `choices` or `tags`. `majority`: use the"
            " values that more than half of the tag sets have. `choose`: use only values that all"
            " tag sets have. If a field stays undecided, the request fails and lists the field in"
            " `details.undecided`."
        ),
    )
    choices = List(Nested(MergeChoice), max_items=5000)
    tags = Tags(
        description=(
            "The reviewer's own tags. They replace the tag sets' values for the same field and row."
        )
    )
    accept = Bool(load_default=False, description="Accept the merge immediately.")
    note = Str(max_length=5000)
