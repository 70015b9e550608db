"""Public functions of the organizations feature, for use by other features."""

from app.identity.organizations.service.changing import (
    close,
    close_record,
    lock,
    reopen_record,
    update,
)
from app.identity.organizations.service.creating import (
    create,
    join,
    record_removal,
    was_removed,
)
from app.identity.organizations.service.reading import (
    get,
    get_retention_days,
    list_for_caller,
    list_for_key,
    list_for_user,
    list_with_retention,
    render,
)
from app.identity.organizations.service.roles import lock_role
from app.identity.organizations.service.settings import (
    allows_self_review,
    get_claim_minutes,
    get_draft_hours,
)

__all__ = [
    "allows_self_review",
    "close",
    "close_record",
    "create",
    "get",
    "get_claim_minutes",
    "get_draft_hours",
    "get_retention_days",
    "join",
    "list_for_caller",
    "list_for_key",
    "list_for_user",
    "list_with_retention",
    "lock",
    "lock_role",
    "record_removal",
    "render",
    "reopen_record",
    "update",
    "was_removed",
]
