"""Organization chart: the tree of teams with leads and members."""

from collections import defaultdict
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.identity.teams.models import MAX_DEPTH
from app.kit import db, errors, tenancy

MAX_TEAMS = 20_000
MAX_MEMBERS = 200_000
"""The maximum numbers of teams and team members in one chart.

The response with a chart of this size has about 35 MB.
"""
# One statement whose query plan is efficient regardless of the table statistics: the members are
# looked up team by team. No members are read if the chart is too large to be returned. The ORM adds
# no tenant filter to plain SQL, so each part must filter by organization.
_CHART_SQL = """
    WITH RECURSIVE tree (id, parent_id, level) AS (
        SELECT id, parent_id, 1 FROM teams WHERE organization_id = :org AND {start}
        UNION ALL
        SELECT teams.id, teams.parent_id, level + 1 FROM tree
        JOIN teams ON teams.organization_id = :org AND teams.parent_id = tree.id
        WHERE level < :depth
    ), node AS MATERIALIZED (
        SELECT teams.id, teams.parent_id, teams.name, teams.description, teams.skills,
               teams.lead_id, teams.member_count,
               count(*) OVER () AS team_count, sum(teams.member_count) OVER () AS membership_count
        FROM tree JOIN teams ON teams.organization_id = :org AND teams.id = tree.id
    )
    SELECT node.*,
           (SELECT count(*) FROM teams child WHERE child.organization_id = :org
             AND child.parent_id = node.id) AS child_count,
           (SELECT json_build_object('id', id, 'email', email, 'name', name)
             FROM users WHERE id = node.lead_id) AS lead,
           CASE WHEN :with_members AND node.member_count > 0
                 AND node.team_count <= :max_teams AND node.membership_count <= :max_members
           THEN (SELECT json_agg(json_build_object(
               'user', json_build_object('id', person.id, 'email', email, 'name', person.name),
               'role', CASE WHEN person.id = node.lead_id THEN 'lead' ELSE 'member' END,
               'joined_at', to_char(timezone('UTC', member.created_at),
                                    'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
               ) ORDER BY person.id IS DISTINCT FROM node.lead_id, person.name, person.id)
               FROM team_members member JOIN users person ON person.id = member.user_id
               WHERE member.organization_id = :org AND member.team_id = node.id)
           END AS members
    FROM node ORDER BY node.name, node.id LIMIT :max_teams
"""
_WHOLE_CHART = text(_CHART_SQL.format(start="parent_id IS NULL"))
_SUBTREE_CHART = text(_CHART_SQL.format(start="id = :team_id"))


class _ChartRow(NamedTuple):
    """A team in an organization chart.

    `team_count` and `membership_count` are the same in every row: the total numbers of teams and
    team members in the chart.
    """

    id: UUID
    parent_id: UUID | None
    name: str
    description: str
    skills: list[str]
    lead_id: UUID | None
    member_count: int
    team_count: int
    membership_count: int
    child_count: int
    lead: dict[str, Any] | None
    members: list[dict[str, Any]] | None


def build_org_chart(
    *, team_id: UUID | None = None, depth: int | None = None, members: bool = True
) -> dict[str, Any]:
    """Return a chart: the tree `teams`, and the totals `team_count` and `member_count`.

    The chart starts at the team `team_id` or, by default, at all teams without a parent. `depth` is
    the maximum number of levels. Each node of the tree has the fields of its team, `lead`,
    `members` and `children`. If `members` is false, the lists of members are empty. A user who is
    in two teams counts twice. Raises 404 if the team does not exist, and 400 if the chart has more
    than `MAX_TEAMS` teams or, unless `members` is false, `MAX_MEMBERS` members.
    """
    rows = _list_rows(team_id, depth=depth, with_members=members)
    if team_id is not None and not rows:
        raise errors.not_found()
    team_count = rows[0].team_count if rows else 0
    membership_count = rows[0].membership_count if rows else 0
    if team_count > MAX_TEAMS or (members and membership_count > MAX_MEMBERS):
        raise errors.invalid(
            "The chart is too large. Limit it with `team_id` or `depth`. If only the members are"
            " too many, you can set `members=false` instead.",
            "depth",
            teams=team_count,
            members=membership_count,
            at_most={"teams": MAX_TEAMS, "members": MAX_MEMBERS},
        )
    return {
        "teams": _build_nodes(rows, team_id),
        "team_count": team_count,
        "member_count": membership_count,
    }


def _list_rows(team_id: UUID | None, *, depth: int | None, with_members: bool) -> list[_ChartRow]:
    """Return a row for each team in the subtree of `team_id`, or in the whole tree, sorted by name.

    The rows contain no members if `with_members` is false or the chart is too large. If it is too
    large, the list may be incomplete.
    """
    values = {
        "org": tenancy.current_organization_id(),
        "depth": depth or MAX_DEPTH,
        "with_members": with_members,
        "max_teams": MAX_TEAMS,
        "max_members": MAX_MEMBERS,
    }
    if team_id is None:
        rows = db.session().execute(_WHOLE_CHART, values)
    else:
        rows = db.session().execute(_SUBTREE_CHART, {**values, "team_id": team_id})
    return [_ChartRow(*row) for row in rows]


def _build_nodes(rows: list[_ChartRow], team_id: UUID | None) -> list[dict[str, Any]]:
    children: dict[UUID | None, list[dict[str, Any]]] = defaultdict(list)
    nodes = {}
    for row in rows:
        nodes[row.id] = {**row._asdict(), "members": row.members or []}
        children[None if row.id == team_id else row.parent_id].append(nodes[row.id])
    for node in nodes.values():
        node["children"] = children.get(node["id"], [])
    return children[None]
