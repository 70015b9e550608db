"""The Blueprint of every room: a route is a declaration, and all else happens here.

An operation authenticates, checks role and organization, counts its limit, validates, runs the
handler, shapes the response, replays idempotency keys, and commits: once, in this order. What needs
more than one transaction says so by `db.checkpoint`, of which there are few.
"""

import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import flask_smorest
from flask import Response
from marshmallow import Schema

from app.kit.api import responses
from app.kit.api.declarations import Declaration, File, Listing
from app.kit.api.fields import ShownOnce
from app.kit.api.operation import Operation, run
from app.kit.permissions import PERMISSIONS, Role
from app.kit.ratelimit import LIMITS

Handler = Callable[..., Any]
PREFIX = "/api/v1"
MIB = 1024 * 1024
_BODY = 256 * 1024
_PUBLIC_BODY = 16 * 1024


def _operation(
    told: Declaration, handler: Handler, method: str, path: str, records: str
) -> Operation:
    listing = told.query if isinstance(told.query, Listing) else None
    return Operation(
        name=handler.__name__,
        method=method,
        path=path,
        access=told.access or PERMISSIONS[told.permission or ""].name,
        permission=told.permission,
        limit=told.limit,
        body=told.body() if told.body else None,
        query=_query(told.query, handler.__name__),
        listing=listing,
        upload=told.upload() if told.upload else None,
        form=told.form,
        respond=_responder(told, many=listing is not None),
        status=told.status,
        revision=told.revision,
        writes=method != "GET" if told.writes is None else told.writes,
        text_ids=told.text_ids,
        numbers=told.numbers,
        max_body=told.max_body or (_PUBLIC_BODY if told.access == "public" else _BODY),
        idempotent=told.idempotent,
        keys=told.permission is not None if told.keys is None else told.keys,
        secrets=_secrets(told.returns),
        records=records,
        handler=handler,
    )


def _secrets(returns: type[Schema] | File | None) -> tuple[str, ...]:
    """Return the members of an answer that are shown once."""
    if returns is None or isinstance(returns, File):
        return ()
    members = returns().dump_fields.items()
    return tuple(name for name, member in members if isinstance(member, ShownOnce))


def _flask_rule(path: str) -> str:
    return re.sub(r"{(\w+)}", r"<string:\1>", path)


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]
    """A feature's routes. `name` is the tag of the description, unless `tag` is another one's.

    `records` is the type of record that its operations are about to the audit log, where their own
    names do not tell; by default the one that the tag names.
    """

    operations: list[Operation]

    def __init__(
        self,
        name: str,
        *,
        description: str = "",
        tag: str | None = None,
        records: str | None = None,
    ) -> None:
        super().__init__(name, name, url_prefix=PREFIX, description=description)
        self.tag = tag or name
        self.records = records or self.tag.replace("-", "_")
        self.operations = []
        self._prepare_doc_cbks.append(_document)

    def _route(self, method: str, path: str, **members: Any) -> Callable[[Handler], Handler]:
        declaration = Declaration(**members)
        declaration.check(path)

        def declare(handler: Handler) -> Handler:
            operation = _operation(declaration, handler, method, path, self.records)
            self.operations.append(operation)
            many = isinstance(declaration.query, Listing)
            self._register(operation, declaration, many=many)
            return handler

        return declare

    def _register(self, op: Operation, told: Declaration, *, many: bool) -> None:
        returns = told.returns

        @wraps(op.handler)
        def view(**path: str) -> Response:
            return run(op, path)

        documented: Any = view
        if op.query is not None:
            documented = self.arguments(op.query, location="query")(documented)
        if op.body is not None:
            location = "form" if op.form else "json"
            documented = self.arguments(op.body, location=location)(documented)
        if isinstance(returns, type):
            shape = responses.envelope(returns, many=many, nullable=told.nullable)
            documented = super().response(op.status, shape)(documented)
        else:
            documented = super().response(op.status)(documented)
        view._apidoc = documented._apidoc  # type: ignore[attr-defined]  # noqa: SLF001
        view._apidoc["operation"] = op  # type: ignore[attr-defined]  # noqa: SLF001
        view._apidoc["file"] = returns if isinstance(returns, File) else None  # type: ignore[attr-defined]  # noqa: SLF001
        rule = _flask_rule(op.path)
        self.route(rule, methods=[op.method], endpoint=op.name, tags=[self.tag])(view)

    def get(self, path: str, **declaration: Any) -> Callable[[Handler], Handler]:
        """Declare a reading operation."""
        return self._route("GET", path, **declaration)

    def post(self, path: str, **declaration: Any) -> Callable[[Handler], Handler]:
        """Declare an operation that creates or acts."""
        return self._route("POST", path, **declaration)

    def put(self, path: str, **declaration: Any) -> Callable[[Handler], Handler]:
        """Declare a replacing operation."""
        return self._route("PUT", path, **declaration)

    def patch(self, path: str, **declaration: Any) -> Callable[[Handler], Handler]:
        """Declare a changing operation."""
        return self._route("PATCH", path, **declaration)

    def delete(self, path: str, **declaration: Any) -> Callable[[Handler], Handler]:
        """Declare a deleting operation; answers 204."""
        return self._route("DELETE", path, **{"status": 204, **declaration})


def _query(query: type[Schema] | Listing | None, operation: str) -> Schema | None:
    if isinstance(query, Listing):
        return query.schema(operation)()
    return query() if query else None


def _responder(told: Declaration, *, many: bool) -> Callable[[Any], Response]:
    returns, status = told.returns, told.status
    if isinstance(returns, File):
        return responses.download
    if returns is None:
        return lambda _result: Response(status=status)
    dump = responses.dumper_of(returns, many=many)
    if told.nullable:
        return lambda found: responses.enveloped(found, None if found is None else dump, status)
    return lambda result: responses.enveloped(result, dump, status)


def _facts(op: Operation, text: str) -> str:
    """Build the operation's documentation from its docstring and its declaration."""
    who = {
        "public": "No credentials needed.",
        "user": "Any signed-in user.",
        "control-plane": "The operator's token.",
    }.get(op.access, f"Least role: {op.access}.")
    facts = [text, who]
    if op.access in Role.__members__ or op.access == "user":
        facts += [] if op.keys else ["Not for API keys."]
    if op.limit:
        amount, by = LIMITS[op.limit]
        facts.append(
            f"Rate limit: {amount}, by {'organization' if by == 'org' else 'client address'}."
        )
    if op.revision:
        facts.append(f"The revision that was read is {op.revision}.")
    return " ".join(filter(None, facts))


def _document(doc: dict[str, Any], doc_info: Mapping[str, Any], **_: Any) -> dict[str, Any]:
    """Complete an operation of the description from its declaration."""
    op: Operation | None = doc_info.get("operation")
    if op is None:
        return doc
    doc["operationId"] = op.name
    doc["description"] = _facts(op, doc.get("description") or doc.get("summary", ""))
    if op.access == "public":
        doc["security"] = []
    declared: File | None = doc_info.get("file")
    if declared is not None:
        content = {
            t: {"schema": {"type": "string", "format": "binary"}} for t in declared.media_types
        }
        doc["responses"][op.status]["content"] = content
    return doc


__all__ = ["MIB", "PREFIX", "Blueprint", "Declaration", "File", "Listing"]
