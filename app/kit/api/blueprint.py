"""The Blueprint class that all features use. It turns route declarations into operations.

An operation authenticates the caller, checks the role and the organization, applies the rate limit,
validates the request, looks up the idempotency key, runs the handler, builds the response and, if
it writes, commits once, in this order. The few services that need more than one transaction call
`db.checkpoint`.
"""

import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import flask_smorest
from flask import Response, request
from marshmallow import Schema

from app.kit.api import responses
from app.kit.api.declarations import File, Listing, Operation
from app.kit.api.fields import UploadSchema
from app.kit.api.operation import run
from app.kit.permissions import PERMISSIONS, Role
from app.kit.ratelimit import LIMITS

Handler = Callable[..., object]
API_PREFIX = "/api/v1"
MIB = 1024 * 1024
_MAX_BODY_BYTES = 256 * 1024
_MAX_PUBLIC_BODY_BYTES = 16 * 1024


def _build_operation(
    handler: Handler,
    method: str,
    path: str,
    default_record_type: str,
    *,
    permission: str | None = None,
    access: str | None = None,
    body: type[Schema] | None = None,
    query: type[Schema] | Listing | None = None,
    upload: type[UploadSchema] | None = None,
    writes: bool | None = None,
    max_body: int | None = None,
    allows_api_keys: bool | None = None,
    **options: Any,
) -> Operation:
    """Build an operation from the options of its route. `Operation` documents the options."""
    if (permission is None) == (access is None):
        raise TypeError(f"{path}: declare either `permission` or `access`")
    default_max_body = _MAX_PUBLIC_BODY_BYTES if access == "public" else _MAX_BODY_BYTES
    return Operation(
        name=handler.__name__,
        method=method,
        path=path,
        record_type=default_record_type,
        handler=handler,
        permission=permission,
        access=access or PERMISSIONS[permission or ""].name,
        body=body() if body else None,
        query=_build_query_schema(query, handler.__name__),
        listing=query if isinstance(query, Listing) else None,
        upload=upload() if upload else None,
        writes=method != "GET" if writes is None else writes,
        max_body=max_body or default_max_body,
        allows_api_keys=permission is not None if allows_api_keys is None else allows_api_keys,
        **options,
    )


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]
    """Routes of a feature, which share a tag in the OpenAPI description.

    Args:
        name: name of the blueprint, and its tag in the OpenAPI description.
        description: description of the tag.
        tag: the tag of another blueprint, to be used instead of a new tag.
        record_type: record type for the audit log, for operations whose names do not contain a
            record type. By default, it is derived from the tag.
    """

    operations: list[Operation]

    def __init__(
        self,
        name: str,
        *,
        description: str = "",
        tag: str | None = None,
        record_type: str | None = None,
    ) -> None:
        super().__init__(name, name, url_prefix=API_PREFIX, description=description)
        self.tag = tag or name
        self.record_type = record_type or self.tag.replace("-", "_")
        self.operations = []
        self._prepare_doc_cbks.append(_complete_description)

    def _route(self, method: str, path: str, **options: Any) -> Callable[[Handler], Handler]:
        def declare(handler: Handler) -> Handler:
            operation = _build_operation(handler, method, path, self.record_type, **options)
            self.operations.append(operation)
            self._register(operation)
            return handler

        return declare

    def _register(self, op: Operation) -> None:
        @wraps(op.handler)
        def view(**path_values: str) -> Response:
            if request.method == "HEAD" and op.writes and op.access == "public":
                # Link scanners send HEAD, which must not use up a link that is valid for one GET.
                return Response(status=op.status)
            return run(op, path_values)

        envelope = None
        if isinstance(op.returns, type):
            many = op.listing is not None
            envelope = responses.build_envelope(op.returns, many=many, nullable=op.nullable)
        # `run` reads the request itself. Therefore, only the documentation of the views that
        # `arguments` returns is used.
        documented_view = responding_view = self.response(op.status, envelope)(view)
        if op.query is not None:
            documented_view = self.arguments(op.query, location="query")(documented_view)
        if op.body is not None:
            location = "form" if op.is_form else "json"
            required = not op.body_optional
            documented_view = self.arguments(op.body, location=location, required=required)(
                documented_view
            )
        responding_view._apidoc = {**documented_view._apidoc, "operation": op}  # noqa: SLF001
        rule = re.sub(r"{(\w+)}", r"<string:\1>", op.path)
        self.route(rule, methods=[op.method], endpoint=op.name, tags=[self.tag])(responding_view)

    def get(self, path: str, **declaration: object) -> Callable[[Handler], Handler]:
        """Declare a GET operation, which reads records."""
        return self._route("GET", path, **declaration)

    def post(self, path: str, **declaration: object) -> Callable[[Handler], Handler]:
        """Declare a POST operation, which creates a record or performs an action."""
        return self._route("POST", path, **declaration)

    def put(self, path: str, **declaration: object) -> Callable[[Handler], Handler]:
        """Declare a PUT operation, which replaces a record."""
        return self._route("PUT", path, **declaration)

    def patch(self, path: str, **declaration: object) -> Callable[[Handler], Handler]:
        """Declare a PATCH operation, which updates fields of a record."""
        return self._route("PATCH", path, **declaration)

    def delete(self, path: str, **declaration: object) -> Callable[[Handler], Handler]:
        """Declare a DELETE operation. Its default status is 204."""
        return self._route("DELETE", path, **{"status": 204, **declaration})


