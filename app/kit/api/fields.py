"""Marshmallow fields with the validation rules of this API.

Fields of JSON bodies never coerce types; fields of query strings (`QueryInt`, `QueryBool`) parse
text. All fields reject strings that PostgreSQL cannot store.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any, ClassVar, TypedDict, Unpack

from marshmallow import Schema as BaseSchema
from marshmallow import ValidationError, fields
from marshmallow.types import Validator
from marshmallow.validate import Length, OneOf, Range

from app.kit.visible_text import INVISIBLE_CLASS, has_visible_character

MAX_INT = 2**31 - 1
MAX_JSON_DEPTH = 64
MAX_FORM_BYTES = 256 * 1024
"""The maximum size in bytes of a multipart body without its file."""
_INTEGER = re.compile(r"-?[0-9]{1,18}", re.ASCII)


def check_text(value: str) -> str:
    """Return `value` unchanged. Raises ValidationError for NUL characters and lone surrogates."""
    if "\x00" in value:
        raise ValidationError("NUL characters are not allowed.")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValidationError("Lone surrogates are not allowed.") from None
    return value


def check_json(value: object, depth: int = 0) -> None:
    """Raise ValidationError if JSON is nested too deeply or has text that `check_text` rejects."""
    if depth > MAX_JSON_DEPTH:
        raise ValidationError(f"Must not be nested deeper than {MAX_JSON_DEPTH} levels.")
    if isinstance(value, str):
        check_text(value)
    elif isinstance(value, dict):
        for key, child in value.items():
            check_text(key)
            check_json(child, depth + 1)
    elif isinstance(value, list):
        for child in value:
            check_json(child, depth + 1)


class FieldOptions(TypedDict, total=False):
    """Keyword arguments that all fields accept."""

    required: bool
    allow_none: bool
    load_default: object
    attribute: str
    data_key: str
    dump_default: object
    metadata: Mapping[str, Any]
    description: str


Data = Mapping[str, object] | None
"""The object that contains a field's value. marshmallow passes it to `_deserialize`."""


class Schema(BaseSchema):
    """Base class of all schemas. Fields keep the order in which they are declared.

    `keywords` are JSON Schema keywords that are added to the OpenAPI description.
    """

    keywords: ClassVar[Mapping[str, Any]] = {}


class Response(Schema):
    """Base class of response schemas. Every field is present, and null only with `allow_none`."""

    def on_bind_field(self, _name: str, field: fields.Field[Any]) -> None:
        """Document the field as required."""
        field.required = True


class _DescribedField:
    """Mixin that adds the argument `description`, which documents the field in OpenAPI."""

    def __init__(self, *args: object, description: str | None = None, **options: Any) -> None:
        if description is not None:
            options["metadata"] = {**options.get("metadata", {}), "description": description}
        super().__init__(*args, **options)


class UploadSchema(Schema):
    """The fields of a multipart body. It has either a `file` or the fields in `instead_of_file`."""

    instead_of_file: ClassVar[tuple[str, ...]]


class Str(_DescribedField, fields.String):
    """Text of at most `max_length` code points. Whitespace is kept."""

    def __init__(
        self,
        *,
        max_length: int = 10_000,
        min_length: int = 0,
        validate: Validator | Iterable[Validator] = (),
        **options: Unpack[FieldOptions],
    ) -> None:
        length = Length(min=min_length or None, max=max_length)
        validators = [validate] if callable(validate) else validate
        super().__init__(validate=[length, *validators], **options)

    def _deserialize(self, value: object, attr: str | None, data: Data, **options: object) -> str:
        return check_text(super()._deserialize(value, attr, data, **options))


class ShownOnce(Str):
    """A secret that is shown only in one response. It is null if this response is replayed."""

    def __init__(self, description: str) -> None:
        text = f"{description} Null if the response is replayed for an idempotency key."
        super().__init__(required=True, allow_none=True, metadata={"description": text})


UUID_PATTERN = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
NOT_BLANK = {"pattern": r"\S"}
"""JSON Schema keyword for text with at least one character that is not whitespace."""
_CONTROLS = r"\u0000-\u001f\u007f"
_NAME_PATTERN = rf"^\s*[^{_CONTROLS}]*[^{_CONTROLS}{INVISIBLE_CLASS}][^{_CONTROLS}]*\s*$"


class Name(Str):
    """A display name. It must have a visible character and must not have control characters.

    Whitespace around it is removed first. The documented pattern omits rare invisible characters.
    """

    def __init__(self, *, max_length: int = 200, **options: Unpack[FieldOptions]) -> None:
        options["metadata"] = {"pattern": _NAME_PATTERN, **options.get("metadata", {})}
        super().__init__(max_length=max_length, min_length=1, **options)

    def _deserialize(self, value: object, attr: str | None, data: Data, **options: object) -> str:
        text = super()._deserialize(value, attr, data, **options).strip()
        if not has_visible_character(text):
            raise ValidationError("Must not be blank.")
        if any(ord(c) < 32 or ord(c) == 127 for c in text):  # noqa: PLR2004 - ASCII controls
            raise ValidationError("Control characters are not allowed.")
        return text


