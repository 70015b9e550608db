"""Schemas of tags."""

from collections.abc import Iterator
from typing import Any, Unpack

from marshmallow import ValidationError
from marshmallow.validate import Range

from app.engines.fields import MAX_EVIDENCE, MAX_ROW, MAX_TAGS
from app.kit.api.fields import (
    Any_,
    FieldOptions,
    Float,
    Int,
    List,
    Nested,
    OneOf,
    Response,
    Schema,
    Str,
)

TAG_SOURCES = ("human", "model", "import")


class Evidence(Response):
    """The location of a value in the document. Offsets count code points in the document's text."""

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
    value = Any_(allow_none=True, description="The type depends on the field.")
    row = Int(allow_none=True, description="The row number in a table, from 0.")
    confidence = Float(allow_none=True)
    source = Str(validate=OneOf(TAG_SOURCES))
    evidence = List(Nested(Evidence))


class EvidenceInput(Schema):
    """The location of a value: offsets, a text, or a page, which may have a box."""

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

    marshmallow would need about one second to validate 5,000 tags. `engines.fields` later reads
    every property again, to check that the values fit the fields of the schema version.
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
        allowed = types.get(name)
        if allowed is None:
            if name != untyped_name:
                yield f"{path}.{name[:64]}", "Unknown field."
        elif (
            content is not None
            and type(content) not in allowed
            and not _is_allowed_integer(content, allowed)
        ):
            yield f"{path}.{name}", "This property has the wrong type."


def _is_allowed_integer(content: object, allowed: tuple[type, ...]) -> bool:
    """Return whether integers are allowed and `content` is a float with an integer value (1.0)."""
    return int in allowed and isinstance(content, float) and content.is_integer()
