"""Public functions of the teams feature, for use by other features."""

from app.identity.teams.queries.reading import TeamDetails
from app.identity.teams.service.chart import org_chart
from app.identity.teams.service.members import (
    add_members,
    join,
    list_of_users,
    lock_existing,
    remove_member,
)
from app.identity.teams.service.records import create, delete, get, list_teams, update
from app.identity.teams.service.skills import MAX_SKILL, MAX_SKILLS, distinct

__all__ = [
    "MAX_SKILL",
    "MAX_SKILLS",
    "TeamDetails",
    "add_members",
    "create",
    "delete",
    "distinct",
    "get",
    "join",
    "list_of_users",
    "list_teams",
    "lock_existing",
    "org_chart",
    "remove_member",
    "update",
]
