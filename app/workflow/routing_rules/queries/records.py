"""SQL queries that read and write routing rules."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, select, text, update

from app.kit import db, tenancy
from app.kit.pagination import Page, PageRequest, paginate
from app.kit.periods import build_filter_conditions
from app.workflow.routing_rules.models import RoutingRule

_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))")
_SORT_COLUMNS = {
    "position": RoutingRule.position,
    "name": RoutingRule.name,
    "created_at": RoutingRule.created_at,
}
_SET_ORDER = text(
    """
    UPDATE routing_rules SET position = new_position
    FROM unnest(CAST(:ids AS uuid[])) WITH ORDINALITY AS new_order (id, new_position)
    WHERE organization_id = :org AND routing_rules.id = new_order.id
     AND position <> new_position
    """
)


def lock() -> None:
    """Acquire the organization's routing lock until the transaction ends.

    Both routing and changes to rules acquire this lock, so that they never run at the same time.
    """
    db.session().execute(_LOCK, {"key": f"{tenancy.current_organization_id()}/routing"})


def get_page(request: PageRequest, filters: Mapping[str, Any]) -> Page:
    """Return a page of the rules that match `filters`.

    `filters` maps columns to values. Two other keys are allowed: created_after and created_before.
    """
    statement = select(RoutingRule).where(*build_filter_conditions(RoutingRule, filters))
    return paginate(statement, request, sort_columns=_SORT_COLUMNS, unique=RoutingRule.id)


def find(rule_id: UUID) -> RoutingRule | None:
    """Return the current row of a rule, or None if the rule does not exist."""
    statement = select(RoutingRule).where(RoutingRule.id == rule_id)
    statement = statement.execution_options(populate_existing=True)
    return db.session().execute(statement).scalar_one_or_none()


def list_in_order() -> list[RoutingRule]:
    """Return all rules in the order in which they apply."""
    statement = select(RoutingRule).order_by(RoutingRule.position)
    statement = statement.execution_options(populate_existing=True)
    return list(db.session().execute(statement).scalars())


def has_enabled_rules() -> bool:
    """Return whether the organization has an enabled rule."""
    statement = select(RoutingRule.id).where(RoutingRule.enabled).limit(1)
    return db.session().execute(statement).first() is not None


def count() -> int:
    """Return the number of rules of the organization, including disabled rules."""
    statement = select(func.count(RoutingRule.id))
    return db.session().execute(statement).scalar_one()


def list_ids() -> list[UUID]:
    """Return the ids of all rules in the order in which they apply."""
    statement = select(RoutingRule.id).order_by(RoutingRule.position)
    return list(db.session().scalars(statement))


def set_order(rule_ids: Sequence[UUID]) -> None:
    """Set the order of the rules: the n-th id in `rule_ids` gets the position n."""
    values = {
        "org": tenancy.current_organization_id(),
        "ids": [str(rule_id) for rule_id in rule_ids],
    }
    db.session().execute(_SET_ORDER, values)


def delete_rule(rule_id: UUID) -> None:
    """Delete a rule; the positions of other rules do not change."""
    db.execute_bulk(delete(RoutingRule).where(RoutingRule.id == rule_id))


def disable_rules_of_user(user_id: UUID, reason: str) -> None:
    """Disable the rules that assign artifacts directly to this user, and store the reason."""
    db.execute_bulk(
        update(RoutingRule)
        .where(RoutingRule.user_id == user_id, RoutingRule.enabled)
        .values(
            enabled=False,
            disabled_reason=reason,
            revision=RoutingRule.revision + 1,
            updated_at=func.now(),
        )
    )


def clear_schema(schema_id: UUID) -> None:
    """Remove a schema from the rules that set it; a trigger disables them and stores the reason."""
    db.execute_bulk(
        update(RoutingRule).where(RoutingRule.schema_id == schema_id).values(schema_id=None)
    )
