"""Request and response schemas of routing rules.

The request schemas validate only the structure of conditions (error 422). Attributes, operators and
values are validated later (error 400).
"""

import re
from typing import Any, Unpack

from marshmallow import ValidationError

from app.engines.conditions.attributes import ATTRIBUTES, MAX_TEXT_CHARS, METADATA_PREFIX, OPERATORS
from app.engines.conditions.compiled_conditions import MAX_CONDITIONS
from app.kit.api import bulk
from app.kit.api.alternatives import NEVER, AlternativesSchema
from app.kit.api.fields import (
    Any_,
    Bool,
    FieldOptions,
    Float,
    Int,
    JsonObject,
    List,
    Name,
    Nested,
    OneOf,
    QueryBool,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
    check_json,
)
from app.workflow.routing_rules.models import DISABLED_REASONS, STRATEGIES
from app.workflow.routing_rules.service.records import MAX_RULES

MAX_SIMULATED_DOCUMENTS = 100
MAX_HYPOTHETICAL_DOCUMENTS = 20
MAX_DUE_HOURS = 24 * 365
_LEAF_PROPERTIES = {"attribute", "operator", "value"}
_ATTRIBUTE_METADATA = {
    "description": f"One of {', '.join(ATTRIBUTES)}, or {METADATA_PREFIX}<key>.",
    "pattern": f"^({'|'.join(ATTRIBUTES)}|{re.escape(METADATA_PREFIX)}.+)$",
}
_OPERATOR_METADATA = {"description": f"One of {', '.join(OPERATORS)}.", "enum": list(OPERATORS)}
_CONDITION_SCHEMA = "app.workflow.routing_rules.schemas.RoutingCondition"
_VALUE_METADATA = {
    "description": "A string, number, boolean, id or list of values, depending on the operator."
}

_LEAF_KEYWORDS = {
    "required": ["attribute", "operator"],
    "properties": {"all": NEVER, "any": NEVER},
}
_GROUP_KEYWORDS = [{"required": [name], "maxProperties": 1} for name in ("all", "any")]
_CONDITION_KEYWORDS = {"allOf": [{"oneOf": [_LEAF_KEYWORDS, *_GROUP_KEYWORDS]}]}


class RoutingCondition(Schema):
    """An attribute, an operator and a value, or conditions of which `all` or `any` must match."""

    keywords = _CONDITION_KEYWORDS

    all = List(Nested(_CONDITION_SCHEMA), max_items=MAX_CONDITIONS)
    any = List(Nested(_CONDITION_SCHEMA), max_items=MAX_CONDITIONS)
    attribute = Str(metadata=_ATTRIBUTE_METADATA)
    operator = Str(metadata=_OPERATOR_METADATA)
    value = Any_(metadata=_VALUE_METADATA)


class RoutingConditions(Schema):
    """Conditions of which `all` or `any` must match. An empty object matches every document."""

    keywords = {"maxProperties": 1}

    all = List(Nested(RoutingCondition), max_items=MAX_CONDITIONS)
    any = List(Nested(RoutingCondition), max_items=MAX_CONDITIONS)


class Conditions(Nested):
    """A field for a tree of conditions, which is validated node by node and stored unchanged.

    Only an empty object is replaced: by an empty group `all`, which matches every document.
    """

    def __init__(self, **options: Unpack[FieldOptions]) -> None:
        super().__init__(RoutingConditions, **options)

    def _deserialize(self, value: object, *_: object, **__: object) -> dict[str, Any]:
        check_json(value)
        return _check_group(value) if value != {} else {"all": []}


