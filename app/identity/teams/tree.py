"""SQL queries that lock, read and change the tree of teams.

The queries are written as plain SQL, so each query must filter by organization.
"""

from uuid import UUID

from sqlalchemy import text

from app.kit import db, tenancy

_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))")
# No path is longer than the maximum depth of the tree. The limit of 1000 levels only ends the
# recursion if the data contains a cycle.
_ANCESTORS = text(
    """
    WITH RECURSIVE ancestors (id, parent_id, level) AS (
        SELECT id, parent_id, 1 FROM teams WHERE organization_id = :org AND id = :team_id
        UNION ALL
        SELECT teams.id, teams.parent_id, level + 1 FROM ancestors
        JOIN teams ON teams.organization_id = :org AND teams.id = ancestors.parent_id
        WHERE level < 1000
    )
    SELECT id FROM ancestors ORDER BY level
    """
)
_HEIGHT = text(
    """
    WITH RECURSIVE subtree (id, level) AS (
        SELECT id, 1 FROM teams WHERE organization_id = :org AND id = :team_id
        UNION ALL
        SELECT teams.id, level + 1 FROM subtree
        JOIN teams ON teams.organization_id = :org AND teams.parent_id = subtree.id
        WHERE level < 1000
    )
    SELECT coalesce(max(level), 0) FROM subtree
    """
)
_CONFLICTING_NAMES = text(
    """
    SELECT child.name FROM teams child
    JOIN teams other ON other.organization_id = :org AND lower(other.name) = lower(child.name)
     AND other.parent_id IS NOT DISTINCT FROM CAST(:parent_id AS uuid) AND other.id <> :team_id
    WHERE child.organization_id = :org AND child.parent_id = :team_id
    ORDER BY child.name LIMIT 100
    """
)
_DELETE_TEAM = text("DELETE FROM teams WHERE organization_id = :org AND id = :team_id")
_MOVE_UP = text(
    """
    UPDATE teams SET parent_id = :parent_id, revision = revision + 1, updated_at = now()
    WHERE organization_id = :org AND parent_id = :team_id
    """
)
_PARENT_CONSTRAINT = "fk_teams_organization_id_parent_id"
_DEFER_PARENT_CHECK = text(f"SET CONSTRAINTS {_PARENT_CONSTRAINT} DEFERRED")
_CHECK_PARENTS = text(f"SET CONSTRAINTS {_PARENT_CONSTRAINT} IMMEDIATE")


def _build_params(**params: object) -> dict[str, object]:
    return {"org": tenancy.current_organization_id(), **params}


def lock() -> None:
    """Lock the organization's tree of teams until the transaction ends.

    Call this function before changing the parent of any team.
    """
    db.session().execute(_LOCK, {"key": f"{tenancy.current_organization_id()}/teams"})


def list_path_ids(team_id: UUID) -> list[UUID]:
    """Return the ids of a team and its ancestors, from the team up to the root.

    The list is empty if the team does not exist.
    """
    return list(db.session().scalars(_ANCESTORS, _build_params(team_id=team_id)))


def get_height(team_id: UUID) -> int:
    """Return the number of levels in a team's subtree, or 0 if the team does not exist."""
    return int(db.session().scalars(_HEIGHT, _build_params(team_id=team_id)).one())


def list_conflicting_names(team_id: UUID, parent_id: UUID | None) -> list[str]:
    """Return the names of a team's children that another team under `parent_id` already has.

    Returns at most 100 names.
    """
    values = _build_params(team_id=team_id, parent_id=parent_id)
    return list(db.session().scalars(_CONFLICTING_NAMES, values))


def delete_team(team_id: UUID, parent_id: UUID | None) -> None:
    """Delete a team and move its children up to `parent_id`."""
    session = db.session()
    session.execute(_DEFER_PARENT_CHECK)
    session.execute(_DELETE_TEAM, _build_params(team_id=team_id))
    session.execute(_MOVE_UP, _build_params(team_id=team_id, parent_id=parent_id))
    session.execute(_CHECK_PARENTS)
