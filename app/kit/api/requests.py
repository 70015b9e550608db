"""Reading and validation of request bodies, query strings, path parameters and If-Match."""

from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote, unquote_to_bytes
from uuid import UUID

from flask import request
from marshmallow import EXCLUDE, Schema, ValidationError, fields

from app.kit import errors
from app.kit.api import strict_json
from app.kit.api.encodings import BodyReader
from app.kit.api.fields import Int
from app.kit.api.fields import Schema as BaseSchema
from app.kit.errors import ApiError

MAX_VALUES = 200_000
"""The maximum number of values in a JSON body, including nested values."""
MAX_ERRORS = 100
"""The maximum number of errors in `details.errors`."""
_MAX_ECHO_LENGTH = 64
"""The maximum length of a name from the request that an error response repeats."""
_REPEATED_MESSAGE = "This field or parameter is sent more than once."
_NOT_UTF8_MESSAGE = "Must be valid UTF-8 text."
_NUL_MESSAGE = "NUL characters are not allowed."
_JSON_TYPES = ("application/json",)
_UPLOAD_TYPES = ("multipart/form-data",)
_FORM_TYPES = ("application/x-www-form-urlencoded",)
IF_MATCH_PATTERN = r'^(\*|(W/)?"[0-9]{1,9}")$'
_MAX_FORM_FIELDS = 50
_CHUNK_BYTES = 64 * 1024


class _EmptyBody(BaseSchema):
    """An empty body, for operations that do not declare a body."""


class RevisionRead(BaseSchema):
    """A body with only the revision that the change is based on, as an alternative to If-Match."""

    revision = Int()


EMPTY_BODY, REVISION_BODY = _EmptyBody(), RevisionRead()


def _flatten_messages(messages: object, path: str) -> list[dict[str, str]]:
    if isinstance(messages, Mapping):
        flattened: list[dict[str, str]] = []
        for key, value in messages.items():
            name = str(key)[:_MAX_ECHO_LENGTH]
            field_path = path if key == "_schema" else f"{path}.{name}" if path else name
            flattened += _flatten_messages(value, field_path)
            if len(flattened) >= MAX_ERRORS:
                break
        return flattened[:MAX_ERRORS]
    if isinstance(messages, list):
        return [{"field": path, "message": str(message)} for message in messages]
    return [{"field": path, "message": str(messages)}]


def build_validation_error(failure: ValidationError) -> ApiError:
    """Return a 422 error for the first invalid field, with up to 100 errors in `details.errors`."""
    details = _flatten_messages(failure.messages, "")
    error = details[0]
    return ApiError(
        "unprocessable", error["message"], field=error["field"] or None, details={"errors": details}
    )


def load(schema: Schema, data: Mapping[str, Any]) -> dict[str, Any]:
    """Validate `data` with `schema`, and return the result. Raises 422 if `data` is invalid."""
    try:
        loaded: dict[str, Any] = schema.load(data)
    except ValidationError as failure:
        raise build_validation_error(failure) from None
    return loaded


def read_body(limit: int) -> bytes:
    """Return the decompressed request body.

    Raises 413 as soon as the body exceeds `limit` bytes, 415 if the content coding is not
    supported, and 422 if the body is not valid gzip.
    """

    def build_size_error() -> ApiError:
        message = f"The body is larger than {limit} bytes."
        return ApiError("payload_too_large", message, details={"limit": limit})

    if (request.content_length or 0) > limit:
        raise build_size_error()
    body = BodyReader(limit, build_size_error)
    return b"".join(iter(lambda: body.read(_CHUNK_BYTES), b""))


def read_json_body(
    schema: Schema, limit: int, *, has_upload: bool = False
) -> tuple[dict[str, Any], bytes]:
    """Return the validated JSON body, and its raw bytes.

    If `has_upload`, the error for another media type also names the media type of uploads. Raises
    400 if a property is repeated or an integer is too large, 413 if the body exceeds `limit` bytes,
    415 if its media type or content coding is not supported, and 422 if it is otherwise invalid.
    """
    if request.mimetype not in _JSON_TYPES and (request.mimetype or request.content_length):
        raise _build_media_type_error(_JSON_TYPES + (_UPLOAD_TYPES if has_upload else ()))
    raw = read_body(limit)
    if not raw.strip():
        raise errors.unprocessable("body", "A JSON body is required.")
    return _load_object(schema, raw), raw


def read_optional_body(schema: Schema, limit: int) -> tuple[dict[str, Any], bytes]:
    """Return the validated optional JSON body with defaults, and the raw body.

    An empty body may have any media type, because some clients always send a media type. For a body
    that is empty after validation, such as `{}`, the raw body is returned as empty too. Raises 400
    if a property is repeated or an integer is too large, 413 if the body exceeds `limit` bytes, 415
    if its media type or content coding is not supported, and 422 if it is otherwise invalid.
    """
    has_body = request.content_length or "Transfer-Encoding" in request.headers
    raw = read_body(limit) if has_body else b""
    if not raw.strip():
        return load(schema, {}), b""
    if request.mimetype not in _JSON_TYPES:
        raise _build_media_type_error(_JSON_TYPES)
    body = _load_object(schema, raw)
    return body, raw if body else b""


