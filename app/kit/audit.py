"""Who acts, for the audit log.

Triggers in PostgreSQL write the log (see migrations/auditing.py), in the transaction of the change.
What they cannot see for themselves - who acts, in which operation, from where - is bound here to
the running request, job or command, and travels in the message that tells PostgreSQL the tenant.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal
from uuid import UUID

import orjson

Kind = Literal["user", "api_key", "system", "control_plane"]
KINDS: tuple[Kind, ...] = ("user", "api_key", "system", "control_plane")
_LABEL_LENGTH = 320


@dataclass(frozen=True, slots=True)
class Context:
    """What entries tell of the running work beside the change itself.

    `verb` and `own` make the action: of `own`, the type of record the operation is about, an entry
    says `<own>.<verb>`; of others create, update or delete.
    """

    kind: Kind
    id: UUID | None
    label: str
    operation: str | None
    verb: str | None
    own: str | None
    request_id: str | None
    ip_address: str | None

    def sql(self) -> str:
        """The statement that tells PostgreSQL, to be put before another one."""
        told: dict[str, Any] = {
            "kind": self.kind,
            "id": self.id,
            "label": _clean(self.label),
            "operation": self.operation,
            "verb": self.verb,
            "own": self.own,
            "request_id": _clean(self.request_id),
            "ip_address": _clean(self.ip_address),
        }
        written = orjson.dumps({key: value for key, value in told.items() if value is not None})
        # Escaped as JSON escapes, neither SQL nor the driver's placeholders can see these.
        text = written.decode().replace("'", "\\u0027").replace("%", "\\u0025")
        return f"SET LOCAL app.actor = '{text}'; "


@dataclass(slots=True)
class _Bound:
    context: Context
    sql: str | None = None


_NOBODY = "SET LOCAL app.actor = ''; "
_bound: ContextVar[_Bound | None] = ContextVar("audit", default=None)


def begin(
    operation: str,
    *,
    records: str | None = None,
    label: str = "anonymous",
    request_id: str | None = None,
    ip_address: str | None = None,
) -> None:
    """Bind an operation for the rest of the context; nobody known acts in it until `act_as`.

    `records` is the type of record it is about, where its name does not tell (see `action_of`).
    """
    verb, own = action_of(operation, records)
    _bound.set(_Bound(Context("system", None, label, operation, verb, own, request_id, ip_address)))


def act_as(kind: Kind, actor_id: UUID | None, label: str) -> None:
    """Say who acts from here on: where an operation finds out while it runs, as a log-in does."""
    bound = _bound.get()
    if bound is None:
        context = Context(kind, actor_id, label, None, None, None, None, None)
    else:
        context = replace(bound.context, kind=kind, id=actor_id, label=label)
    _bound.set(_Bound(context))


def end() -> None:
    """Unbind."""
    _bound.set(None)


@contextmanager
def acting(
    kind: Kind,
    actor_id: UUID | None,
    label: str,
    *,
    operation: str,
    request_id: str | None = None,
) -> Iterator[None]:
    """Bind who acts and in what for the block: of jobs, commands and threads."""
    verb, own = action_of(operation, None)
    context = Context(kind, actor_id, label, operation, verb, own, request_id, None)
    token = _bound.set(_Bound(context))
    try:
        yield
    finally:
        _bound.reset(token)


def current() -> Context | None:
    """What is bound."""
    bound = _bound.get()
    return None if bound is None else bound.context


def prefix() -> str:
    """SQL that tells PostgreSQL who acts, until the transaction's end."""
    bound = _bound.get()
    if bound is None:
        return _NOBODY
    if bound.sql is None:
        bound.sql = bound.context.sql()
    return bound.sql


@cache
def action_of(operation: str, records: str | None) -> tuple[str, str | None]:
    """(verb, type of record) of an operation's or a job's name.

    `accept_tag_set` is (accept, tag_sets), `exports.run` is (run, exports). A name that tells no
    type that the log knows (`replace_tags`, `logout`) is about `records`.
    """
    kind, dot, rest = operation.partition(".")
    if dot:
        return rest, kind
    verb, _, thing = operation.removeprefix("bulk_").partition("_")
    named = _plural(thing)
    return verb, named if named in _types() else records


def _types() -> set[str]:
    from app.kit import db  # noqa: PLC0415 - it imports what tells PostgreSQL, which imports this

    tables = db.Base.metadata.tables.values()
    return {str(table.info.get("audited_as", table.name)) for table in tables}


def _plural(noun: str) -> str:
    if noun.endswith("s") or not noun:
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def _clean(text: str | None) -> str | None:
    """Text as PostgreSQL's JSON can hold it, of a length that a reader can take in."""
    if text is None:
        return None
    return text.replace("\x00", "")[:_LABEL_LENGTH].encode("utf-8", "replace").decode()
