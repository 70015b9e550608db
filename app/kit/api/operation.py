"""One operation: what was declared, and the one path every request of it takes."""

import hashlib
import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flask import Response, g, request
from marshmallow import Schema
from sqlalchemy.exc import SQLAlchemyError

from app.kit import (
    audit,
    container,
    db,
    db_errors,
    errors,
    idempotency,
    pagination,
    ratelimit,
    tenancy,
    tokens,
)
from app.kit.api import requests, uploads
from app.kit.api.declarations import Listing
from app.kit.api.fields import Int, UploadSchema
from app.kit.errors import ApiError
from app.kit.permissions import Role, require_role
from app.kit.principal import Authenticator, Caller

_authenticator: Authenticator | None = None
ORG_HEADER = "X-Org-Slug"
_LONG_BODY_SECONDS = 1.0


@dataclass(frozen=True)
class Operation:
    """A declared operation; `access` is a role's name, or public, user or control-plane.

    `records` is the type of record it is about to the audit log, if its name does not tell.
    `secrets` are the members of its answer that are shown once.
    """

    name: str
    method: str
    path: str
    access: str
    permission: str | None
    limit: str | None
    body: Schema | None
    query: Schema | None
    listing: Listing | None
    upload: UploadSchema | None
    form: bool
    respond: Callable[[Any], Response]
    status: int
    revision: str | None
    writes: bool
    text_ids: tuple[str, ...]
    numbers: tuple[str, ...]
    max_body: int
    idempotent: bool | Callable[[dict[str, Any]], bool]
    keys: bool
    secrets: tuple[str, ...]
    records: str
    handler: Callable[..., Any]

    @property
    def in_organization(self) -> bool:
        """Whether the operation works inside one organization."""
        return self.access in Role.__members__

    @property
    def creates(self) -> bool:
        """Whether an idempotency key means something here."""
        return bool(self.idempotent) or (self.method == "POST" and self.status in (201, 202))

    def replays(self, body: dict[str, Any]) -> bool:
        """Whether it means something with this body."""
        return self.idempotent(body) if callable(self.idempotent) else self.creates


def bind_authenticator(authenticator: Authenticator) -> None:
    """Say who proves callers; the factory does."""
    global _authenticator  # noqa: PLW0603 - a port, bound once
    _authenticator = authenticator


def run(op: Operation, path: dict[str, str]) -> Response:
    """Serve one request of `op`: the database's errors become the contract's, and nothing stays."""
    g.operation = op.name
    try:
        response = _serve(op, path)
        if op.writes:
            db.session().commit()
    except ApiError:
        db.session().rollback()
        raise
    except SQLAlchemyError as failure:
        db.session().rollback()
        raise db_errors.translate(failure) from failure
    return response


def _serve(op: Operation, path: dict[str, str]) -> Response:
    # The caller is proven in autocommit: no transaction stays open over a body that drips in.
    db.set_read_only(read_only=True)
    if op.writes:
        audit.begin(
            op.name, records=op.records, request_id=g.request_id, ip_address=request.remote_addr
        )
    caller = _authenticate(op, path)
    if op.limit:
        ratelimit.check(op.limit, lambda: str(caller.org.id) if caller else "")
    arguments: dict[str, Any] = _path(op, path)
    if op.access != "public":
        arguments["caller"] = caller
    if op.query is not None:
        arguments["query"] = _query(op, caller)
    started = time.monotonic()
    body, raw = _body(op)
    if time.monotonic() - started > _LONG_BODY_SECONDS and caller is not None:
        # What held when the body began to come need not hold any more.
        arguments["caller"] = caller = _authenticate(op, path)
    if op.revision:
        arguments["revision"] = _revision(op, body)
    if op.body is not None:
        arguments["body"] = body
    key = idempotency.get_key() if op.replays(body) else None
    db.set_read_only(read_only=not op.writes)
    if key is None:
        return op.respond(op.handler(**arguments))
    return idempotency.run(
        key,
        owner=_owner(op, caller),
        operation=f"{op.name} {request.path}",
        body=raw,
        secrets=op.secrets,
        perform=lambda: op.respond(op.handler(**arguments)),
    )


class _Nothing(Schema):
    """The body of an operation that takes none."""


class RevisionRead(Schema):
    """The body of one that takes none but the revision that was read, if not by If-Match."""

    revision = Int()


_NOTHING, _READ = _Nothing(), RevisionRead()


def _body(op: Operation) -> tuple[dict[str, Any], bytes]:
    if op.body is None:
        return requests.spare_body(_READ if op.revision else _NOTHING, op.max_body)
    if op.upload is not None and request.mimetype == "multipart/form-data":
        body = uploads.read(op.upload)
        return body, uploads.digest(body)
    read = requests.form_body if op.form else requests.json_body
    return read(op.body, op.max_body)


