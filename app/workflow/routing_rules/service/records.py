"""Creation, update, reordering and deletion of rules.

Every change takes the organization's routing lock first, so that the order is always complete, and
no batch is routed with half of a change.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from app.identity.members.eligibility import find_eligible
from app.kit import db, errors, events
from app.kit.pagination import Page, PageRequest
from app.kit.permissions import Role
from app.workflow.routing_rules.models import RoutingRule
from app.workflow.routing_rules.queries import records as queries
from app.workflow.routing_rules.service import checking

MAX_RULES = 200
_OWN = {"name", "enabled", "conditions", "stop"}


def list_rules(page: PageRequest, **filters: Any) -> Page:
    """List rules; filters: enabled, team_id, user_id, created_after, created_before."""
    return queries.page(page, filters)


def get(rule_id: UUID) -> RoutingRule:
    """Return a rule. Raises 404."""
    rule = queries.one(rule_id)
    if rule is None:
        raise errors.not_found()
    return rule


def create(
    *,
    name: str,
    enabled: bool,
    conditions: dict[str, Any],
    action: dict[str, Any],
    stop: bool,
    asked_by: UUID,
    position: int | None = None,
    apply: bool = False,
) -> RoutingRule:
    """Create a rule, last or at a position; the rules from there on move down.

    Raises 400 on invalid conditions or an invalid action; 409 if there are `MAX_RULES` rules.
    """
    checking.conditions(conditions)
    checking.action(action)
    queries.lock()
    order = queries.ids_in_order()
    if len(order) >= MAX_RULES:
        raise errors.conflict(
            f"The limit of {MAX_RULES} rules is reached. Delete a rule first.", limit=MAX_RULES
        )
    rule = RoutingRule(
        name=name,
        enabled=enabled,
        conditions=conditions,
        stop=stop,
        position=len(order) + 1,
        **action,
    )
    db.session().add(rule)
    db.session().flush()
    _move(rule, order, position)
    _ask(asked_by, apply=apply)
    return get(rule.id)


def update(
    rule_id: UUID,
    *,
    revision: int | None,
    changes: dict[str, Any],
    asked_by: UUID,
    apply: bool = False,
) -> RoutingRule:
    """Change a rule; `action` replaces the whole action, `position` moves it.

    Enabling a rule validates its action again. Raises 404; 409 `stale_precondition`; the same 400
    as `create`.
    """
    get(rule_id)
    if "conditions" in changes:
        checking.conditions(changes["conditions"])
    if "action" in changes:
        checking.action(changes["action"])
    queries.lock()
    rule = get(rule_id)
    if revision is not None and revision != rule.revision:
        raise errors.stale(rule.revision)
    if changes.get("enabled") and "action" not in changes and not rule.enabled:
        checking.action(rule.action)
    own = {name: changes[name] for name in _OWN & changes.keys()}
    for member, value in {**own, **changes.get("action", {})}.items():
        setattr(rule, member, value)
    if "enabled" in changes:
        rule.disabled_reason = None
    db.session().flush()
    _move(rule, queries.ids_in_order(), changes.get("position"))
    _ask(asked_by, apply=apply)
    return get(rule_id)


def delete(rule_id: UUID, *, revision: int | None) -> None:
    """Delete a rule and move the later rules up. Raises 404, 409 `stale_precondition`."""
    queries.lock()
    rule = get(rule_id)
    if revision is not None and revision != rule.revision:
        raise errors.stale(rule.revision)
    queries.remove(rule_id)
    db.session().expunge(rule)
    queries.put_in_order(queries.ids_in_order())


def reorder(*, rule_ids: Sequence[UUID], asked_by: UUID, apply: bool = False) -> dict[str, Any]:
    """Put all rules in this order and return them as {rules}.

    Raises 400 on a duplicate id; 409 `conflict` with `details.missing` and `details.unknown` if the
    ids are not exactly those of the existing rules.
    """
    for index, rule_id in enumerate(rule_ids):
        if rule_id in rule_ids[:index]:
            raise errors.invalid("Each id must occur only once.", f"rule_ids.{index}")
    queries.lock()
    known = queries.ids_in_order()
    if set(known) != set(rule_ids):
        raise errors.conflict(
            "The ids must be those of all existing rules. Read the rules again.",
            missing=[one for one in known if one not in set(rule_ids)],
            unknown=[one for one in rule_ids if one not in set(known)],
        )
    queries.put_in_order(rule_ids)
    _ask(asked_by, apply=apply)
    return {"rules": queries.in_order()}


def disable_of_viewer(user_id: UUID) -> None:
    """Disable the rules that assign to a user, if this user can no longer label."""
    queries.lock()
    if not find_eligible([user_id], Role.labeler):
        queries.disable_of_user(user_id, "member_cannot_label")


def _move(rule: RoutingRule, order: list[UUID], position: int | None) -> None:
    """Move a rule to its position, or to the end if the position is too high."""
    if position is None:
        return
    others = [one for one in order if one != rule.id]
    others.insert(position - 1, rule.id)
    queries.put_in_order(others)


def _ask(asked_by: UUID, *, apply: bool) -> None:
    if apply:
        events.emit("routing.requested", {"by": asked_by})
