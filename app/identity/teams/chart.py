"""Organization chart: the tree of teams with leads and members."""

from collections import defaultdict
from typing import Any
from uuid import UUID

from app.identity.teams import tree
from app.kit import errors

BOUNDS = tree.ChartBounds(teams=20_000, members=200_000)
"""The maximum size of one chart; with all members, the response is about 35 MB."""


def build_org_chart(
    *, team_id: UUID | None = None, depth: int | None = None, members: bool = True
) -> dict[str, Any]:
    """Build a tree of teams, with the total numbers of its teams and team members.

    The chart starts at the team `team_id` or, by default, at all teams without a parent. `depth` is
    the maximum number of levels. Each node of the tree has the fields of its team, `lead`,
    `members` and `children`. In the total, a user who is in two teams counts twice. Raises 404 if
    the team does not exist, and 400 if the chart exceeds `BOUNDS`.
    """
    rows = tree.list_chart_rows(team_id, depth=depth, members=members, bounds=BOUNDS)
    if team_id is not None and not rows:
        raise errors.not_found()
    team_count = rows[0].team_count if rows else 0
    membership_count = rows[0].membership_count if rows else 0
    if team_count > BOUNDS.teams or (members and membership_count > BOUNDS.members):
        raise errors.invalid(
            "The chart is too large. Limit it with `team_id` or `depth`, or set `members=false`.",
            "depth",
            teams=team_count,
            members=membership_count,
            at_most=BOUNDS._asdict(),
        )
    return {
        "teams": _build_nodes(rows, team_id),
        "team_count": team_count,
        "member_count": membership_count,
    }


def _build_nodes(rows: list[tree.ChartRow], team_id: UUID | None) -> list[dict[str, Any]]:
    children: dict[UUID | None, list[dict[str, Any]]] = defaultdict(list)
    nodes = {}
    for row in rows:
        nodes[row.id] = {**row._asdict(), "members": row.members or []}
        children[None if row.id == team_id else row.parent_id].append(nodes[row.id])
    for node in nodes.values():
        node["children"] = children.get(node["id"], [])
    return children[None]
