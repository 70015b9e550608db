"""The steps in which a declared operation serves a request."""

import hashlib
import hmac
import time
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
    plan_limits,
    ratelimit,
    tenancy,
    tokens,
)
from app.kit.api import requests, uploads
from app.kit.api.declarations import Operation
from app.kit.errors import ApiError
from app.kit.permissions import Role, require_role
from app.kit.ports import Port
from app.kit.principal import Authenticator, Caller

authenticator = Port[Authenticator]()
"""The port of the functions that authenticate callers. `app.api` binds it."""
ORG_HEADER = "X-Org-Slug"
_REAUTHENTICATE_AFTER_SECONDS = 1.0


def run(op: Operation, path_values: dict[str, str]) -> Response:
    """Run `op` for one request. Commit if `op` writes, and roll back on API or database errors."""
    g.operation = op.name
    try:
        response = _serve(op, path_values)
        if op.writes:
            db.session().commit()
    except ApiError:
        db.session().rollback()
        raise
    except SQLAlchemyError as failure:
        db.session().rollback()
        raise db_errors.translate(failure) from failure
    return response


def _serve(op: Operation, path_values: dict[str, str]) -> Response:
    # Authenticate in autocommit, so that no transaction stays open while a slow body arrives.
    db.set_read_only(read_only=True)
    if op.writes:
        audit.bind_operation(
            op.name,
            record_type=op.record_type,
            request_id=g.request_id,
            ip_address=request.remote_addr,
        )
    caller = _authenticate(op, path_values)
    if op.limit:
        ratelimit.check(op.limit, lambda: str(caller.org.id) if caller else "")
    arguments = _parse_path(op, path_values)
    if op.access != "public":
        arguments["caller"] = caller
    if op.query is not None:
        arguments["query"] = _read_query(op, op.query, caller)
    started_at = time.monotonic()
    body, raw_body = _read_body(op)
    if time.monotonic() - started_at > _REAUTHENTICATE_AFTER_SECONDS and caller is not None:
        # The caller may have lost access while the body arrived.
        arguments["caller"] = caller = _authenticate(op, path_values)
    if op.revision:
        arguments["revision"] = _read_revision(op, body)
    if op.body is not None:
        arguments["body"] = body
    key = idempotency.get_key() if op.accepts_idempotency_key(body) else None
    db.set_read_only(read_only=not op.writes)
    if key is None:
        return op.respond(op.handler(**arguments))
    return idempotency.run(
        key,
        owner=_build_key_owner(op, caller),
        operation=f"{op.name} {request.path}",
        body=raw_body,
        secret_fields=op.secret_fields,
        perform=lambda: op.respond(op.handler(**arguments)),
    )


def _read_body(op: Operation) -> tuple[dict[str, Any], bytes]:
    if op.body is None:
        schema = requests.REVISION_BODY if op.revision else requests.EMPTY_BODY
        return requests.read_optional_body(schema, op.max_body)
    if op.body_optional:
        return requests.read_optional_body(op.body, op.max_body)
    if op.upload is not None and request.mimetype == "multipart/form-data":
        body = uploads.read(op.upload)
        return body, uploads.build_identity(body)
    if op.is_form:
        return requests.read_form_body(op.body, op.max_body)
    return requests.read_json_body(op.body, op.max_body, has_upload=op.upload is not None)


def _build_key_owner(op: Operation, caller: Caller | None) -> str:
    """Return the string that identifies the owner of an idempotency key (see `idempotency.run`)."""
    if op.access == "control-plane":
        return op.access
    if caller is None:
        # Only the same client with the same credentials may get the stored response.
        token_hash = hashlib.sha256(request.headers.get("Authorization", "").encode()).hexdigest()
        return f"{request.remote_addr}/{token_hash}"
    organization = caller.organization.id if caller.organization else None
    return idempotency.build_owner(caller.api_key_id or caller.user_id, organization)


def _authenticate(op: Operation, path_values: dict[str, str]) -> Caller | None:
    if op.access == "public":
        return None
    if op.access == "control-plane":
        _check_operator()
        audit.set_actor("control_plane", None, "operator")
        return None
    caller = _authenticate_caller(op, path_values)
    if op.writes:
        _record_actor(caller)
    if op.in_organization:
        _enter_organization(op, caller)
    if caller.api_key_id is not None:
        _check_api_key(op, caller)
    return caller


