"""Creation, update, reordering and deletion of routing rules.

Every change acquires the organization's routing lock first. The order of the rules is therefore
always complete, and no batch is routed while a change is incomplete.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.orm.attributes import flag_modified

from app.engines.conditions.compiled_conditions import CompiledConditions
from app.engines.conditions.operators import ConditionError
from app.identity.members.eligibility import find_eligible_user_ids
from app.identity.teams import service as teams
from app.kit import db, errors, events, jobs, tenancy
from app.kit.permissions import Role
from app.schemas.artifact_schemas.service import drafts as artifact_schemas
from app.workflow.routing_rules import emitted_events
from app.workflow.routing_rules.models import RoutingRule
from app.workflow.routing_rules.queries import people
from app.workflow.routing_rules.queries import records as queries
from app.workflow.routing_rules.service import compiled_rules, limits

list_rules = queries.get_page

APPLY_JOB = "routing_rules.apply"
MAX_RULES = 200
_UPDATABLE_COLUMNS = {"name", "enabled", "conditions", "stop"}


def get(rule_id: UUID) -> RoutingRule:
    """Return a rule. Raises 404 if it does not exist."""
    return errors.require_found(queries.find(rule_id))


def create(
    *,
    name: str,
    enabled: bool,
    conditions: dict[str, Any],
    action: dict[str, Any],
    stop: bool,
    requested_by: UUID,
    position: int | None = None,
    apply: bool = False,
) -> RoutingRule:
    """Create a rule at `position` and move the following rules down; by default, append the rule.

    If `apply` is set, request routing for all unassigned artifacts. Raises 400 for invalid
    conditions or an invalid action; 409 if there are already `MAX_RULES` rules, or if the patterns
    of all rules together exceed a limit.
    """
    compiled_conditions = validate_conditions(conditions)
    validate_action(action)
    queries.lock()
    order = queries.list_ids()
    if len(order) >= MAX_RULES:
        raise errors.conflict(
            f"The limit of {MAX_RULES} rules is reached. Delete a rule first.", limit=MAX_RULES
        )
    _check_patterns(compiled_conditions)
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
    _move_rule(rule, order, position)
    _request_routing(requested_by, apply=apply)
    return get(rule.id)


def update(
    rule_id: UUID,
    *,
    revision: int | None,
    changes: dict[str, Any],
    requested_by: UUID,
    apply: bool = False,
) -> RoutingRule:
    """Update a rule. `action` replaces the whole action, and `position` moves the rule.

    When a disabled rule is enabled, its action is validated again. If `apply` is set, request
    routing for all unassigned artifacts. Raises 404; 409 `stale_precondition` if `revision` is
    outdated; 400 for invalid conditions or an invalid action; 409 if the patterns of all rules
    together exceed a limit.
    """
    get(rule_id)
    compiled_conditions = None
    if "conditions" in changes:
        compiled_conditions = validate_conditions(changes["conditions"])
    if "action" in changes:
        validate_action(changes["action"])
    queries.lock()
    rule = get(rule_id)
    errors.check_revision(revision, rule.revision)
    if changes.get("enabled") and "action" not in changes and not rule.enabled:
        validate_action(rule.action)
    if compiled_conditions is not None:
        _check_patterns(compiled_conditions, rule)
    values = {name: changes[name] for name in _UPDATABLE_COLUMNS & changes.keys()}
    for name, value in {**values, **changes.get("action", {})}.items():
        setattr(rule, name, value)
    if "enabled" in changes:
        rule.disabled_reason = None
    order, position = queries.list_ids(), changes.get("position")
    if position is not None and min(position, len(order)) != rule.position:
        flag_modified(rule, "position")  # A move increments the revision, as other edits do.
    db.session().flush()
    _move_rule(rule, order, position)
    _request_routing(requested_by, apply=apply)
    return get(rule_id)


def delete(rule_id: UUID, *, revision: int | None) -> None:
    """Delete a rule and move the following rules up.

    Raises 404; 409 `stale_precondition` if `revision` is outdated.
    """
    queries.lock()
    rule = get(rule_id)
    errors.check_revision(revision, rule.revision)
    queries.delete_rule(rule_id)
    db.session().expunge(rule)
    queries.set_order(queries.list_ids())


def reorder(*, rule_ids: Sequence[UUID], requested_by: UUID, apply: bool = False) -> dict[str, Any]:
    """Set the order of all rules, and return a dict with the reordered `rules`.

    If `apply` is set, request routing for all unassigned artifacts. Raises 400 for a duplicate id;
    409 `conflict` with `details.missing` and `details.unknown` if `rule_ids` are not exactly the
    ids of the existing rules.
    """
    for index, rule_id in enumerate(rule_ids):
        if rule_id in rule_ids[:index]:
            raise errors.invalid("Each id must occur only once.", f"rule_ids.{index}")
    queries.lock()
    existing_ids = queries.list_ids()
    if set(existing_ids) != set(rule_ids):
        raise errors.conflict(
            "`rule_ids` must be exactly the ids of all existing rules. List the rules again.",
            missing=[rule_id for rule_id in existing_ids if rule_id not in set(rule_ids)],
            unknown=[rule_id for rule_id in rule_ids if rule_id not in set(existing_ids)],
        )
    queries.set_order(rule_ids)
    _request_routing(requested_by, apply=apply)
    return {"rules": queries.list_in_order()}


def disable_rules_of_ineligible_user(user_id: UUID) -> None:
    """Disable the rules that assign artifacts directly to a user, unless the user can label."""
    queries.lock()
    if not find_eligible_user_ids([user_id], Role.labeler):
        queries.disable_rules_of_user(user_id, "member_cannot_label")


def _move_rule(rule: RoutingRule, order: list[UUID], position: int | None) -> None:
    """Move a rule to `position`, or to the end if `position` is larger than the number of rules.

    Does nothing if `position` is None. `order` lists the ids of all rules in their current order.
    """
    if position is None:
        return
    new_order = [rule_id for rule_id in order if rule_id != rule.id]
    new_order.insert(position - 1, rule.id)
    queries.set_order(new_order)


def _request_routing(requested_by: UUID, *, apply: bool) -> None:
    """Request that the rules are applied to all unassigned documents, if `apply` is set.

    Each organization has one job that applies the rules. If the job is unfinished, it restarts.
    """
    if apply:
        payload: emitted_events.RequestedPayload = {"by": requested_by}
        events.emit(emitted_events.REQUESTED, payload)
        organization_id = tenancy.current_organization_id()
        jobs.enqueue_or_restart(
            APPLY_JOB,
            {},
            organization_id=organization_id,
            unique_key=f"{APPLY_JOB}:{organization_id}",
        )


def validate_conditions(value: dict[str, Any], path_prefix: str = "") -> CompiledConditions:
    """Validate and compile conditions. Raises 400 with the path of the first invalid condition."""
    try:
        return compiled_rules.get_compiled_conditions(value)
    except ConditionError as error:
        path = f"{path_prefix}conditions.{error.path}".rstrip(".")
        raise errors.invalid(error.message, path) from None


def _check_patterns(
    new_conditions: CompiledConditions, replaced_rule: RoutingRule | None = None
) -> None:
    """Check the limits on the regular expressions (patterns) of all rules and `new_conditions`.

    The conditions of `replaced_rule` are not counted. Raises 409 if the totals exceed a limit,
    unless they are no larger than before.
    """
    if not new_conditions.pattern_count:
        return
    rules = {rule.id: compiled_rules.compile_rule(rule) for rule in queries.list_in_order()}
    old_totals = limits.sum_patterns(rule.compiled_conditions for rule in rules.values())
    if replaced_rule is not None:
        del rules[replaced_rule.id]
    kept_conditions = [rule.compiled_conditions for rule in rules.values()]
    new_totals = limits.sum_patterns([new_conditions, *kept_conditions])
    if new_totals.error_message is not None and new_totals.is_larger_than(old_totals):
        raise errors.ApiError("conflict", new_totals.error_message, field="conditions")


def validate_action(value: Mapping[str, Any], path_prefix: str = "") -> None:
    """Validate an action. Raises 400 with the path of the first invalid property.

    An action must set at least one property. It must not have both a team and a user, or a strategy
    without a team. The team, user and schema must exist, and the user must be able to label. They
    are locked until the transaction ends.
    """
    path = f"{path_prefix}action"
    team_id, user_id, schema_id = value["team_id"], value["user_id"], value["schema_id"]
    if team_id is not None and user_id is not None:
        raise errors.invalid("Set either a team or a user, not both.", f"{path}.user_id")
    if value["strategy"] is not None and team_id is None:
        raise errors.invalid("A strategy requires a team; set `team_id`.", f"{path}.strategy")
    if all(setting is None for setting in value.values()):
        raise errors.invalid("Set at least one property of the action.", path)
    if user_id is not None:
        _validate_labeler(people.lock_member(user_id), f"{path}.user_id")
    if team_id is not None and not teams.lock_existing_teams([team_id]):
        raise errors.invalid("Must be the id of a team.", f"{path}.team_id")
    if schema_id is not None and not artifact_schemas.lock_reference(schema_id):
        raise errors.invalid("Must be the id of a schema.", f"{path}.schema_id")


def _validate_labeler(role: str | None, path: str) -> None:
    if role is None:
        raise errors.invalid("Must be the id of a member of the organization.", path)
    if Role[role] < Role.labeler:
        raise errors.invalid("Must be the id of a member who can label; viewers cannot.", path)
