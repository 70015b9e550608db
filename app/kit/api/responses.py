"""Builders for responses: JSON envelopes and their schemas, entity tags, pictures and downloads."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Literal
from urllib.parse import quote

import orjson
from flask import Response, g, request
from marshmallow import Schema, fields
from werkzeug.http import parse_range_header

from app.kit.api.dumpers import Dumper, compile_dumper, dump_many
from app.kit.errors import ApiError
from app.kit.pagination import Page
from app.kit.permissions import Role

_JSON_OPTIONS = orjson.OPT_UTC_Z
PictureFormat = Literal["png", "svg"]
PictureRenderer = Callable[[Any, PictureFormat], bytes]
"""A function that renders a handler's result as a picture in the requested format."""
_JSON = "application/json"
_PICTURE_FORMATS: dict[str, PictureFormat] = {"image/png": "png", "image/svg+xml": "svg"}


class PageMeta(Schema):
    """The metadata of a page: the size of the list, and cursors for the adjacent pages."""

    total = fields.Integer(required=True, metadata={"description": "The length of the whole list."})
    next_cursor = fields.String(required=True, allow_none=True)
    prev_cursor = fields.String(required=True, allow_none=True)
    page_size = fields.Integer(required=True)


@dataclass(frozen=True)
class Reply:
    """The result of a handler, with metadata or headers in addition to the data."""

    data: object
    meta: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Redirect:
    """A 303 response that sends the browser to another page."""

    location: str
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Download:
    """A file to be sent as the response.

    `read(start, end)` yields the bytes from `start` up to but excluding `end`. `on_send(is_range)`
    is called before the bytes are sent or the client is redirected. It is not called for HEAD
    requests and 304 responses. `link()` returns a URL to redirect to instead of sending bytes, or
    None.
    """

    read: Callable[[int, int], Iterator[bytes]]
    size: int
    media_type: str
    name: str
    etag: str
    inline: bool = False
    on_send: Callable[[bool], None] | None = None
    link: Callable[[], str | None] | None = None


@cache
def build_envelope(
    schema_class: type[Schema], *, many: bool, nullable: bool = False
) -> type[Schema]:
    """Return the schema of a response with a page of records (`many`) or with one record.

    If `nullable`, the record may be null.
    """
    name = schema_class.__name__ + ("OrNull" if nullable else "")
    data: fields.Field[Any] = fields.Nested(schema_class, required=True, allow_none=nullable)
    meta: fields.Field[Any] = fields.Dict(required=True)
    if many:
        data = fields.List(fields.Nested(schema_class), required=True)
        meta = fields.Nested(PageMeta, required=True)
    return type(f"{name}{'Page' if many else 'Response'}", (Schema,), {"data": data, "meta": meta})


def _encode_default(value: object) -> str:
    if type(value).__module__ in ("decimal", "ipaddress"):
        return str(value)
    raise TypeError(f"cannot encode a {type(value).__name__}")


def encode(value: object) -> bytes:
    """Encode `value` as JSON. UUIDs, decimals and IPs become strings; UTC times end with `Z`."""
    return orjson.dumps(value, default=_encode_default, option=_JSON_OPTIONS)


def build_json_response(
    body: bytes, status: int, headers: dict[str, str] | None = None
) -> Response:
    """Return a response with the media type JSON. `body` is the encoded JSON."""
    response = Response(body, status, mimetype="application/json")
    if headers:
        response.headers.update(headers)
    return response


def build_response(result: object, dump: Dumper | None, status: int) -> Response:
    """Return the response for a record, `Reply`, `Page` or `Redirect`.

    `dump` converts the data. If it is None, the data is sent unchanged. The revision of a record
    becomes the `ETag` header.
    """
    if isinstance(result, Redirect):
        return Response(status=303, headers={**result.headers, "Location": result.location})
    if isinstance(result, Page):
        items = dump(result.items) if dump else result.items
        return build_json_response(encode({"data": items, "meta": result.build_meta()}), status)
    reply = result if isinstance(result, Reply) else Reply(result)
    data = dump(reply.data) if dump else reply.data
    headers = dict(reply.headers)
    if isinstance(data, dict) and data.get("revision") is not None:
        headers["ETag"] = f'"{data["revision"]}"'
    return build_json_response(encode({"data": data, "meta": reply.meta}), status, headers)


