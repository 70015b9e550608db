"""What a route declares of its operation: who may call it, what it takes, and what it returns."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from marshmallow import Schema

from app.kit import cursors
from app.kit.api.fields import OneOf, QueryInt, Str, UploadSchema
from app.kit.pagination import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE
from app.kit.ratelimit import LIMITS


@dataclass(frozen=True)
class File:
    """Declares a response that is a file; `media_types` go into the description."""

    media_types: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    """Declares a list: its filters, and the keys it may be sorted by, the default first."""

    sorts: tuple[str, ...] = ("-created_at",)
    filters: type[Schema] | None = None
    _schema: list[type[Schema]] = field(default_factory=list)

    def schema(self, operation: str) -> type[Schema]:
        """Return the schema of the query: common parameters and filters."""
        if not self._schema:
            keys = [sign + key.lstrip("-") for key in self.sorts for sign in ("", "-")]
            members: dict[str, Any] = {
                "cursor": Str(max_length=2000, metadata={"pattern": cursors.PATTERN}),
                "page_size": QueryInt(
                    minimum=1, maximum=MAX_PAGE_SIZE, load_default=DEFAULT_PAGE_SIZE
                ),
                "sort": Str(load_default=self.sorts[0], validate=OneOf(keys)),
            }
            base = self.filters or Schema
            name = "".join(part.title() for part in operation.split("_")) + "Query"
            self._schema.append(type(name, (base,), members))
        return self._schema[0]


@dataclass(frozen=True)
class Declaration:
    """What a route says of itself.

    `permission` is a key of PERMISSIONS, or `access` is public, user or control-plane. `query` is a
    Listing for lists. `upload` is the form of a multipart body offered beside JSON; with `form` the
    body is a URL-encoded form instead of JSON, each member a text. `revision` is "required" or
    "optional" where a writer names the revision it read. Path parameters are record ids unless
    named in `text_ids` or `numbers`. `max_body` is in bytes, of JSON or such a form. `idempotent`
    lets an acting POST take an idempotency key too, or says with which bodies. `keys` says whether
    an API key may call it: without a word, where the operation works in an organization, not where
    it is about a person. `nullable`: the handler may answer None, and `data` is null then.
    """

    permission: str | None = None
    access: str | None = None
    limit: str | None = None
    body: type[Schema] | None = None
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

    def check(self, path: str) -> None:
        """Refuse a declaration that leaves open who may, or names a limit there is none of."""
        if (self.permission is None) == (self.access is None):
            raise TypeError(f"{path}: either a permission or an access")
        if self.limit is not None and self.limit not in LIMITS:
            raise TypeError(f"{path}: no limit {self.limit}")
        if self.form and (self.body is None or self.upload is not None):
            raise TypeError(f"{path}: a form has a body, and no other kind of it")
