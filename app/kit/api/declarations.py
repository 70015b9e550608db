"""Declarations of operations: their access, request, response and limits."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from flask import Response
from marshmallow import Schema

from app.kit import cursors
from app.kit.api import responses
from app.kit.api.fields import OneOf, QueryInt, ShownOnce, Str, UploadSchema, UtcDateTime
from app.kit.pagination import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE
from app.kit.permissions import Role
from app.kit.ratelimit import LIMITS


@dataclass(frozen=True)
class File:
    """Declares that the response is a file with one of `media_types`."""

    media_types: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    """Declares a list operation: its sort keys, the default key first, and its filters.

    If `has_period`, the list also has the filters `created_after` and `created_before`.
    """

    sort_keys: tuple[str, ...] = ("-created_at",)
    filters: type[Schema] | None = None
    has_period: bool = False

    def build_query_schema(self, operation_name: str) -> type[Schema]:
        """Return the query string schema with the common list parameters and the filters."""
        keys = [sign + key.lstrip("-") for key in self.sort_keys for sign in ("", "-")]
        parameters: dict[str, Any] = {
            "cursor": Str(max_length=2000, metadata={"pattern": cursors.PATTERN}),
            "page_size": QueryInt(minimum=1, maximum=MAX_PAGE_SIZE, load_default=DEFAULT_PAGE_SIZE),
            "sort": Str(load_default=self.sort_keys[0], validate=OneOf(keys)),
        }
        if self.has_period:
            period = {"created_after": UtcDateTime(), "created_before": UtcDateTime()}
            parameters = {**period, **parameters}
        name = "".join(part.title() for part in operation_name.split("_")) + "Query"
        return type(name, (self.filters or Schema,), parameters)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A declared operation: who may call it, what it accepts and what it returns.

    Routes pass the classes of schemas; `Blueprint` creates the schemas and resolves the defaults.

    Attributes:
        name: name of the handler, which is also the id of the operation.
        method: HTTP method.
        path: path below `/api/v1`, with parameters in braces.
        record_type: record type for the audit log if `name` does not contain one.
        handler: function that calls the service.
        permission: a key of PERMISSIONS. Routes declare exactly one of `permission` and `access`.
        access: "public", "user" or "control-plane", or the name of the role that `permission`
            requires.
        limit: the rate limit, as a key of LIMITS, or None for no limit.
        body: schema of the JSON body, or of the URL-encoded form if `is_form` is true.
        body_optional: whether a request may have no body. The schema must then have no required
            fields.
        query: schema of the query string. Routes pass a Listing for lists.
        listing: the Listing that routes passed as `query`, or None if the response is not a list.
        upload: schema of a multipart body that is accepted as an alternative to JSON.
        is_form: whether the body is a URL-encoded form instead of JSON. Each field is a string.
        returns: schema of the record in the response, a File, or None for an empty response.
        status: HTTP status of a successful response.
        revision: "required" or "optional" if requests state the revision that they are based on
            (`If-Match`), otherwise None.
        writes: whether the operation commits. By default, it does unless the method is GET. A
            suspended organization allows only GET operations and operations that do not commit.
        text_ids: path parameters that are strings.
        integer_parameters: path parameters that are integers. All other path parameters are
            record ids, except `org_slug`.
        max_body: maximum size in bytes of a JSON body or URL-encoded form.
        idempotent: whether the operation accepts an idempotency key, or a function that decides
            this for a request body. POST operations with the status 201 or 202 accept a key even if
            this is false.
        allows_api_keys: whether API keys may call the operation. By default, they may call
            operations that have a permission.
        nullable: whether the handler may return None. `data` is then null.
        render_picture: function that renders the handler's result for requests that accept images.
        respond: function that builds the response for a result of the handler.
    """

    name: str
    method: str
    path: str
    record_type: str
    handler: Callable[..., object]
    permission: str | None
    access: str
    limit: str | None = None
    body: Schema | None
    body_optional: bool = False
    query: Schema | None
    listing: Listing | None
    upload: UploadSchema | None
    is_form: bool = False
    returns: type[Schema] | File | None = None
    status: int = 200
    revision: str | None = None
    writes: bool
    text_ids: tuple[str, ...] = ()
    integer_parameters: tuple[str, ...] = ()
    max_body: int
    idempotent: bool | Callable[[dict[str, Any]], bool] = False
    allows_api_keys: bool
    nullable: bool = False
    render_picture: responses.PictureRenderer | None = None
    respond: Callable[[Any], Response] = field(init=False)

    def __post_init__(self) -> None:
        """Check the declaration, and build `respond`.

        Raises TypeError if the declaration is contradictory or names an unknown limit.
        """
        if self.limit is not None and self.limit not in LIMITS:
            raise TypeError(f"{self.path}: unknown limit {self.limit}")
        if self.is_form and (self.body is None or self.upload is not None):
            raise TypeError(f"{self.path}: a form requires a body, and cannot have an upload")
        respond = _build_responder(self)
        if self.render_picture is not None:
            respond = responses.negotiate_picture(respond, self.render_picture)
        object.__setattr__(self, "respond", respond)

    @cached_property
    def secret_fields(self) -> tuple[str, ...]:
        """Return the names of the response fields whose values are shown only once."""
        if not isinstance(self.returns, type):
            return ()
        members = self.returns().dump_fields.items()
        return tuple(name for name, member in members if isinstance(member, ShownOnce))

    @property
    def in_organization(self) -> bool:
        """Return whether the operation works inside one organization."""
        return self.access in Role.__members__

    @property
    def supports_idempotency_key(self) -> bool:
        """Return whether the operation accepts an idempotency key for at least some bodies."""
        return bool(self.idempotent) or (self.method == "POST" and self.status in (201, 202))

    def accepts_idempotency_key(self, body: dict[str, Any]) -> bool:
        """Return whether a request with this body accepts an idempotency key."""
        return self.idempotent(body) if callable(self.idempotent) else self.supports_idempotency_key


def _build_responder(op: Operation) -> Callable[[Any], Response]:
    returns, status = op.returns, op.status
    if isinstance(returns, File):
        return responses.build_download
    if returns is None:
        return lambda _result: Response(status=status)
    dump = responses.get_dumper(returns, many=op.listing is not None)
    if op.nullable:
        return lambda result: responses.build_response(
            result, None if result is None else dump, status
        )
    return lambda result: responses.build_response(result, dump, status)
