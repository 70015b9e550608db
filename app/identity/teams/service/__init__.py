"""Teams: a tree, and who is in it. What other features call is here."""

from app.identity.teams.service.chart import org_chart
from app.identity.teams.service.members import (
    add_members,
    existing,
    join,
    leave,
    of_users,
    remove_member,
)
from app.identity.teams.service.records import create, delete, get, list_teams, update

__all__ = [
    "add_members",
    "create",
    "delete",
    "existing",
    "get",
    "join",
    "leave",
    "list_teams",
    "of_users",
    "org_chart",
    "remove_member",
    "update",
]