def _enter_organization(op: Operation, caller: Caller) -> None:
    """Check the caller's role, and bind the organization to the request. Raises 403 or 422."""
    if caller.organization is None:
        raise errors.unprocessable(ORG_HEADER, "The header X-Org-Slug is required.")
    assert caller.role is not None
    require_role(caller.role, Role[op.access])
    # A GET that writes to the audit log, such as a download, only reads records.
    if op.writes and op.method != "GET" and caller.organization.status == "suspended":
        raise errors.denied("The organization is suspended. Its data is read-only.")
    tenancy.bind(caller.organization.id)
    plan_limits.set_caller_organization(caller.organization)
    g.role = caller.role
    g.org_id = str(caller.organization.id)


def _record_actor(caller: Caller) -> None:
    if caller.api_key_id is None:
        audit.set_actor("user", caller.user_id, caller.email)
    else:
        # Also name the creator, because the key may no longer exist when somebody reads the log.
        audit.set_actor("api_key", caller.api_key_id, f"{caller.name} ({caller.email})")


def _check_api_key(op: Operation, caller: Caller) -> None:
    if not op.allows_api_keys:
        raise errors.denied("API keys cannot be used for this operation. Sign in as a user.")
    if caller.read_only and op.method != "GET":
        raise errors.denied("This API key is read-only. Use another key.")


def _authenticate_caller(op: Operation, path_values: dict[str, str]) -> Caller:
    authorization = request.headers.get("Authorization")
    if authorization is not None:
        token = tokens.parse_bearer(authorization)
        if token is None:
            raise tokens.build_invalid_error()
        slug = None
        if op.in_organization:
            slug = path_values.get("org_slug") or request.headers.get(ORG_HEADER)
            if slug is not None and "\x00" in slug:
                slug = ""  # PostgreSQL rejects NUL, so respond as for an unknown slug
        return authenticator.get().authenticate_token(token, slug)
    key = request.headers.get("X-API-Key")
    if key is None:
        raise tokens.build_invalid_error()
    caller = authenticator.get().authenticate_api_key(key)
    slugs = {path_values.get("org_slug"), request.headers.get(ORG_HEADER)}
    if slugs - {None, caller.org.slug}:
        raise errors.denied("This API key belongs to another organization.")
    return caller


def _check_operator() -> None:
    expected_token = container.settings().control_plane_token
    if not expected_token:
        raise errors.denied("The control plane is disabled: CONTROL_PLANE_TOKEN is not set.")
    token = tokens.parse_bearer(request.headers.get("Authorization"))
    if token is None:
        raise tokens.build_invalid_error()
    if not hmac.compare_digest(token.encode(), expected_token.encode()):
        raise ApiError("invalid_credentials", "The token does not match CONTROL_PLANE_TOKEN.")


def _parse_path(op: Operation, path_values: dict[str, str]) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for name, text in path_values.items():
        if "\x00" in text:
            raise errors.not_found()
        if name == "org_slug" or name in op.text_ids:
            parameters[name] = text
        elif name in op.integer_parameters:
            if not (text.isascii() and text.isdigit() and len(text) < 10):  # noqa: PLR2004
                raise errors.not_found()
            parameters[name] = int(text)
        else:
            parameters[name] = requests.parse_record_id(text)
    if op.in_organization:
        parameters.pop("org_slug", None)  # `caller` contains the slug
    return parameters


def _read_query(op: Operation, schema: Schema, caller: Caller | None) -> dict[str, Any]:
    loaded = requests.read_query(schema)
    if op.listing is None:
        return loaded
    cursor, page_size, sort = (loaded.pop(k, None) for k in ("cursor", "page_size", "sort"))
    scope = f"{caller.user_id if caller else ''}"
    if caller and caller.organization:
        scope = str(caller.organization.id)
    list_binding = pagination.build_binding(
        scope=scope, operation=request.path, sort=sort, filters=loaded
    )
    loaded["page"] = pagination.PageRequest(cursor, page_size, sort, list_binding)
    return loaded


def _read_revision(op: Operation, body: dict[str, Any]) -> int | None:
    body_revision: int | None = body.pop("revision", None)
    header_revision = requests.read_if_match()
    if (
        body_revision is not None
        and header_revision is not None
        and body_revision != header_revision
    ):
        # 400 and not 422, because each revision matches its schema.
        raise errors.invalid("Send the same revision in the body and in If-Match.", "revision")
    revision = header_revision if body_revision is None else body_revision
    if revision is None and op.revision == "required":
        raise errors.unprocessable("revision", "Send the revision that the change is based on.")
    return revision
