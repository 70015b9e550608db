"""Roles, and the role that each permission requires."""

from enum import IntEnum

from app.kit.errors import ApiError


class Role(IntEnum):
    """Roles in an organization; a higher role has all permissions of the lower ones."""

    viewer = 1
    labeler = 2
    reviewer = 3
    admin = 4
    owner = 5


PERMISSIONS: dict[str, Role] = {
    "activity:read": Role.viewer,
    "api_keys:manage": Role.admin,
    "artifacts:assign": Role.reviewer,
    "artifacts:read": Role.viewer,
    "artifacts:create": Role.labeler,
    "artifacts:claim": Role.labeler,
    "artifacts:delete": Role.admin,
    "artifacts:update": Role.admin,
    "audit_log:read": Role.admin,
    "assignments:read": Role.labeler,
    "billing:change_plan": Role.owner,
    "billing:manage": Role.admin,
    "billing:read": Role.viewer,
    "comments:read": Role.viewer,
    "comments:write": Role.labeler,
    "connectors:manage": Role.admin,
    "connectors:read": Role.viewer,
    "drift:manage": Role.reviewer,
    "drift:read": Role.viewer,
    "export_formats:read": Role.viewer,
    "exports:audit": Role.admin,
    "exports:create": Role.reviewer,
    "exports:download": Role.reviewer,
    "exports:read": Role.viewer,
    "feedback:read": Role.viewer,
    "feedback:write": Role.labeler,
    "ingestion_jobs:manage": Role.admin,
    "ingestion_jobs:read": Role.viewer,
    "invitations:manage": Role.admin,
    "members:read": Role.viewer,
    "members:remove": Role.viewer,
    "members:update": Role.admin,
    "organizations:close": Role.owner,
    "organizations:read": Role.viewer,
    "organizations:transfer": Role.owner,
    "organizations:update": Role.admin,
    "quality:manage": Role.admin,
    "quality:read": Role.viewer,
    "quality:review": Role.reviewer,
    "quality_runs:create": Role.reviewer,
    "quality_runs:read": Role.viewer,
    "quality_runs:review": Role.reviewer,
    "predictions:create": Role.labeler,
    "review_queue:assign": Role.admin,
    "review_queue:read": Role.reviewer,
    "review_queue:work": Role.reviewer,
    "routing_rules:manage": Role.admin,
    "routing_rules:read": Role.viewer,
    "scheduled_exports:manage": Role.admin,
    "scheduled_exports:read": Role.viewer,
    "schemas:manage": Role.admin,
    "schemas:read": Role.viewer,
    "sso:manage": Role.admin,
    "tag_sets:read": Role.viewer,
    "tag_sets:review": Role.reviewer,
    "tag_sets:write": Role.labeler,
    "teams:manage": Role.admin,
    "teams:read": Role.viewer,
    "webhooks:manage": Role.admin,
    "workload:read": Role.viewer,
}


def require_role(actual: Role, required: Role) -> None:
    """Raise 403 `insufficient_role` when `actual` is below `required`."""
    if actual < required:
        raise ApiError(
            "insufficient_role",
            f"This action requires the role {required.name} or a higher role.",
            details={"required": required.name, "actual": actual.name},
        )
