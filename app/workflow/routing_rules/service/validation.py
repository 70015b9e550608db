"""Validation of rules: each error is a 400 with the path of the invalid member."""

from collections.abc import Mapping
from typing import Any

from app.engines.conditions import CompiledConditions, ConditionError
from app.kit import errors
from app.kit.permissions import Role
from app.workflow.routing_rules.queries import people
from app.workflow.routing_rules.service import compiled_rules


def validate_conditions(value: dict[str, Any], prefix: str = "") -> CompiledConditions:
    """Compile conditions. Raises 400 on the path of the first invalid one."""
    try:
        return compiled_rules.compile_cached(value)
    except ConditionError as error:
        path = f"{prefix}conditions.{error.path}".rstrip(".")
        raise errors.invalid(error.message, path) from None


def validate_action(value: Mapping[str, Any], prefix: str = "") -> None:
    """Raise 400 on the path of the invalid member if an action is invalid.

    An action must not have a team and a user, a strategy without a team, only null members, a team,
    user or schema that does not exist, or a user who cannot label.
    """
    path = f"{prefix}action"
    team_id, user_id, schema_id = value["team_id"], value["user_id"], value["schema_id"]
    if team_id is not None and user_id is not None:
        raise errors.invalid("Set either a team or a user, not both.", f"{path}.user_id")
    if value["strategy"] is not None and team_id is None:
        raise errors.invalid("A strategy requires a team; set `team_id`.", f"{path}.strategy")
    if all(member is None for member in value.values()):
        raise errors.invalid("At least one member of the action must be set.", path)
    if user_id is not None:
        _validate_labeler(people.lock_role(user_id), f"{path}.user_id")
    if team_id is not None and not people.lock_team(team_id):
        raise errors.invalid("Must be the id of a team.", f"{path}.team_id")
    if schema_id is not None and not people.lock_schema(schema_id):
        raise errors.invalid("Must be the id of a schema.", f"{path}.schema_id")


def _validate_labeler(role: str | None, path: str) -> None:
    if role is None:
        raise errors.invalid("Must be a member of the organization.", path)
    if Role[role] < Role.labeler:
        raise errors.invalid("Must be a member who can label; a viewer cannot.", path)
