"""Binding of the current actor and operation, for the audit log.

PostgreSQL triggers write the audit log in the transaction of the change (see
migrations/auditing.py). The triggers do not know who makes a change, in which operation, or from
where. This module binds the actor, the operation and the origin to the running request, job or
command. These values are sent to PostgreSQL together with the organization.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from uuid import UUID

from app.kit import db
from app.kit.audit_context import ActorKind, Context, current_context

ACTOR_KINDS: tuple[ActorKind, ...] = ("user", "api_key", "system", "control_plane")


def bind_operation(
    operation: str,
    *,
    record_type: str | None = None,
    label: str = "anonymous",
    request_id: str | None = None,
    ip_address: str | None = None,
) -> None:
    """Bind an operation, whose actor is unknown until `set_actor` is called.

    The operation stays bound until `unbind_operation` is called. `record_type` is the type of
    record that it acts on, for a name that does not contain a record type (see `split_operation`).
    `label` describes the unknown actor.
    """
    verb, acted_on = split_operation(operation, record_type)
    current_context.set(
        Context("system", None, label, operation, verb, acted_on, request_id, ip_address)
    )


def set_actor(kind: ActorKind, actor_id: UUID | None, label: str) -> None:
    """Set the actor of the running operation. Call this as soon as the actor is known."""
    context = current_context.get() or Context(kind, actor_id, label, None, None, None, None, None)
    current_context.set(replace(context, kind=kind, id=actor_id, label=label))


def unbind_operation() -> None:
    """Unbind the operation and its actor."""
    current_context.set(None)


@contextmanager
def bind_actor(
    kind: ActorKind,
    actor_id: UUID | None,
    label: str,
    *,
    operation: str,
    request_id: str | None = None,
) -> Iterator[None]:
    """Bind an actor and an operation in a `with` block. Use it in jobs, commands and threads."""
    verb, record_type = split_operation(operation, None)
    context = Context(kind, actor_id, label, operation, verb, record_type, request_id, None)
    token = current_context.set(context)
    try:
        yield
    finally:
        current_context.reset(token)


@cache
def split_operation(operation: str, default_type: str | None) -> tuple[str, str | None]:
    """Split the name of an operation or a job into its verb and its record type.

    `accept_tag_set` and `bulk_accept_tag_sets` become (accept, tag_sets), and the job `exports.run`
    becomes (run, exports). If the name of an operation contains no record type that the audit log
    knows (`replace_tags`, `logout`), the record type is `default_type`.
    """
    record_type, dot, verb = operation.partition(".")
    if dot:
        return verb, record_type
    verb, _, noun = operation.removeprefix("bulk_").partition("_")
    plural = _to_plural(noun)
    return verb, plural if plural in _list_record_types() else default_type


def _list_record_types() -> set[str]:
    tables = db.Base.metadata.tables.values()
    return {str(table.info.get("audited_as", table.name)) for table in tables}


def _to_plural(noun: str) -> str:
    if noun.endswith("s") or not noun:
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"