class Int(_DescribedField, fields.Integer):
    """A JSON integer, including 1.0. Strings, fractions and booleans are rejected."""

    def __init__(
        self, *, minimum: int = 0, maximum: int = MAX_INT, **options: Unpack[FieldOptions]
    ) -> None:
        super().__init__(strict=True, validate=Range(min=minimum, max=maximum), **options)

    def _deserialize(self, value: object, *_: object, **__: object) -> int:
        if type(value) is float and value.is_integer():
            return int(value)
        if type(value) is not int:
            raise self.make_error("invalid")
        return value


class QueryInt(_DescribedField, fields.Integer):
    """An integer in a query string or form: ASCII digits with an optional minus sign."""

    def __init__(
        self, *, minimum: int = 0, maximum: int = MAX_INT, **options: Unpack[FieldOptions]
    ) -> None:
        super().__init__(validate=Range(min=minimum, max=maximum), **options)

    def _deserialize(self, value: object, attr: str | None, data: Data, **options: object) -> int:
        # `int` also accepts 1_0, +1, spaces, and the digits of every script.
        if type(value) is str and _INTEGER.fullmatch(value) is None:
            raise self.make_error("invalid")
        if type(value) not in (int, str):
            raise self.make_error("invalid")
        return int(super()._deserialize(value, attr, data, **options))


class Float(_DescribedField, fields.Float):
    """A finite JSON number. Strings and booleans are rejected."""

    def _deserialize(self, value: object, attr: str | None, data: Data, **options: object) -> float:
        if type(value) not in (int, float):
            raise self.make_error("invalid")
        return float(super()._deserialize(value, attr, data, **options))


class Bool(_DescribedField, fields.Boolean):
    """A JSON boolean. Strings and numbers are rejected."""

    def _deserialize(self, value: object, *_: object, **__: object) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class QueryBool(_DescribedField, fields.Boolean):
    """`true` or `false` in a query string or form, or a JSON boolean in a JSON body."""

    # Generated Python clients capitalize booleans in forms.
    truthy = {"true", "True"}
    falsy = {"false", "False"}

    def _deserialize(self, value: object, attr: str | None, data: Data, **options: object) -> bool:
        # The base class accepts only the strings above, so it would reject a JSON boolean.
        if isinstance(value, bool):
            return value
        return super()._deserialize(value, attr, data, **options)


class UtcDateTime(_DescribedField, fields.DateTime):
    """A time in ISO 8601 with an offset. It is converted to UTC, and written with `Z`."""

    def _serialize(self, value: datetime | None, *_: object, **__: object) -> str | None:
        if value is None:
            return None
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")

    def _deserialize(
        self, value: object, attr: str | None, data: Data, **options: object
    ) -> datetime:
        if not isinstance(value, str):
            raise self.make_error("invalid", input=value, obj_type="datetime")
        # RFC 3339 allows `z`; Python 3.11 requires `Z`.
        parsed = super()._deserialize(value.replace("z", "Z"), attr, data, **options)
        if parsed.tzinfo is None:
            raise ValidationError("Must have a time zone, as in 2026-01-31T09:30:00Z.")
        try:
            return parsed.astimezone(UTC)
        except OverflowError:
            raise self.make_error("invalid", input=value, obj_type="datetime") from None


class Date(_DescribedField, fields.Date):
    """A calendar date, such as 2026-01-31."""

    def _deserialize(self, value: object, attr: str | None, data: Data, **options: object) -> date:
        if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII):
            raise self.make_error("invalid", input=value, obj_type="date")
        return super()._deserialize(value, attr, data, **options)


class JsonObject(_DescribedField, fields.Dict):
    """A JSON object with any properties."""

    def _deserialize(self, value: object, *args: object, **options: object) -> Any:
        check_json(value)
        return super()._deserialize(value, *args, **options)  # type: ignore[no-untyped-call]


class Any_(_DescribedField, fields.Raw):  # noqa: N801 - unlike `typing.Any`
    """Any JSON value."""

    def _deserialize(
        self, value: object, attr: str | None, data: Data, **options: object
    ) -> object:
        check_json(value)
        return super()._deserialize(value, attr, data, **options)


class Uuid(_DescribedField, fields.UUID):
    """A UUID field that accepts the argument `description`."""


class List(_DescribedField, fields.List):  # type: ignore[type-arg]
    """A list of at most `max_items` items. The length is checked before the items are validated."""

    def __init__(
        self,
        inner: fields.Field[Any],
        *,
        max_items: int = 10_000,
        validate: Validator | None = None,
        **options: Unpack[FieldOptions],
    ) -> None:
        super().__init__(inner, validate=validate, **options)
        self.max_items = max_items

    def _deserialize(
        self, value: object, attr: str | None, data: Data, **options: object
    ) -> list[Any]:
        if isinstance(value, list) and len(value) > self.max_items:
            raise ValidationError(f"Must not have more than {self.max_items} items.")
        return super()._deserialize(value, attr, data, **options)


class Nested(_DescribedField, fields.Nested):
    """A nested object with its own schema, or a list of nested objects."""


__all__ = ["OneOf"]
