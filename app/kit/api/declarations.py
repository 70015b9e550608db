"""Route declarations: the access, request, response and limits of an operation."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from marshmallow import Schema

from app.kit import cursors
from app.kit.api.fields import OneOf, QueryInt, Str, UploadSchema, UtcDateTime
from app.kit.api.pictures import Render
from app.kit.pagination import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE
from app.kit.ratelimit import LIMITS


@dataclass(frozen=True)
class File:
    """Declares that the response is a file with one of `media_types`."""

    media_types: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    """Declares a list operation: its filters and its sort keys, the default key first.

    With `created`, the list also has the filters `created_after` and `created_before`.
    """

    sorts: tuple[str, ...] = ("-created_at",)
    filters: type[Schema] | None = None
    created: bool = False
    _schema: list[type[Schema]] = field(default_factory=list)

    def build_query_schema(self, operation: str) -> type[Schema]:
        """Return the query string schema with the common list parameters and the filters."""
        if not self._schema:
            keys = [sign + key.lstrip("-") for key in self.sorts for sign in ("", "-")]
            parameters: dict[str, Any] = {
                "cursor": Str(max_length=2000, metadata={"pattern": cursors.PATTERN}),
                "page_size": QueryInt(
                    minimum=1, maximum=MAX_PAGE_SIZE, load_default=DEFAULT_PAGE_SIZE
                ),
                "sort": Str(load_default=self.sorts[0], validate=OneOf(keys)),
            }
            if self.created:
                period = {"created_after": UtcDateTime(), "created_before": UtcDateTime()}
                parameters = {**period, **parameters}
            base = self.filters or Schema
            name = "".join(part.title() for part in operation.split("_")) + "Query"
            self._schema.append(type(name, (base,), parameters))
        return self._schema[0]


@dataclass(frozen=True)
class Declaration:
    """The declaration of one route: who may call it, what it accepts and what it returns.

    Attributes:
        permission: a key of PERMISSIONS. Exactly one of `permission` and `access` is set.
        access: "public", "user" or "control-plane".
        limit: a key of LIMITS.
        body: schema of the JSON body, or of the URL-encoded form if `form` is set.
        body_optional: whether a request may have no body. The schema must then have no required
            fields.
        query: schema of the query string, or a Listing for lists.
        upload: schema of a multipart body that is accepted as an alternative to JSON.
        form: whether the body is a URL-encoded form instead of JSON. Each field is a string.
        returns: schema of the record in the response, or a File.
        status: HTTP status of a successful response.
        revision: "required" or "optional" if requests state the revision that they are based on
            (`If-Match`), otherwise None.
        writes: whether the operation commits. By default, it does unless the method is GET. An
            operation that does not commit also works in a suspended organization.
        text_ids: path parameters that are strings.
        numbers: path parameters that are integers. All other path parameters are record ids.
        max_body: maximum size in bytes of a JSON body or URL-encoded form.
        idempotent: whether the operation accepts an idempotency key. Operations that create a
            record always do. It may be a function that decides this for a request body.
        keys: whether API keys may call the operation. By default, they may call operations that
            have a permission.
        nullable: whether the handler may return None. `data` is then null.
        picture: function that renders the handler's result for requests that accept images.
    """

    permission: str | None = None
    access: str | None = None
    limit: str | None = None
    body: type[Schema] | None = None
    body_optional: bool = False
    query: type[Schema] | Listing | None = None
    upload: type[UploadSchema] | None = None
    form: bool = False
    returns: type[Schema] | File | None = None
    status: int = 200
    revision: str | None = None
    writes: bool | None = None
    text_ids: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    max_body: int | None = None
    idempotent: bool | Callable[[dict[str, Any]], bool] = False
    keys: bool | None = None
    nullable: bool = False
    picture: Render | None = None

    def check(self, path: str) -> None:
        """Raise TypeError if the declaration is contradictory or names an unknown limit."""
        if (self.permission is None) == (self.access is None):
            raise TypeError(f"{path}: declare either `permission` or `access`")
        if self.limit is not None and self.limit not in LIMITS:
            raise TypeError(f"{path}: unknown limit {self.limit}")
        if self.form and (self.body is None or self.upload is not None):
            raise TypeError(f"{path}: a form requires a body, and cannot have an upload")
