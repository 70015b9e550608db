"""Schemas of the audit log's filters and entries."""

from app.kit import audit
from app.kit.api.fields import JsonObject, Nested, OneOf, Schema, Str, UtcDateTime, Uuid


class AuditFilters(Schema):
    """Filters of the audit log."""

    actor_id = Uuid()
    actor_kind = Str(validate=OneOf(audit.KINDS))
    action = Str(max_length=100)
    target_type = Str(max_length=100)
    target_id = Uuid()
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class Actor(Schema):
    """Who made the change. A job or an unknown caller is `system`."""

    kind = Str(required=True, validate=OneOf(audit.KINDS))
    id = Uuid(required=True, allow_none=True)
    label = Str(required=True)


class Target(Schema):
    """The record that changed."""

    type = Str(required=True)
    id = Uuid(required=True, allow_none=True)
    label = Str(required=True, allow_none=True)


class AuditEntry(Schema):
    """Who changed which record, when and from where."""

    id = Uuid(required=True)
    at = UtcDateTime(required=True)
    actor = Nested(Actor, required=True)
    operation = Str(
        required=True,
        allow_none=True,
        metadata={"description": "The API operation or the job that made the change."},
    )
    action = Str(required=True, metadata={"description": "The change, such as `webhooks.create`."})
    target = Nested(Target, required=True)
    changes = JsonObject(
        required=True,
        metadata={
            "description": "The old and the new value of each changed member: `[from, to]`. A "
            'secret is shown as `{"secret": true}`, a large value by its `sha256` and `bytes`.'
        },
    )
    request_id = Str(required=True, allow_none=True)
    ip_address = Str(required=True, allow_none=True)