def negotiate_picture(
    respond: Callable[[Any], Response], render: PictureRenderer
) -> Callable[[Any], Response]:
    """Return a responder that renders the result if the request prefers a picture to JSON.

    For any other `Accept` header, the response is JSON.
    """

    def respond_as_accepted(result: object) -> Response:
        media_type = request.accept_mimetypes.best_match([_JSON, *_PICTURE_FORMATS], default=_JSON)
        picture_format = _PICTURE_FORMATS.get(media_type)
        if picture_format is None:
            response = respond(result)
        else:
            data = result.data if isinstance(result, Reply) else result
            response = Response(render(data, picture_format), mimetype=media_type)
            # An SVG that is opened as a page must not run scripts.
            response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
        response.vary.add("Accept")
        return response

    return respond_as_accepted


def build_picture_content() -> dict[str, Any]:
    """Return the OpenAPI `content` of a response that may be a picture, by media type."""
    return {name: {"schema": {"type": "string", "format": "binary"}} for name in _PICTURE_FORMATS}


def _build_disposition(name: str, *, inline: bool) -> str:
    ascii_name = "".join(
        c if c.isascii() and c.isprintable() and c not in '"\\;%' else "_" for c in name
    )
    disposition = "inline" if inline else "attachment"
    return f"{disposition}; filename=\"{ascii_name}\"; filename*=UTF-8''{quote(name, safe='')}"


def _parse_range(size: int) -> tuple[int, int] | None:
    """Return the start and end (exclusive) of the requested byte range, or None for all bytes.

    If the request has more than one range, the whole file is sent. Raises 416 if the range is
    outside the file.
    """
    header = parse_range_header(request.headers.get("Range"))
    if header is None or header.units != "bytes" or len(header.ranges) != 1:
        return None
    byte_range = header.range_for_length(size)
    if byte_range is None:
        raise ApiError(
            "range_not_satisfiable",
            f"The range is outside the file, which has {size} bytes.",
            field="Range",
            headers={"Content-Range": f"bytes */{size}"},
        )
    return byte_range


def build_download(file: Download) -> Response:
    """Return the response that sends a file.

    The status is 200, 206 for a byte range, 304 if the client already has the file, or 307 to
    redirect to the URL that `file.link` returns. Raises 416 for a range outside the file.
    """
    tag = f'"{file.etag}"'
    headers = {
        "ETag": tag,
        "Accept-Ranges": "bytes",
        "Content-Disposition": _build_disposition(file.name, inline=file.inline),
        "Cache-Control": "private, no-cache",
        # A file that a tenant uploaded must never run as a page of this origin.
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    if request.if_none_match.contains_weak(file.etag):
        return Response(status=304, headers=headers)
    byte_range = None
    if request.headers.get("If-Range") in (None, tag):
        byte_range = _parse_range(file.size)
    start, end = byte_range or (0, file.size)
    if byte_range:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{file.size}"
    sends_content = request.method != "HEAD"
    if sends_content:
        if file.on_send is not None:
            file.on_send(byte_range is not None)
        link = file.link() if file.link is not None else None
        if link is not None:
            return Response(status=307, headers={"Location": link, "Cache-Control": "no-store"})
    body = file.read(start, end) if sends_content and end > start else ()
    response = Response(body, 206 if byte_range else 200, headers=headers, mimetype=file.media_type)
    response.content_length = end - start
    return response


def get_dumper(returns: type[Schema], *, many: bool) -> Dumper:
    """Return a function that converts a handler's records to dicts for the response.

    The schema may map field names to roles in `min_roles`. These fields are null for callers with
    a lower role.
    """
    min_roles: Mapping[str, Role] = getattr(returns, "min_roles", {})
    if not min_roles:
        return partial(dump_many, returns) if many else compile_dumper(returns)

    def dump_record(record: object) -> object:
        return compile_dumper(returns, _list_hidden_names(min_roles))(record)

    def dump_records(records: Sequence[object]) -> object:
        return dump_many(returns, records, _list_hidden_names(min_roles))

    return dump_records if many else dump_record


def _list_hidden_names(min_roles: Mapping[str, Role]) -> frozenset[str]:
    """Return the names of the fields for which the caller's role is too low."""
    role = g.get("role")
    return frozenset(
        name for name, required_role in min_roles.items() if role is None or role < required_role
    )
