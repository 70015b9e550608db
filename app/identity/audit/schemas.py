"""Request and response schemas for the audit log."""

from app.kit import audit
from app.kit.api.fields import JsonObject, Nested, OneOf, Response, Schema, Str, UtcDateTime, Uuid


class AuditFilters(Schema):
    """Query parameters that filter the audit log."""

    actor_id = Uuid()
    actor_kind = Str(validate=OneOf(audit.ACTOR_KINDS))
    action = Str(max_length=100)
    target_type = Str(max_length=100)
    target_id = Uuid()


class Actor(Response):
    """The actor that made the change; a job or an unknown caller has the kind `system`."""

    kind = Str(validate=OneOf(audit.ACTOR_KINDS))
    id = Uuid(allow_none=True)
    label = Str(description="A display name of the actor, such as an email address.")


class Target(Response):
    """The record that changed."""

    type = Str()
    id = Uuid(allow_none=True)
    label = Str(allow_none=True, description="A display name of the record, or null.")


class AuditEntry(Response):
    """An entry of the audit log: who changed which record, when and from where."""

    id = Uuid()
    at = UtcDateTime()
    actor = Nested(Actor)
    operation = Str(
        allow_none=True, description="The API operation or the job that made the change."
    )
    action = Str(description="The type of change, such as `webhooks.create`.")
    target = Nested(Target)
    changes = JsonObject(
        description=(
            "The old and the new value of each changed field: `[from, to]`. A secret is shown as "
            '`{"secret": true}`, and a large value as its `sha256` and `bytes`.'
        )
    )
    request_id = Str(allow_none=True)
    ip_address = Str(allow_none=True)
    created_at = UtcDateTime(attribute="at", dump_only=True, description="The same as `at`.")
    updated_at = UtcDateTime(
        attribute="at", dump_only=True, description="The same as `at`: entries do not change."
    )