def _load_object(schema: Schema, raw: bytes) -> dict[str, Any]:
    try:
        data = strict_json.parse(raw)
    except strict_json.MalformedError as failure:
        raise errors.unprocessable("body", f"Malformed JSON: {failure}") from None
    except strict_json.NestedTooDeeplyError as failure:
        raise errors.unprocessable("body", str(failure)) from None
    if not isinstance(data, dict):
        raise errors.unprocessable("body", "The body must be a JSON object.")
    _check_size(data)
    return load(schema, data)


def _build_media_type_error(supported: tuple[str, ...]) -> ApiError:
    return ApiError(
        "unsupported_media_type",
        f"The body must be {' or '.join(supported)}.",
        details={"supported": list(supported)},
    )


def read_form_body(schema: Schema, limit: int) -> tuple[dict[str, Any], bytes]:
    """Return the validated URL-encoded form, and its raw bytes.

    Each value is a string. A field must not be sent twice, unless it is unknown and the schema
    ignores unknown fields. Raises 413 if the form exceeds `limit` bytes, 415 if the body is not a
    form, and 422 if the form is invalid.
    """
    if request.mimetype not in _FORM_TYPES and (request.mimetype or request.content_length):
        raise _build_media_type_error(_FORM_TYPES)
    raw = read_body(limit)
    try:
        # A form is ASCII. Other characters are percent-encoded UTF-8.
        pairs = parse_qsl(
            raw.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MAX_FORM_FIELDS,
        )
    except UnicodeDecodeError:
        raise errors.unprocessable("body", "The form must be percent-encoded UTF-8.") from None
    except ValueError:
        raise errors.unprocessable(
            "body", f"The form must not have more than {_MAX_FORM_FIELDS} fields."
        ) from None
    form: dict[str, Any] = {}
    declared_names = _list_declared_names(schema)
    for name, value in pairs:
        if name in form and (name in declared_names or schema.unknown != EXCLUDE):
            raise errors.unprocessable(
                name.replace("\x00", "")[:_MAX_ECHO_LENGTH], _REPEATED_MESSAGE
            )
        form[name] = value
    return load(schema, form), raw


def _check_size(data: dict[str, Any]) -> None:
    """Raise 422 if the body has more than MAX_VALUES values.

    Counting values is far cheaper than validating them.
    """
    count = 0
    pending: list[dict[str, Any] | list[Any]] = [data]
    while pending:
        value = pending.pop()
        children = value.values() if isinstance(value, dict) else value
        count += len(children)
        if count > MAX_VALUES:
            raise errors.unprocessable("body", f"Must not have more than {MAX_VALUES} values.")
        pending += [child for child in children if isinstance(child, dict | list)]


def read_query(schema: Schema) -> dict[str, Any]:
    """Return the validated query string. Of the declared parameters, only lists may be repeated.

    Raises 422 if the query string is invalid.
    """
    _check_query_is_utf8()
    data: dict[str, Any] = {}
    lists = _find_list_parameters(schema)
    for name, values in request.args.lists():
        for text in (name, *values):
            if "\x00" in text:
                raise errors.unprocessable(name.replace("\x00", ""), _NUL_MESSAGE)
        if len(values) > 1 and name not in lists and name in _list_declared_names(schema):
            raise errors.unprocessable(name, _REPEATED_MESSAGE)
        data[name] = values if name in lists else values[0]
    return load(schema, data)


def _check_query_is_utf8() -> None:
    """Raise 422 if a parameter is not UTF-8.

    werkzeug would accept it, and leave the invalid bytes percent-encoded.
    """
    for pair in request.query_string.split(b"&"):
        if b"%" not in pair and pair.isascii():
            continue
        try:
            unquote_to_bytes(pair).decode()
        except UnicodeDecodeError:
            name = unquote(pair.partition(b"=")[0])[:_MAX_ECHO_LENGTH].replace("\x00", "")
            raise errors.unprocessable(name, _NOT_UTF8_MESSAGE) from None


def _list_declared_names(schema: Schema) -> set[str]:
    """Return the names of the fields or parameters that the schema declares."""
    return {field.data_key or name for name, field in schema.load_fields.items()}


@cache
def _find_list_parameters(schema: Schema) -> frozenset[str]:
    """Return the names of the parameters that are lists."""
    return frozenset(n for n, f in schema.load_fields.items() if isinstance(f, fields.List))


def parse_record_id(text: str) -> UUID:
    """Return the id in a path parameter. Raises 404 if it is not a UUID."""
    try:
        if len(text) == 36:  # noqa: PLR2004 - only the canonical form
            return UUID(text)
    except ValueError:
        pass
    raise errors.not_found()


def read_if_match() -> int | None:
    """Return the revision in the `If-Match` header, or None if the header is missing or `*`.

    Raises 422 if the header does not contain a revision.
    """
    header = request.headers.get("If-Match")
    if header is None or header.strip() == "*":
        return None
    text = header.strip().removeprefix("W/").strip('"')
    if not (text.isascii() and text.isdigit() and len(text) < 10):  # noqa: PLR2004 - fits int4
        raise errors.unprocessable("If-Match", 'Must be a revision in quotes, for example "3".')
    return int(text)
