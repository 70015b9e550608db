"""Response schemas for the simulation of routing rules."""

from app.kit.api.fields import Bool, Int, JsonObject, List, Nested, OneOf, Response, Str, Uuid
from app.workflow.routing_rules.models import STRATEGIES


class MatchedRule(Response):
    """A rule that matches a document; `rule_id` is null if the rule is not saved."""

    rule_id = Uuid(allow_none=True)
    name = Str()


class RoutingOutcome(Response):
    """The values that routing would set on a document.

    If `team_id` and `user_id` are null, the document stays in the pool.
    """

    team_id = Uuid(allow_none=True)
    user_id = Uuid(allow_none=True)
    strategy = Str(allow_none=True, validate=OneOf(STRATEGIES))
    note = Str(
        allow_none=True,
        description="The reason why the document could not be assigned as the rule specifies.",
    )
    priority = Int(allow_none=True)
    due_in_hours = Int(allow_none=True, description="Hours from the routing to the due time.")
    schema_id = Uuid(allow_none=True)


class RuleExplanation(MatchedRule):
    """The result of one rule for a document.

    `skipped_because` is `disabled`, or `stopped` if an earlier rule with `stop` matched.
    `conditions` is the tree of conditions, with `matched` in each node and the `actual` value in
    each condition. `conditions` is null if the rule was not evaluated.
    """

    position = Int()
    matched = Bool(description="Whether the rule matches; false if it was not evaluated.")
    skipped_because = Str(allow_none=True, validate=OneOf(["stopped", "disabled"]))
    conditions = JsonObject(allow_none=True)


class SimulatedDocument(Response):
    """The results of all rules for one stored or hypothetical document."""

    artifact_id = Uuid(allow_none=True)
    name = Str(allow_none=True)
    waiting = Bool(
        description="Whether routing would process the document now. It must be unassigned, not"
        " archived, and either ready or waiting for the rules."
    )
    matched = List(Nested(MatchedRule), description="The rules that match the document.")
    outcome = Nested(RoutingOutcome)
    rules = List(Nested(RuleExplanation))


class RoutingSimulation(Response):
    """The results for each document, in the order of the request."""

    documents = List(Nested(SimulatedDocument))
