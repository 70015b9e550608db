"""The event outbox. An event is a row that is written in the transaction that causes the event.

`emit` writes the event and, in the same statement, one job for each handler that is subscribed to
the event's name. The emitting code does not know the handlers. Handlers run later, in a worker, at
least once. A batch handler gets one job for up to `MAX_GROUP_SIZE` events from the same call of
`emit_many`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

import orjson
from sqlalchemy import ForeignKey, Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db, tenancy
from app.kit.ids import generate_ids, uuid7
from app.kit.prepared import Prepared

Payload = TypeVar("Payload", bound=Mapping[str, object])


class EventName(str, Generic[Payload]):
    """The name of an event. The type parameter is the type of the event's payload.

    Every event has one constant, in the module `emitted_events` of the feature that emits it.
    """

    __slots__ = ()


AnyEventName = EventName[Any]
"""The name of an event with any payload."""


class OutboxEvent(db.Base):
    """An emitted event, kept for a week for inspection. The jobs of its handlers contain a copy."""

    __tablename__ = "outbox_events"
    __table_args__ = (Index("ix_outbox_events_created_at", "created_at"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    organization_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("organizations.id", ondelete="CASCADE")
    )
    name: Mapped[str]
    data: Mapped[dict[str, Any]]
    request_id: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
_handlers: dict[str, list[tuple[str, str]]] = defaultdict(list)
_group_functions: dict[str, str] = {}

MAX_GROUP_SIZE = 200
"""The maximum number of events in one job."""

_EMIT = text(
    """
    WITH event AS (
        INSERT INTO outbox_events (id, organization_id, name, data, request_id)
        VALUES (:id, :organization_id, :name, CAST(:data AS jsonb), :request_id)
    )
    INSERT INTO jobs (id, organization_id, queue, function, args, request_id, event_id)
    SELECT gen_random_uuid(), :organization_id, queue, function,
           jsonb_build_object('event_id', CAST(:id AS text), 'name', CAST(:name AS text),
                              'data', CAST(:data AS jsonb)), :request_id, :id
    FROM unnest(CAST(:functions AS text[]), CAST(:queues AS text[])) AS handler (function, queue)
    """
)
_EMIT_WITHOUT_HANDLERS = Prepared(
    "emit_without_handlers",
    "uuid, uuid, text, jsonb, text",
    "INSERT INTO outbox_events (id, organization_id, name, data, request_id)"
    " VALUES ($1, $2, $3, $4, $5)",
)

_EMIT_MANY = text(
    """
    WITH event AS (
        INSERT INTO outbox_events (id, organization_id, name, data, request_id)
        SELECT id, :organization_id, :name, data, :request_id
        FROM unnest(CAST(:ids AS uuid[]), CAST(:payloads AS jsonb[])) AS payload (id, data)
        RETURNING id, data
    ), grouped AS (
        INSERT INTO jobs (id, organization_id, queue, function, args, request_id)
        SELECT gen_random_uuid(), :organization_id, queue, function, args, :request_id
        FROM unnest(CAST(:groups AS jsonb[])) AS args
        CROSS JOIN unnest(CAST(:group_functions AS text[]), CAST(:group_queues AS text[]))
            AS handler (function, queue)
    )
    INSERT INTO jobs (id, organization_id, queue, function, args, request_id, event_id)
    SELECT gen_random_uuid(), :organization_id, queue, function,
           jsonb_build_object('event_id', event.id, 'name', CAST(:name AS text),
                              'data', event.data), :request_id, event.id
    FROM event
    CROSS JOIN unnest(CAST(:functions AS text[]), CAST(:queues AS text[]))
        AS handler (function, queue)
    """
)

# The caller passes a SELECT of organization ids. One statement is then enough for any number of
# organizations.
_EMIT_EACH = """
    WITH event AS (
        INSERT INTO outbox_events (id, organization_id, name, data, request_id)
        SELECT gen_random_uuid(), organization.id, :name, CAST(:data AS jsonb), :request_id
        FROM ({organizations}) AS organization (id)
        RETURNING id, organization_id
    ), job AS (
        INSERT INTO jobs (id, organization_id, queue, function, args, request_id, event_id)
        SELECT gen_random_uuid(), event.organization_id, queue, function,
               jsonb_build_object('event_id', event.id, 'name', CAST(:name AS text),
                                  'data', CAST(:data AS jsonb)), :request_id, event.id
        FROM event
        CROSS JOIN unnest(CAST(:functions AS text[]), CAST(:queues AS text[]))
            AS handler (function, queue)
    )
    SELECT count(*) FROM event
