"""Who acts in the running request, job or command, as PostgreSQL is told with the tenant."""

from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal
from uuid import UUID

import orjson

Kind = Literal["user", "api_key", "system", "control_plane"]
_LABEL_LENGTH = 320
_NOBODY = "SET LOCAL app.actor = ''; "


@dataclass(frozen=True)
class Context:
    """What entries of the audit log say about the running work beside the change itself.

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

    @cached_property
    def sql(self) -> str:
        """The statement that tells PostgreSQL, to be put before another one."""
        members: dict[str, Any] = {
            "kind": self.kind,
            "id": self.id,
            "label": _clean(self.label),
            "operation": self.operation,
            "verb": self.verb,
            "own": self.own,
            "request_id": _clean(self.request_id),
            "ip_address": _clean(self.ip_address),
        }
        written = orjson.dumps({key: value for key, value in members.items() if value is not None})
        # Escaped as JSON escapes, neither SQL nor the driver's placeholders can see these.
        text = written.decode().replace("'", "\\u0027").replace("%", "\\u0025")
        return f"SET LOCAL app.actor = '{text}'; "


bound: ContextVar[Context | None] = ContextVar("audit", default=None)


def prefix() -> str:
    """Return the SQL that tells PostgreSQL who acts, until the transaction's end."""
    context = bound.get()
    return _NOBODY if context is None else context.sql


def _clean(text: str | None) -> str | None:
    """Return the text as PostgreSQL's JSON can hold it, of a length that a reader can take in."""
    if text is None:
        return None
    return text.replace("\x00", "")[:_LABEL_LENGTH].encode("utf-8", "replace").decode()
