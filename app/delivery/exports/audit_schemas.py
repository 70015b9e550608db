"""Request and response schemas for the audit trail of exports."""

from app.kit import audit
from app.kit.api.fields import JsonObject, Nested, OneOf, Response, Schema, Str, UtcDateTime, Uuid


class ExportAuditFilters(Schema):
    """Filters for the audit trail of exports."""

    job_id = Uuid()
    actor_id = Uuid()
    action = Str(max_length=100)


class ExportActor(Response):
    """The actor of an audit entry. If a worker or a schedule acted, `kind` is `system`."""

    kind = Str(validate=OneOf(audit.ACTOR_KINDS))
    id = Uuid(allow_none=True)
    label = Str()


class ExportAuditEntry(Response):
    """An audit entry for one action on an export."""

    id = Uuid()
    at = UtcDateTime()
    actor = Nested(ExportActor)
    action = Str(
        description=(
            "`exports.create`, `exports.download`, `exports.cancel` or `exports.retry`;"
            " `exports.run` if a worker changed the status; `exports.expire` if the file was"
            " deleted, because it expired or the export failed or was cancelled."
        )
    )
    job_id = Uuid()
    format = Str()
    changes = JsonObject(description="The old and the new value of each changed property.")
    request_id = Str(allow_none=True)
    ip_address = Str(allow_none=True)