def _build_query_schema(query: type[Schema] | Listing | None, op_name: str) -> Schema | None:
    if isinstance(query, Listing):
        return query.build_query_schema(op_name)()
    return query() if query else None


def _describe_access_and_limits(op: Operation) -> str:
    """Describe in sentences who may call an operation, its rate limit and its use of revisions."""
    access = {
        "public": "No credentials needed.",
        "user": "Available to every signed-in user.",
        "control-plane": "Requires the operator's token.",
    }.get(op.access, f"Requires the role `{op.access}` or higher.")
    sentences = [access]
    if op.access in Role.__members__ or op.access == "user":
        sentences += [] if op.allows_api_keys else ["Not available to API keys."]
    if op.limit:
        rate, scope = LIMITS[op.limit]
        counted_by = "organization" if scope == "org" else "client address"
        sentences.append(f"Rate limit: {rate.replace('/', ' per ')} for each {counted_by}.")
    if op.revision:
        sentences.append(f"The revision on which the change is based is {op.revision}.")
    return " ".join(sentences)


def _complete_description(
    doc: dict[str, Any], doc_info: Mapping[str, Any], **_: object
) -> dict[str, Any]:
    """Add the declared id, access, limits and media types to an operation's OpenAPI description."""
    op: Operation | None = doc_info.get("operation")
    if op is None:
        return doc
    doc["operationId"] = op.name
    # flask-smorest later replaces keys of `doc` with those of the docstring.
    docstring = doc_info["docstring"]
    paragraphs = [docstring.get("description"), _describe_access_and_limits(op)]
    docstring["description"] = "\n\n".join(filter(None, paragraphs))
    if op.access == "public":
        doc["security"] = []
    if isinstance(op.returns, File):
        content = {name: {"schema": _build_file_schema(name)} for name in op.returns.media_types}
        doc["responses"][op.status]["content"] = content
    if op.render_picture is not None:
        content = doc["responses"][op.status].setdefault("content", {})
        content.update(responses.build_picture_content())
    return doc


def _build_file_schema(media_type: str) -> dict[str, Any]:
    """Return the schema of a file response: an array of objects for JSON, else a binary string."""
    if media_type == "application/json":
        return {"type": "array", "items": {"type": "object"}}
    return {"type": "string", "format": "binary"}


__all__ = ["API_PREFIX", "MIB", "Blueprint", "File", "Listing"]
