"""Routes for routing rules."""

from typing import Any
from uuid import UUID

from app.kit.api.blueprint import MIB, Blueprint, Listing
from app.kit.principal import Caller
from app.workflow.routing_rules.schemas import (
    CreateRoutingRule,
    ReorderRoutingRules,
    RoutingOrder,
    RoutingRule,
    RoutingRuleFilters,
    SimulateRoutingRules,
    UpdateRoutingRule,
)
from app.workflow.routing_rules.service import records, simulation
from app.workflow.routing_rules.simulation_schemas import RoutingSimulation

blueprint = Blueprint(
    "routing-rules", description="Rules that assign documents to teams and users."
)
_READ_PERMISSION, _MANAGE_PERMISSION = "routing_rules:read", "routing_rules:manage"


@blueprint.get(
    "/routing-rules",
    permission=_READ_PERMISSION,
    query=Listing(
        sort_keys=("position", "name", "created_at"), filters=RoutingRuleFilters, has_period=True
    ),
    returns=RoutingRule,
)
def list_routing_rules(caller: Caller, query: dict[str, Any]) -> object:
    """List routing rules.

    Returns the rules in the order in which they apply, unless another order is requested.
    """
    return records.list_rules(query.pop("page"), query)


@blueprint.post(
    "/routing-rules",
    permission=_MANAGE_PERMISSION,
    body=CreateRoutingRule,
    returns=RoutingRule,
    status=201,
)
def create_routing_rule(caller: Caller, body: dict[str, Any]) -> object:
    """Create a routing rule.

    Inserts the rule at `position` and moves the following rules down. If `apply` is true, all rules
    are applied to all unassigned documents in the background.
    """
    return records.create(**body, requested_by=caller.user_id)


@blueprint.post(
    "/routing-rules/reorder",
    permission=_MANAGE_PERMISSION,
    body=ReorderRoutingRules,
    returns=RoutingOrder,
)
def reorder_routing_rules(caller: Caller, body: dict[str, Any]) -> object:
    """Reorder routing rules.

    Sets the order of all rules. Responds with 409 `conflict` unless `rule_ids` contains exactly the
    ids of all existing rules.
    """
    return records.reorder(**body, requested_by=caller.user_id)


@blueprint.post(
    "/routing-rules/simulate",
    permission=_MANAGE_PERMISSION,
    body=SimulateRoutingRules,
    returns=RoutingSimulation,
    max_body=4 * MIB,
    writes=False,
)
def simulate_routing_rules(caller: Caller, body: dict[str, Any]) -> object:
    """Simulate routing rules.

    Returns the rules that match each stored or hypothetical document, the result of each condition,
    and the values that the document would get. Changes nothing.
    """
    return simulation.simulate(**body)


@blueprint.get("/routing-rules/{rule_id}", permission=_READ_PERMISSION, returns=RoutingRule)
def get_routing_rule(caller: Caller, rule_id: UUID) -> object:
    """Get a routing rule.

    Returns the conditions and the action of the rule, and the number of documents that it matched.
    """
    return records.get(rule_id)


@blueprint.patch(
    "/routing-rules/{rule_id}",
    permission=_MANAGE_PERMISSION,
    body=UpdateRoutingRule,
    returns=RoutingRule,
    revision="optional",
)
def update_routing_rule(
    caller: Caller, rule_id: UUID, body: dict[str, Any], revision: int | None
) -> object:
    """Update a routing rule.

    Changes the rule's name, conditions, action or `stop`, enables or disables it, or moves it.
    """
    apply = body.pop("apply")
    return records.update(
        rule_id, revision=revision, changes=body, requested_by=caller.user_id, apply=apply
    )


@blueprint.delete("/routing-rules/{rule_id}", permission=_MANAGE_PERMISSION, revision="optional")
def delete_routing_rule(caller: Caller, rule_id: UUID, revision: int | None) -> None:
    """Delete a routing rule.

    Deletes the rule and moves the following rules up.
    """
    records.delete(rule_id, revision=revision)
