"""Public functions of the teams feature, for use by other features."""

from app.identity.teams.queries.reading import TeamDetails
from app.identity.teams.service.chart import build_org_chart
from app.identity.teams.service.members import (
    add_members,
    join,
    list_by_user,
    lock_existing,
    remove_member,
)
from app.identity.teams.service.records import create, delete, get, list_teams, update
from app.identity.teams.service.skills import MAX_SKILL, MAX_SKILLS, deduplicate_skills

__all__ = [
    "MAX_SKILL",
    "MAX_SKILLS",
    "TeamDetails",
    "add_members",
    "build_org_chart",
    "create",
    "deduplicate_skills",
    "delete",
    "get",
    "join",
    "list_by_user",
    "list_teams",
    "lock_existing",
    "remove_member",
    "update",
]
