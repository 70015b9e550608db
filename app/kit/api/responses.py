"""What goes out: envelopes, entity tags, files with ranges, and the envelope's documentation."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any
from urllib.parse import quote

import orjson
from flask import Response, g, request
from marshmallow import Schema, fields
from werkzeug.http import parse_range_header

from app.kit.api.dumpers import compile_dumper, dump_many
from app.kit.errors import ApiError
from app.kit.pagination import Page
from app.kit.permissions import Role

_JSON_OPTIONS = orjson.OPT_UTC_Z


class PageMeta(Schema):
    """Where a page stands in its list."""

    total = fields.Integer(required=True)
    next_cursor = fields.String(required=True, allow_none=True)
    prev_cursor = fields.String(required=True, allow_none=True)
    page_size = fields.Integer(required=True)


@dataclass(frozen=True)
class Reply:
    """A result with more to say than its data."""

    data: Any
    meta: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Redirect:
    """Sends a browser on, with 303, where an operation ends at somebody else's page."""

    location: str
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Download:
    """A file: `read(start, end)` yields its bytes from `start` up to, not including, `end`.

    `on_send` is called when bytes of it are about to be sent, with whether they are a range: not
    for HEAD, nor for a copy that is still right.
    """

    read: Callable[[int, int], Iterator[bytes]]
    size: int
    media_type: str
    name: str
    etag: str
    inline: bool = False
    on_send: Callable[[bool], None] | None = None


@cache
def envelope(schema_class: type[Schema], *, many: bool, nullable: bool = False) -> type[Schema]:
    """Return the schema of an envelope as a named component.

    It holds one record, `nullable` where there may be none, or a page.
    """
    name = schema_class.__name__ + ("OrNull" if nullable else "")
    data: fields.Field[Any] = fields.Nested(schema_class, required=True, allow_none=nullable)
    meta: fields.Field[Any] = fields.Dict(required=True)
    if many:
        data = fields.List(fields.Nested(schema_class), required=True)
        meta = fields.Nested(PageMeta, required=True)
    return type(f"{name}{'Page' if many else 'Response'}", (Schema,), {"data": data, "meta": meta})


def _default(value: Any) -> Any:
    if hasattr(value, "__str__") and type(value).__module__ in ("decimal", "ipaddress"):
        return str(value)
    raise TypeError(f"cannot answer a {type(value).__name__}")


def encode(value: Any) -> bytes:
    """JSON bytes; times in UTC with `Z`, UUIDs as text, decimals as strings."""
    return orjson.dumps(value, default=_default, option=_JSON_OPTIONS)


def json_response(body: bytes, status: int, headers: dict[str, str] | None = None) -> Response:
    """Return a response of JSON bytes."""
    response = Response(body, status, mimetype="application/json")
    if headers:
        response.headers.update(headers)
    return response


def enveloped(result: Any, dump: Callable[[Any], Any] | None, status: int) -> Response:
    """Wrap a record, a `Reply` or a `Page`; `dump` shapes the data. A `Redirect` has none."""
    if isinstance(result, Redirect):
        return Response(status=303, headers={**result.headers, "Location": result.location})
    if isinstance(result, Page):
        return json_response(
            encode({"data": dump_page(result, dump), "meta": result.meta()}), status
        )
    reply = result if isinstance(result, Reply) else Reply(result)
    data = dump(reply.data) if dump else reply.data
    headers = dict(reply.headers)
    if isinstance(data, dict) and data.get("revision") is not None:
        headers["ETag"] = f'"{data["revision"]}"'
    return json_response(encode({"data": data, "meta": reply.meta}), status, headers)


def dump_page(page: Page, dump: Callable[[Any], Any] | None) -> Any:
    """Return the data of a page."""
    return dump(page.items) if dump else page.items


def _disposition(name: str, *, inline: bool) -> str:
    plain = "".join(
        c if c.isascii() and c.isprintable() and c not in '"\\;%' else "_" for c in name
    )
    kind = "inline" if inline else "attachment"
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def _span(size: int) -> tuple[int, int] | None:
    wanted = parse_range_header(request.headers.get("Range"))
    if wanted is None or wanted.units != "bytes" or len(wanted.ranges) != 1:
        return None
    span = wanted.range_for_length(size)
    if span is None:
        raise ApiError(
            "range_not_satisfiable",
            f"The range lies outside the file, which has {size} bytes.",
            field="Range",
            headers={"Content-Range": f"bytes */{size}"},
        )
    return span


def download(file: Download) -> Response:
    """Stream a file; one byte range is served with 206, `If-None-Match` with 304."""
    tag = f'"{file.etag}"'
    headers = {
        "ETag": tag,
        "Accept-Ranges": "bytes",
        "Content-Disposition": _disposition(file.name, inline=file.inline),
        "Cache-Control": "private, no-cache",
        # What a tenant uploaded must never run as a page of this origin.
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    if request.headers.get("If-None-Match") in (tag, "*"):
        return Response(status=304, headers=headers)
    span = None
    if request.headers.get("If-Range") in (None, tag):
        span = _span(file.size)
    start, end = span or (0, file.size)
    if span:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{file.size}"
    is_sent = request.method != "HEAD"
    if is_sent and file.on_send is not None:
        file.on_send(span is not None)
    body = file.read(start, end) if is_sent and end > start else ()
    response = Response(body, 206 if span else 200, headers=headers, mimetype=file.media_type)
    response.content_length = end - start
    return response


def dumper_of(returns: type[Schema], *, many: bool) -> Callable[[Any], Any]:
    """Return what shapes answers; members of `least_roles` are null to roles below theirs."""
    least_roles: Mapping[str, Role] = getattr(returns, "least_roles", {})
    if not least_roles:
        return partial(dump_many, returns) if many else compile_dumper(returns)

    def dump(record: Any) -> Any:
        role = g.get("role")
        hidden = frozenset(
            name for name, least in least_roles.items() if role is None or role < least
        )
        if many:
            return dump_many(returns, record, hidden)
        return compile_dumper(returns, hidden)(record)

    return dump
