"""Response schemas of simulated routing."""

from app.kit.api.fields import Bool, Int, JsonObject, List, Nested, OneOf, Schema, Str, Uuid
from app.workflow.routing_rules.models import STRATEGIES


class MatchedRule(Schema):
    """A rule that matched; `rule_id` is null if the rule is not saved."""

    rule_id = Uuid(required=True, allow_none=True)
    name = Str(required=True)


class RoutingOutcome(Schema):
    """Values the document would get; without user and team it stays in the pool."""

    team_id = Uuid(required=True, allow_none=True)
    user_id = Uuid(required=True, allow_none=True)
    strategy = Str(required=True, allow_none=True, validate=OneOf(STRATEGIES))
    note = Str(
        required=True,
        allow_none=True,
        metadata={"description": "Why the assignee is not the one the strategy would choose."},
    )
    priority = Int(required=True, allow_none=True)
    due_in_hours = Int(required=True, allow_none=True)
    schema_id = Uuid(required=True, allow_none=True)


class RuleExplanation(MatchedRule):
    """Result of one rule.

    `conditions` is the tree with `matched` in each node and the `actual` value in each condition;
    null if the rule was not evaluated.
    """

    position = Int(required=True)
    matched = Bool(required=True)
    skipped_because = Str(required=True, allow_none=True, validate=OneOf(["stopped", "disabled"]))
    conditions = JsonObject(required=True, allow_none=True)


class SimulatedDocument(Schema):
    """Result of the rules for one artifact."""

    artifact_id = Uuid(required=True, allow_none=True)
    name = Str(required=True, allow_none=True)
    waiting = Bool(
        required=True,
        metadata={
            "description": "Whether routing would process the document now: ready and unassigned."
        },
    )
    matched = List(Nested(MatchedRule), required=True)
    outcome = Nested(RoutingOutcome, required=True)
    rules = List(Nested(RuleExplanation), required=True)


class RoutingSimulation(Schema):
    """Results per artifact, in the order of the request."""

    documents = List(Nested(SimulatedDocument), required=True)
