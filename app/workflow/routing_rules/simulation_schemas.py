"""Response schemas of simulated routing."""

from app.kit.api.fields import Bool, Int, JsonObject, List, Nested, OneOf, Response, Str, Uuid
from app.workflow.routing_rules.models import STRATEGIES


class MatchedRule(Response):
    """A rule that matched; `rule_id` is null if the rule is not saved."""

    rule_id = Uuid(allow_none=True)
    name = Str()


class RoutingOutcome(Response):
    """Values that the document would get; without a user and a team, it stays in the pool."""

    team_id = Uuid(allow_none=True)
    user_id = Uuid(allow_none=True)
    strategy = Str(allow_none=True, validate=OneOf(STRATEGIES))
    note = Str(
        allow_none=True,
        description="The reason if the document could not be assigned as the rule specifies.",
    )
    priority = Int(allow_none=True)
    due_in_hours = Int(allow_none=True)
    schema_id = Uuid(allow_none=True)


class RuleExplanation(MatchedRule):
    """Result of one rule.

    `conditions` is the tree with `matched` in each node and the `actual` value in each condition;
    null if the rule was not evaluated.
    """

    position = Int()
    matched = Bool()
    skipped_because = Str(allow_none=True, validate=OneOf(["stopped", "disabled"]))
    conditions = JsonObject(allow_none=True)


class SimulatedDocument(Response):
    """Result of the rules for one artifact."""

    artifact_id = Uuid(allow_none=True)
    name = Str(allow_none=True)
    waiting = Bool(
        description="Whether routing would process the document now: it is unassigned, not"
        " archived, and ready or waiting for the rules."
    )
    matched = List(Nested(MatchedRule))
    outcome = Nested(RoutingOutcome)
    rules = List(Nested(RuleExplanation))


class RoutingSimulation(Response):
    """Results per artifact, in the order of the request."""

    documents = List(Nested(SimulatedDocument))