def _owner(op: Operation, caller: Caller | None) -> str:
    if op.access == "control-plane":
        return op.access
    if caller is None:
        # Whoever is signed in is told of what they did, and nobody else is.
        proof = hashlib.sha256(request.headers.get("Authorization", "").encode()).hexdigest()
        return f"{request.remote_addr}/{proof}"
    organization = caller.organization.id if caller.organization else None
    return idempotency.build_owner(caller.api_key_id or caller.user_id, organization)


def _authenticate(op: Operation, path: dict[str, str]) -> Caller | None:
    if op.access == "public":
        return None
    if op.access == "control-plane":
        _control_plane()
        audit.act_as("control_plane", None, "operator")
        return None
    caller = _prove(op, path)
    if op.writes:
        _acts(caller)
    if op.in_organization:
        _enter(op, caller)
    if caller.api_key_id is not None:
        _check_key(op, caller)
    return caller


def _enter(op: Operation, caller: Caller) -> None:
    """Let the caller into the organization that the request names."""
    if caller.organization is None:
        raise errors.unprocessable(ORG_HEADER, "The header X-Org-Slug is required here.")
    assert caller.role is not None
    require_role(caller.role, Role[op.access])
    if op.method != "GET" and caller.organization.status == "suspended":
        raise errors.denied("The organization is suspended: reads go on, writes are refused.")
    tenancy.bind(caller.organization.id)
    g.role = caller.role
    g.org_id = str(caller.organization.id)


def _acts(caller: Caller) -> None:
    if caller.api_key_id is None:
        audit.act_as("user", caller.user_id, caller.email)
    else:
        # The creator is named too: the key may be gone when somebody reads the log.
        audit.act_as("api_key", caller.api_key_id, f"{caller.name} ({caller.email})")


def _check_key(op: Operation, caller: Caller) -> None:
    if not op.keys:
        raise errors.denied("This is for people who have signed in, not for API keys.")
    if caller.read_only and op.method != "GET":
        raise errors.denied("This API key only reads.")


def _prove(op: Operation, path: dict[str, str]) -> Caller:
    assert _authenticator is not None, "no authenticator is bound"
    authorization = request.headers.get("Authorization")
    if authorization is not None:
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise tokens.invalid()
        slug = None
        if op.in_organization:
            slug = path.get("org_slug") or request.headers.get(ORG_HEADER)
            if slug is not None and "\x00" in slug:
                slug = ""  # PostgreSQL cannot even be asked; it answers like any unknown one
        return _authenticator.by_token(token.strip(), slug)
    key = request.headers.get("X-API-Key")
    if key is None:
        raise tokens.invalid()
    caller = _authenticator.by_api_key(key)
    if {path.get("org_slug"), request.headers.get(ORG_HEADER)} - {None, caller.org.slug}:
        raise errors.denied("This API key belongs to another organization.")
    return caller


def _control_plane() -> None:
    expected = container.settings().control_plane_token
    if not expected:
        raise errors.denied("The control plane is closed: the operator has set no token.")
    scheme, _, given = (request.headers.get("Authorization") or "").partition(" ")
    if scheme.lower() != "bearer" or not given:
        raise tokens.invalid()
    if not hmac.compare_digest(given.strip().encode(), expected.encode()):
        raise errors.denied("The control plane is not open to this caller.")


def _path(op: Operation, path: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, text in path.items():
        if "\x00" in text:
            raise errors.not_found()
        if name == "org_slug" or name in op.text_ids:
            found[name] = text
        elif name in op.numbers:
            if not (text.isascii() and text.isdigit() and len(text) < 10):  # noqa: PLR2004
                raise errors.not_found()
            found[name] = int(text)
        else:
            found[name] = requests.record_id(text)
    if op.in_organization:
        found.pop("org_slug", None)  # the caller has it
    return found


def _query(op: Operation, caller: Caller | None) -> dict[str, Any]:
    assert op.query is not None
    loaded = requests.query(op.query)
    if op.listing is None:
        return loaded
    cursor, size, sort = (loaded.pop(k, None) for k in ("cursor", "page_size", "sort"))
    scope = f"{caller.user_id if caller else ''}"
    if caller and caller.organization:
        scope = str(caller.organization.id)
    bound = pagination.binding(scope=scope, operation=request.path, sort=sort, filters=loaded)
    loaded["page"] = pagination.PageRequest(cursor, size, sort, bound)
    return loaded


def _revision(op: Operation, body: dict[str, Any]) -> int | None:
    given = body.pop("revision", None)
    header = requests.if_match()
    if given is not None and header is not None and given != header:
        # Each fits its schema; that they agree is a rule.
        raise errors.invalid("The body and If-Match name different revisions.", "revision")
    revision: int | None = header if given is None else given
    if revision is None and op.revision == "required":
        raise errors.unprocessable("revision", "Send the revision that was read.")
    return revision