def _check_group(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValidationError("Must be an object.")
    unknown_keys = value.keys() - {"all", "any"}
    if unknown_keys:
        raise ValidationError({name: ["Unknown field."] for name in unknown_keys})
    if len(value) != 1:
        raise ValidationError("Must have exactly one of `all` and `any`.")
    ((mode, children),) = value.items()
    if not isinstance(children, list):
        raise ValidationError({mode: ["Not a valid list."]})
    failures: dict[int, Any] = {}
    for index, child in enumerate(children):
        try:
            _check_child(child)
        except ValidationError as failure:
            failures[index] = failure.messages
    if failures:
        raise ValidationError({mode: failures})
    return value


def _check_child(value: object) -> None:
    if not isinstance(value, dict) or not value.keys() & _LEAF_PROPERTIES:
        _check_group(value)
        return
    failures = {name: ["Unknown field."] for name in value.keys() - _LEAF_PROPERTIES}
    for name in ("attribute", "operator"):
        if name not in value:
            failures[name] = ["Missing data for required field."]
        elif not isinstance(value[name], str):
            failures[name] = ["Not a valid string."]
    if failures:
        raise ValidationError(failures)


class RoutingActionBody(Schema):
    """The action of a rule on matching documents. An omitted or null property changes nothing.

    The assignee is either `team_id` or `user_id`. `strategy` determines how a member of the team is
    chosen. If `strategy` is null or `everyone`, the document is assigned to the whole team. The due
    time is `due_in_hours` after the routing.
    """

    team_id = Uuid(allow_none=True, load_default=None)
    user_id = Uuid(allow_none=True, load_default=None)
    strategy = Str(validate=OneOf(STRATEGIES), allow_none=True, load_default=None)
    priority = Int(maximum=100, allow_none=True, load_default=None)
    due_in_hours = Int(maximum=MAX_DUE_HOURS, allow_none=True, load_default=None)
    schema_id = Uuid(allow_none=True, load_default=None)


_STOP_METADATA = {
    "description": "Whether the following rules are skipped for documents that this rule matches."
}


class SimulatedRule(Schema):
    """A rule that is simulated without being saved."""

    name = Name(required=True)
    enabled = Bool(load_default=True)
    conditions = Conditions(load_default=lambda: {"all": []})
    action = Nested(RoutingActionBody, required=True)
    stop = Bool(load_default=True, metadata=_STOP_METADATA)


_APPLY_METADATA = {"description": "Apply all rules to all unassigned documents in the background."}


class CreateRoutingRule(SimulatedRule):
    """A new rule. If `position` is omitted, the rule becomes the last rule."""

    position = Int(minimum=1, maximum=MAX_RULES)
    apply = Bool(load_default=False, metadata=_APPLY_METADATA)


class UpdateRoutingRule(Schema):
    """Changes to a rule. `action` replaces the whole action."""

    name = Name()
    enabled = Bool()
    conditions = Conditions()
    action = Nested(RoutingActionBody)
    stop = Bool(metadata=_STOP_METADATA)
    position = Int(minimum=1, maximum=MAX_RULES)
    apply = Bool(load_default=False, metadata=_APPLY_METADATA)
    revision = Int()


class ReorderRoutingRules(Schema):
    """The ids of all rules in their new order, and whether to apply the rules to documents."""

    rule_ids = bulk.build_ids_field(required=True)
    apply = Bool(load_default=False, metadata=_APPLY_METADATA)


class RoutingRuleFilters(Schema):
    """Filters for the list of rules."""

    enabled = QueryBool()
    team_id = Uuid()
    user_id = Uuid()


class SampleDocument(Schema):
    """The properties of a hypothetical document on which to simulate rules."""

    name = Str(max_length=1000, load_default=None, allow_none=True)
    media_type = Str(max_length=200, load_default=None, allow_none=True)
    language = Str(max_length=35, load_default=None, allow_none=True)
    page_count = Int(load_default=None, allow_none=True)
    size_bytes = Int(maximum=2**63 - 1, load_default=None, allow_none=True)
    connector_id = Uuid(load_default=None, allow_none=True)
    schema_id = Uuid(load_default=None, allow_none=True)
    metadata = JsonObject(load_default=dict)
    text = Str(max_length=MAX_TEXT_CHARS, load_default=None, allow_none=True)
    confidence = Float(
        load_default=None, allow_none=True, description="Lowest confidence of the predicted tags."
    )


class SimulateRoutingRules(AlternativesSchema):
    """The documents on which to simulate rules: stored documents, or hypothetical documents.

    If `rules` is set, these rules are simulated instead of the saved rules.
    """

    alternatives = (("artifact_ids",), ("documents",))

    artifact_ids = List(Uuid(), max_items=MAX_SIMULATED_DOCUMENTS)
    documents = List(Nested(SampleDocument), max_items=MAX_HYPOTHETICAL_DOCUMENTS)
    rules = List(Nested(SimulatedRule), max_items=MAX_RULES)


class RoutingAction(Response):
    """The action of a rule on matching documents."""

    team_id = Uuid(allow_none=True)
    user_id = Uuid(allow_none=True)
    strategy = Str(allow_none=True, validate=OneOf(STRATEGIES))
    priority = Int(allow_none=True)
    due_in_hours = Int(allow_none=True, description="Hours from the routing to the due time.")
    schema_id = Uuid(allow_none=True)


class RoutingRule(Response):
    """A rule that assigns matching documents, or sets their priority, due time or schema."""

    id = Uuid()
    name = Str()
    enabled = Bool()
    disabled_reason = Str(
        allow_none=True,
        validate=OneOf(DISABLED_REASONS),
        description="The reason why the service disabled the rule, or null if it did not.",
    )
    position = Int()
    conditions = JsonObject(description="The conditions, in the format `RoutingConditions`.")
    action = Nested(RoutingAction)
    stop = Bool(metadata=_STOP_METADATA)
    match_count = Int(description="The number of documents that the rule matched.")
    last_matched_at = UtcDateTime(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
    revision = Int()


class RoutingOrder(Response):
    """All routing rules in the order in which they apply."""

    rules = List(Nested(RoutingRule))
