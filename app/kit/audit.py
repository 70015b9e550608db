"""Who acts, for the audit log.

Triggers in PostgreSQL write the log (see migrations/auditing.py), in the transaction of the change.
What they cannot see for themselves - who acts, in which operation, from where - is bound here to
the running request, job or command, and travels in the message that tells PostgreSQL the tenant.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from uuid import UUID

from app.kit import db
from app.kit.audit_context import Context, Kind, bound

KINDS: tuple[Kind, ...] = ("user", "api_key", "system", "control_plane")


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
    bound.set(Context("system", None, label, operation, verb, own, request_id, ip_address))


def act_as(kind: Kind, actor_id: UUID | None, label: str) -> None:
    """Say who acts from here on: where an operation finds out while it runs, as a log-in does."""
    context = bound.get() or Context(kind, actor_id, label, None, None, None, None, None)
    bound.set(replace(context, kind=kind, id=actor_id, label=label))


def end() -> None:
    """Unbind."""
    bound.set(None)


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
    token = bound.set(context)
    try:
        yield
    finally:
        bound.reset(token)


def current() -> Context | None:
    """Return what is bound."""
    return bound.get()


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
    tables = db.Base.metadata.tables.values()
    return {str(table.info.get("audited_as", table.name)) for table in tables}


def _plural(noun: str) -> str:
    if noun.endswith("s") or not noun:
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"
