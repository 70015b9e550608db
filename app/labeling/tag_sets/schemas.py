"""Bodies and answers of label sets."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from marshmallow import ValidationError

from app.kit.api.fields import (
    Any_,
    Float,
    Int,
    List,
    Nested,
    OneOf,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)

STATES = ("draft", "submitted", "accepted", "rejected")
SOURCES = ("human", "model", "import", "merge")
TAG_SOURCES = ("human", "model", "import")


class Person(Schema):
    """A user, as colleagues see them."""

    id = Uuid(required=True)
    email = Str(required=True)
    name = Str(required=True)


class Evidence(Schema):
    """Where in the document a value stands. Offsets are code points into the document's text."""

    page = Int(required=True, allow_none=True, metadata={"description": "Counted from 1."})
    box = List(
        Float(),
        required=True,
        allow_none=True,
        metadata={"description": "[x0, y0, x1, y1] in 0..1 from the page's top left."},
    )
    start = Int(required=True, allow_none=True)
    end = Int(required=True, allow_none=True)
    text = Str(required=True, allow_none=True, max_length=20_000)


class Tag(Schema):
    """One value of a field, in the field's canonical form."""

    field = Str(required=True)
    value = Any_(required=True, allow_none=True, metadata={"description": "Typed by the field."})
    row = Int(required=True, allow_none=True, metadata={"description": "In a table, from 0."})
    confidence = Float(required=True, allow_none=True)
    source = Str(required=True, validate=OneOf(TAG_SOURCES))
    evidence = List(Nested(Evidence), required=True)


class EvidenceInput(Schema):
    """Where a value stands: a page with or without a box, offsets, or text."""

    page = Int(allow_none=True, minimum=1)
    box = List(Float(), allow_none=True)
    start = Int(allow_none=True)
    end = Int(allow_none=True)
    text = Str(allow_none=True, max_length=20_000)


class TagInput(Schema):
    """One value. The tag of a table's cell names `table.column` and carries its row."""

    field = Str(required=True)
    value = Any_(allow_none=True)
    row = Int(allow_none=True)
    confidence = Float(allow_none=True)
    source = Str(allow_none=True, validate=OneOf(TAG_SOURCES))
    evidence = List(Nested(EvidenceInput), allow_none=True)


_NUMBER = (int, float)
_TAG_TYPES: dict[str, tuple[type, ...]] = {
    "field": (str,),
    "row": (int,),
    "confidence": _NUMBER,
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


class Tags(List):
    """A list of tags, held to the shape of `TagInput` and given on as it came.

    marshmallow would take a second for 5,000 tags; whether the values fit their fields is for the
    schema version to say (`engines.fields`), which reads each member again anyway.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(Nested(TagInput), **kwargs)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> list[Any]:
        if not isinstance(value, list):
            raise self.make_error("invalid")
        for position, tag in enumerate(value):
            for path, message in _misfits(tag):
                raise ValidationError({f"{position}{path}": [message]})
        return value


def _misfits(tag: Any) -> Iterator[tuple[str, str]]:
    yield from _wrong_members(tag, "", _TAG_TYPES, free="value")
    if tag.get("field") is None:
        yield ".field", "Missing data for required field."
    for position, piece in enumerate(tag.get("evidence") or ()):
        yield from _wrong_members(piece, f".evidence.{position}", _EVIDENCE_TYPES)


def _wrong_members(
    value: Any, path: str, types: dict[str, tuple[type, ...]], free: str = ""
) -> Iterator[tuple[str, str]]:
    if type(value) is not dict:
        yield path, "Must be an object."
        return
    for name, member in value.items():
        allowed = types.get(name)
        if allowed is None:
            if name != free:
                yield f"{path}.{name[:64]}", "Unknown field."
        elif member is not None and type(member) not in allowed:
            yield f"{path}.{name}", "Not of the declared type."


class TagSet(Schema):
    """A label set: one person's or model's labels of one document."""

    id = Uuid(required=True)
    artifact_id = Uuid(required=True)
    schema_id = Uuid(required=True)
    schema_version_id = Uuid(required=True)
    labeler = Nested(Person, required=True, allow_none=True)
    reviewer = Nested(Person, required=True, allow_none=True)
    source = Str(required=True, validate=OneOf(SOURCES))
    tags = List(Nested(Tag), required=True)
    tag_count = Int(required=True)
    status = Str(required=True, validate=OneOf(STATES))
    submitted_at = UtcDateTime(required=True, allow_none=True)
    decided_at = UtcDateTime(required=True, allow_none=True)
    reason = Str(
        required=True, allow_none=True, metadata={"description": "What the reviewer said, if so."}
    )
    rejections = Int(required=True, metadata={"description": "How often it was rejected."})
    seconds_spent = Int(required=True)
    comment_count = Int(required=True)
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)
    revision = Int(required=True)


class TagSetListed(TagSet):
    """A label set in a list. Tags that are too many for a page of this size are left out (null)."""

    tags = List(
        Nested(Tag),
        required=True,
        allow_none=True,
        metadata={"description": "Null where they exceed 8 MiB divided by page_size."},
    )


class CreateTagSet(Schema):
    """What to start from: nothing, or another label set of the same document."""

    source = Str(
        data_key="from",
        load_default="empty",
        max_length=36,
        metadata={"description": "`empty`, or the id of a label set to copy the tags of."},
    )


class ReplaceTags(Schema):
    """All tags of the draft, and the revision that they are based on."""

    tags = Tags(required=True)
    revision = Int(metadata={"description": "The revision that was read; or send If-Match."})
    seconds_spent = Int(metadata={"description": "Working time in all; left as it is if absent."})


class AcceptTagSet(Schema):
    """An acceptance, with corrections if any."""

    tags = Tags(metadata={"description": "The corrected tags, all of them."})
    note = Str(max_length=5000)
    revision = Int()


def _said(value: str) -> None:
    if not value.strip():
        raise ValidationError("Must not be blank.")


def _recipient(value: str) -> None:
    if value in ("labeler", "pool"):
        return
    try:
        UUID(value)
    except ValueError:
        raise ValidationError("Must be labeler, pool or a user's id.") from None


class RejectTagSet(Schema):
    """A rejection, its reason, and who labels next."""

    reason = Str(required=True, max_length=5000, validate=_said)
    send_to = Str(
        load_default="labeler",
        max_length=45,
        validate=_recipient,
        metadata={"description": "`labeler`, `pool`, or the id of a member."},
    )
    revision = Int()


class TagSetFilters(Schema):
    """Filters of the list."""

    artifact_id = Uuid()
    schema_id = Uuid()
    labeler_id = Uuid()
    status = Str(validate=OneOf(STATES))
    source = Str(validate=OneOf(SOURCES))
    created_after = UtcDateTime()
    created_before = UtcDateTime()
