"""Public functions of the control plane, called by its API and by the commands."""

from app.identity.control_plane.service.accounts import (
    create_user,
    disable_user,
    enable_user,
    list_sessions,
    list_users,
    revoke_sessions,
    set_password,
)
from app.identity.control_plane.service.changing import (
    LIMITS,
    close,
    reinstate,
    reopen,
    set_plan,
    suspend,
)
from app.identity.control_plane.service.provisioning import provision
from app.identity.control_plane.service.reading import list_by_ids, list_organizations, show
from app.identity.control_plane.service.reporting import report_failures

__all__ = [
    "LIMITS",
    "close",
    "create_user",
    "disable_user",
    "enable_user",
    "list_by_ids",
    "list_organizations",
    "list_sessions",
    "list_users",
    "provision",
    "reinstate",
    "reopen",
    "report_failures",
    "revoke_sessions",
    "set_password",
    "set_plan",
    "show",
    "suspend",
]
