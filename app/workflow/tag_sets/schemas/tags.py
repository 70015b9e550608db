"""Schemas of tags."""

from collections.abc import Iterator
from typing import Any

from marshmallow import ValidationError
from marshmallow.validate import Range

from app.engines.fields import MAX_EVIDENCE, MAX_ROW, MAX_TAGS
from app.kit.api.fields import Any_, Float, Int, List, Nested, OneOf, Response, Schema, Str

TAG_SOURCES = ("human", "model", "import")


class Evidence(Response):
    """The place of a value in the document. Offsets are code points into the document's text."""

    page = Int(allow_none=True, description="The page number, from 1.")
    box = List(
        Float(),
        allow_none=True,
        description="[x0, y0, x1, y1], each 0 to 1, from the top left of the page.",
    )
    start = Int(allow_none=True)
    end = Int(allow_none=True)
    text = Str(allow_none=True, max_length=20_000)


class Tag(Response):
    """One value of a field, in the field's canonical form."""

    field = Str()
    value = Any_(allow_none=True, description="The type follows from the field.")
    row = Int(allow_none=True, description="The row in a table, from 0.")
    confidence = Float(allow_none=True)
    source = Str(validate=OneOf(TAG_SOURCES))
    evidence = List(Nested(Evidence))


class EvidenceInput(Schema):
    """The place of a value: a page with or without a box, offsets, or text."""

    page = Int(allow_none=True, minimum=1)
    box = List(Float(), allow_none=True, metadata={"minItems": 4, "maxItems": 4})
    start = Int(allow_none=True)
    end = Int(allow_none=True)
    text = Str(allow_none=True, max_length=20_000)


class TagInput(Schema):
    """A value. The tag of a table's cell has `table.column` as its field, and its row."""

    field = Str(required=True)
    value = Any_(allow_none=True)
    row = Int(maximum=MAX_ROW, allow_none=True)
    confidence = Float(validate=Range(min=0, max=1), allow_none=True)
    source = Str(allow_none=True, validate=OneOf(TAG_SOURCES))
    evidence = List(Nested(EvidenceInput), max_items=MAX_EVIDENCE, allow_none=True)


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
    """A list of tags that is validated like `TagInput` but returned unchanged.

    marshmallow would need a second for 5,000 tags. Whether the values fit their fields is checked
    against the schema version (`engines.fields`), which reads each member again anyway.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(Nested(TagInput), max_items=MAX_TAGS, **kwargs)

    def _deserialize(self, value: object, *_: object, **__: object) -> list[Any]:
        if not isinstance(value, list):
            raise self.make_error("invalid")
        for position, tag in enumerate(value):
            for path, message in _find_errors(tag):
                raise ValidationError({f"{position}{path}": [message]})
        return value


def _find_errors(tag: object) -> Iterator[tuple[str, str]]:
    yield from _find_member_errors(tag, "", _TAG_TYPES, free="value")
    if not isinstance(tag, dict):
        return
    if tag.get("field") is None:
        yield ".field", "Missing data for required field."
    for position, piece in enumerate(tag.get("evidence") or ()):
        yield from _find_member_errors(piece, f".evidence.{position}", _EVIDENCE_TYPES)


def _find_member_errors(
    value: object, path: str, types: dict[str, tuple[type, ...]], free: str = ""
) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict):
        yield path, "Must be an object."
        return
    for name, member in value.items():
        allowed = types.get(name)
        if allowed is None:
            if name != free:
                yield f"{path}.{name[:64]}", "Unknown field."
        elif (
            member is not None
            and type(member) not in allowed
            and not _is_whole_number(member, allowed)
        ):
            yield f"{path}.{name}", "The type of this member is wrong."


def _is_whole_number(member: object, allowed: tuple[type, ...]) -> bool:
    """Return whether a number such as 1.0, an integer in JSON, stands for an allowed integer."""
    return int in allowed and isinstance(member, float) and member.is_integer()
