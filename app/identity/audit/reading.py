"""SQL of reading the audit log."""

from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, select

from app.identity.audit.models import AuditEntry
from app.kit import db
from app.kit.pagination import Page, PageRequest, paginate


def page(organization_id: UUID, request: PageRequest, filters: dict[str, Any]) -> Page:
    """A page of an organization's entries."""
    statement = select(
        AuditEntry.id,
        AuditEntry.at,
        func.json_build_object(
            "kind",
            AuditEntry.actor_kind,
            "id",
            AuditEntry.actor_id,
            "label",
            AuditEntry.actor_label,
        ).label("actor"),
        AuditEntry.operation,
        AuditEntry.action,
        func.json_build_object(
            "type",
            AuditEntry.target_type,
            "id",
            AuditEntry.target_id,
            "label",
            AuditEntry.target_label,
        ).label("target"),
        AuditEntry.changes,
        AuditEntry.request_id,
        AuditEntry.ip_address,
    ).where(AuditEntry.organization_id == organization_id)
    since, until = filters.pop("created_after", None), filters.pop("created_before", None)
    if since is not None:
        statement = statement.where(AuditEntry.at > since)
    if until is not None:
        statement = statement.where(AuditEntry.at < until)
    for name, value in filters.items():
        statement = statement.where(getattr(AuditEntry, name) == value)
    return paginate(statement, request, sorts={"at": AuditEntry.at}, unique=AuditEntry.id)


def about(organization_id: UUID, target_type: str, target_ids: UUID | Select[Any]) -> Any:
    """A SELECT of the entries of one record, or of those that another SELECT finds."""
    target = AuditEntry.target_id
    return select(
        AuditEntry.id,
        AuditEntry.at,
        AuditEntry.actor_kind,
        AuditEntry.actor_id,
        AuditEntry.actor_label,
        AuditEntry.operation,
        AuditEntry.action,
        target,
        AuditEntry.changes,
    ).where(
        AuditEntry.organization_id == organization_id,
        target == target_ids if isinstance(target_ids, UUID) else target.in_(target_ids),
        AuditEntry.target_type == target_type,
    )


def latest(organization_id: UUID, most: int) -> list[dict[str, Any]]:
    """A chain's latest entries, the oldest of them first."""
    statement = (
        select(*AuditEntry.__table__.columns)
        .where(AuditEntry.organization_id == organization_id)
        .order_by(AuditEntry.at.desc(), AuditEntry.id.desc())
        .limit(most)
    )
    rows = db.session().execute(statement).mappings().all()
    return [dict(row) for row in reversed(rows)]
