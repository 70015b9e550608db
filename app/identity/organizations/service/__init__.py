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
    remember_removal,
    was_removed,
)
from app.identity.organizations.service.reading import (
    get,
    list_of_caller,
    of_key,
    of_user,
    retention_days,
    show,
    with_retention,
)
from app.identity.organizations.service.roles import lock_role
from app.identity.organizations.service.settings import claim_minutes, draft_hours

__all__ = [
    "claim_minutes",
    "close",
    "close_record",
    "create",
    "draft_hours",
    "get",
    "join",
    "list_of_caller",
    "lock",
    "lock_role",
    "of_key",
    "of_user",
    "remember_removal",
    "reopen_record",
    "retention_days",
    "show",
    "update",
    "was_removed",
    "with_retention",
]
