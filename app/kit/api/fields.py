"""Marshmallow fields with the rules that every request here obeys.

JSON says what type a value has, so the fields of a body coerce nothing; the fields of a query
string parse text. No text that PostgreSQL could not hold comes through.
"""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, ClassVar

from marshmallow import Schema as BaseSchema
from marshmallow import ValidationError, fields, validate

from app.kit.visible_text import INVISIBLE_CLASS, has_visible_character

MAX_INT = 2**31 - 1
MAX_DEPTH = 64
FORM_BYTES = 256 * 1024
"""What a multipart body may hold beside its file."""
_DIGITS = re.compile(r"-?[0-9]{1,18}", re.ASCII)


def check_text(value: str) -> str:
    """Raise ValidationError on NUL or a lone surrogate: no database or UTF-8 holds them."""
    if "\x00" in value:
        raise ValidationError("NUL characters are not allowed.")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValidationError("Lone surrogates are not allowed.") from None
    return value


def check_json(value: Any, depth: int = 0) -> None:
    """`check_text` for every string in a JSON value; more than 64 levels are refused."""
    if depth > MAX_DEPTH:
        raise ValidationError("Nested too deeply.")
    if isinstance(value, str):
        check_text(value)
    elif isinstance(value, dict):
        for key, member in value.items():
            check_text(key)
            check_json(member, depth + 1)
    elif isinstance(value, list):
        for member in value:
            check_json(member, depth + 1)


class Schema(BaseSchema):
    """Base of all schemas; members keep the order in which they are declared.

    `keywords` are of JSON Schema, for the description only.
    """

    keywords: ClassVar[Mapping[str, Any]] = {}


class UploadSchema(Schema):
    """The form of a multipart body with a `file`, or with the members `instead_of_file`."""

    instead_of_file: ClassVar[tuple[str, ...]]


class Str(fields.String):
    """Text of at most `max_length` code points, stripped of nothing."""

    def __init__(self, *, max_length: int = 10_000, min_length: int = 0, **kwargs: Any) -> None:
        checks = kwargs.pop("validate", [])
        checks = list(checks) if isinstance(checks, list | tuple) else [checks]
        length = validate.Length(min=min_length or None, max=max_length)
        super().__init__(validate=[length, *checks], **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        return check_text(super()._deserialize(value, *args, **kwargs))


class ShownOnce(Str):
    """A secret of an answer, which nothing keeps: null when the answer is repeated."""

    def __init__(self, description: str) -> None:
        text = f"{description} Null in an answer that an idempotency key repeats."
        super().__init__(required=True, allow_none=True, metadata={"description": text})


UUID_PATTERN = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
NOT_BLANK = {"pattern": r"\S"}
"""Describes a text that has more than spaces."""
_CONTROL = r"\u0000-\u001f\u007f"
_NAME = rf"^\s*[^{_CONTROL}]*[^{_CONTROL}{INVISIBLE_CLASS}][^{_CONTROL}]*\s*$"


class Name(Str):
    """A name that people see: with a visible character, and without control characters.

    The pattern of the description leaves out the rarer ones of the invisible characters.
    """

    def __init__(self, *, max_length: int = 200, **kwargs: Any) -> None:
        kwargs["metadata"] = {"pattern": _NAME, **kwargs.get("metadata", {})}
        super().__init__(max_length=max_length, min_length=1, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, *args, **kwargs).strip()
        if not has_visible_character(text):
            raise ValidationError("Must not be blank.")
        if any(ord(c) < 32 or ord(c) == 127 for c in text):  # noqa: PLR2004 - ASCII controls
            raise ValidationError("Control characters are not allowed.")
        return text


class Int(fields.Integer):
    """A JSON integer, which 1.0 is too; no text, no fraction, no boolean."""

    def __init__(self, *, minimum: int = 0, maximum: int = MAX_INT, **kwargs: Any) -> None:
        super().__init__(strict=True, validate=validate.Range(min=minimum, max=maximum), **kwargs)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> int:
        if type(value) is float and value.is_integer():
            return int(value)
        if type(value) is not int:
            raise self.make_error("invalid")
        return value


class QueryInt(fields.Integer):
    """An integer of a query string or form, in ASCII digits with at most a minus before them."""

    def __init__(self, *, minimum: int = 0, maximum: int = MAX_INT, **kwargs: Any) -> None:
        super().__init__(validate=validate.Range(min=minimum, max=maximum), **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> int:
        # Python's own rule takes more: 1_0, +1, spaces, and the digits of every script.
        if type(value) is str and _DIGITS.fullmatch(value) is None:
            raise self.make_error("invalid")
        if type(value) not in (int, str):
            raise self.make_error("invalid")
        return int(super()._deserialize(value, *args, **kwargs))


class Float(fields.Float):
    """A JSON number; no text, no boolean, finite."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> float:
        if type(value) not in (int, float):
            raise self.make_error("invalid")
        return float(super()._deserialize(value, *args, **kwargs))


class Bool(fields.Boolean):
    """A JSON boolean, and nothing that looks like one."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class QueryBool(fields.Boolean):
    """`true` or `false` in a query string or form, or a JSON boolean in a body of filters."""

    # Capitalized as generated Python clients write a form's members.
    truthy = {"true", "True"}
    falsy = {"false", "False"}

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        # Told by its type: among the words above, true would be 1 as well.
        if isinstance(value, bool):
            return value
        return super()._deserialize(value, *args, **kwargs)


class UtcDateTime(fields.DateTime):
    """ISO 8601 with an offset; in and out as UTC, written with `Z`."""

    def _serialize(self, value: datetime | None, *_: Any, **__: Any) -> str | None:
        if value is None:
            return None
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> datetime:
        if not isinstance(value, str):
            raise self.make_error("invalid", input=value, obj_type="datetime")
        # RFC 3339 takes its letters in either case, Python the z as a capital only.
        parsed = super()._deserialize(value.replace("z", "Z"), *args, **kwargs)
        if parsed.tzinfo is None:
            raise ValidationError("Must carry a time zone, as in 2026-01-31T09:30:00Z.")
        try:
            return parsed.astimezone(UTC)
        except OverflowError:
            raise self.make_error("invalid", input=value, obj_type="datetime") from None


class Date(fields.Date):
    """A day of the calendar, as in 2026-01-31."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> date:
        if not isinstance(value, str) or len(value) != len("2026-01-31"):
            raise self.make_error("invalid", input=value, obj_type="date")
        return super()._deserialize(value, *args, **kwargs)


class JsonObject(fields.Dict):
    """A JSON object of any members."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        check_json(value)
        return super()._deserialize(value, *args, **kwargs)  # type: ignore[no-untyped-call]


class Any_(fields.Raw):  # noqa: N801 - `Any` is taken
    """Any JSON value."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        check_json(value)
        return super()._deserialize(value, *args, **kwargs)


Uuid = fields.UUID


class List(fields.List):  # type: ignore[type-arg]
    """A list of at most `max_items`, counted before its items are looked at one by one."""

    def __init__(self, inner: Any, *, max_items: int = 10_000, **kwargs: Any) -> None:
        super().__init__(inner, **kwargs)
        self.max_items = max_items

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(value, list) and len(value) > self.max_items:
            raise ValidationError(f"Longer than {self.max_items} items.")
        return super()._deserialize(value, *args, **kwargs)


Nested = fields.Nested
OneOf = validate.OneOf