"""


def subscribe(name: str, function: str, queue: str, *, group_function: str | None = None) -> None:
    """Subscribe the job handler `function` to the event `name`. The `handler` decorator calls this.

    For a batch handler, `group_function` is the name of the handler for jobs with several events.
    """
    if (function, queue) not in _handlers[name]:
        _handlers[name].append((function, queue))
    if group_function is not None:
        _group_functions[function] = group_function


def set_request_id(request_id: str | None) -> None:
    """Set the request id that is stored in emitted events and enqueued jobs."""
    _request_id.set(request_id)


def get_request_id() -> str | None:
    """Return the id of the request that is running or that caused the running job, or None."""
    return _request_id.get()


def emit(name: EventName[Payload], data: Payload) -> UUID:
    """Write an event and the jobs of its handlers, and return the id of the event.

    Runs in the current transaction, for the current organization. `data` is encoded as JSON, with
    UUIDs and times as strings. The session is flushed first, so that the records that the event
    mentions exist when a handler runs.
    """
    event_id = uuid7()
    organization_id = tenancy.current_organization_id()
    handlers = _handlers.get(name)
    session = db.session()
    session.flush()
    encoded = orjson.dumps(data, default=str).decode()
    if not handlers:
        values = (str(event_id), str(organization_id), name, encoded, _request_id.get())
        _EMIT_WITHOUT_HANDLERS.execute(*values)
        return event_id
    session.execute(
        _EMIT,
        {
            "id": event_id,
            "organization_id": organization_id,
            "name": name,
            "data": encoded,
            "request_id": _request_id.get(),
            "functions": [function for function, _ in handlers],
            "queues": [queue for _, queue in handlers],
        },
    )
    return event_id


def emit_many(name: EventName[Payload], payloads: Sequence[Payload]) -> None:
    """Emit one event (see `emit`) for each payload in `payloads`, in a single statement."""
    if not payloads:
        return
    handlers = _handlers.get(name, [])
    group_handlers = [
        entry for entry in handlers if entry[0] in _group_functions and len(payloads) > 1
    ]
    single_handlers = [entry for entry in handlers if entry not in group_handlers]
    ids = [str(event_id) for event_id in generate_ids(len(payloads))]
    encoded_payloads = [orjson.dumps(data, default=str) for data in payloads]
    session = db.session()
    session.flush()
    session.execute(
        _EMIT_MANY,
        {
            "organization_id": tenancy.current_organization_id(),
            "name": name,
            "ids": ids,
            "payloads": [data.decode() for data in encoded_payloads],
            "request_id": _request_id.get(),
            "functions": [function for function, _ in single_handlers],
            "queues": [queue for _, queue in single_handlers],
            "groups": _encode_groups(name, ids, encoded_payloads) if group_handlers else [],
            "group_functions": [_group_functions[function] for function, _ in group_handlers],
            "group_queues": [queue for _, queue in group_handlers],
        },
    )


def _encode_groups(name: str, ids: Sequence[str], payloads: Sequence[bytes]) -> list[str]:
    """Split events into groups of at most `MAX_GROUP_SIZE`, and return the job args of each group.

    The args are encoded as JSON.
    """
    events = [
        {"event_id": event_id, "name": name, "data": orjson.Fragment(data)}
        for event_id, data in zip(ids, payloads, strict=True)
    ]
    groups = (
        events[start : start + MAX_GROUP_SIZE] for start in range(0, len(events), MAX_GROUP_SIZE)
    )
    return [orjson.dumps({"events": group}).decode() for group in groups]


def emit_for_organizations(
    name: EventName[Payload], data: Payload, *, organizations_sql: str, **values: object
) -> int:
    """Emit one event for each selected organization, and return how many events were emitted.

    All events have the same `data`. `organizations_sql` is a SELECT that returns organization
    ids, and `values` are its parameters. The caller must have bound all organizations
    (`tenancy.across_organizations`).
    """
    handlers = _handlers.get(name, [])
    db.session().flush()
    result = db.session().execute(
        text(_EMIT_EACH.format(organizations=organizations_sql)),
        {
            **values,
            "name": name,
            "data": orjson.dumps(data, default=str).decode(),
            "request_id": _request_id.get(),
            "functions": [function for function, _ in handlers],
            "queues": [queue for _, queue in handlers],
        },
    )
    return int(result.scalar_one())
