"""The audit context: the actor and operation of the running work, as sent to PostgreSQL."""

from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal
from uuid import UUID

import orjson

ActorKind = Literal["user", "api_key", "system", "control_plane"]
_MAX_TEXT_LENGTH = 320
_NO_ACTOR = "SET LOCAL app.actor = ''; "


@dataclass(frozen=True)
class Context:
    """The actor, the operation and the origin of a change, for audit log entries.

    `record_type` is the type of record that the operation acts on. An entry about a record of this
    type has the action `<record_type>.<verb>`. An entry about a record of another type has the verb
    create, update or delete. `kind`, `id` and `label` (a display name) describe the actor.
    """

    kind: ActorKind
    id: UUID | None
    label: str
    operation: str | None
    verb: str | None
    record_type: str | None
    request_id: str | None
    ip_address: str | None

    @cached_property
    def sql(self) -> str:
        """Return the SQL statement that sends this context. Callers prepend it to a statement."""
        fields: dict[str, Any] = {
            "kind": self.kind,
            "id": self.id,
            "label": _clean_text(self.label),
            "operation": self.operation,
            "verb": self.verb,
            "own": self.record_type,
            "request_id": _clean_text(self.request_id),
            "ip_address": _clean_text(self.ip_address),
        }
        encoded = orjson.dumps({key: value for key, value in fields.items() if value is not None})
        # Escaped in JSON, these characters cannot end the SQL string or begin a placeholder.
        text = encoded.decode().replace("'", "\\u0027").replace("%", "\\u0025")
        return f"SET LOCAL app.actor = '{text}'; "


current_context: ContextVar[Context | None] = ContextVar("audit", default=None)


def build_actor_sql() -> str:
    """Return the SQL statement that sets or clears the context until the end of the transaction."""
    context = current_context.get()
    return _NO_ACTOR if context is None else context.sql


def _clean_text(text: str | None) -> str | None:
    """Truncate the text, and remove or replace characters that PostgreSQL's JSON rejects."""
    if text is None:
        return None
    return text.replace("\x00", "")[:_MAX_TEXT_LENGTH].encode("utf-8", "replace").decode()
