"""Bodies of simulated routing: what the rules would make of documents."""

from app.kit.api.fields import Bool, Int, JsonObject, List, Nested, OneOf, Schema, Str, Uuid
from app.workflow.routing_rules.models import STRATEGIES


class MatchedRule(Schema):
    """A rule that matched; `rule_id` is null for one that is not saved."""

    rule_id = Uuid(required=True, allow_none=True)
    name = Str(required=True)


class RoutingOutcome(Schema):
    """What the document would be given. With neither user nor team it stays in the pool."""

    team_id = Uuid(required=True, allow_none=True)
    user_id = Uuid(required=True, allow_none=True)
    strategy = Str(required=True, allow_none=True, validate=OneOf(STRATEGIES))
    note = Str(
        required=True,
        allow_none=True,
        metadata={"description": "Why it is another than the strategy would choose."},
    )
    priority = Int(required=True, allow_none=True)
    due_in_hours = Int(required=True, allow_none=True)
    schema_id = Uuid(required=True, allow_none=True)


class ExplainedRule(MatchedRule):
    """How one rule came out. `conditions` is the tree, each node with `matched`, each condition
    with its `actual` value; null where the rule was not looked at."""

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
        metadata={"description": "Whether routing would touch it now: ready and unassigned."},
    )
    matched = List(Nested(MatchedRule), required=True)
    outcome = Nested(RoutingOutcome, required=True)
    rules = List(Nested(ExplainedRule), required=True)


class RoutingSimulation(Schema):
    """Results per artifact, in the order of the request."""

    documents = List(Nested(SimulatedDocument), required=True)
