"""SQL queries that assign and unassign artifacts."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import text

from app.identity.members.eligibility import eligible_members
from app.kit import db, tenancy
from app.kit.permissions import Role

BATCH = 1000

# Each batch is its own transaction, so that row locks are short. Rows are locked in the order of
# their ids, as everywhere in the project, to avoid deadlocks.
_UNASSIGN = text(
    """
    WITH theirs AS (
        SELECT id FROM artifacts WHERE organization_id = :org AND id IN (
            SELECT artifact_id FROM artifact_assignees
            WHERE organization_id = :org AND assignee_id = :assignee_id
            LIMIT :batch
        )
        ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE artifacts SET updated_at = now(), assignees = coalesce((
        SELECT jsonb_agg(one ORDER BY place)
        FROM jsonb_array_elements(assignees) WITH ORDINALITY AS list (one, place)
        WHERE coalesce(one ->> 'team_id', one ->> 'user_id') <> CAST(:assignee_id AS text)
    ), '[]')
    FROM theirs WHERE organization_id = :org AND artifacts.id = theirs.id
    RETURNING artifacts.id
    """
)
_HAS_LABELER = text(
    f"""
    SELECT EXISTS (
        SELECT FROM team_members seat
        JOIN ({eligible_members(Role.labeler)}) ON member.organization_id = :org
         AND member.user_id = seat.user_id
        WHERE seat.organization_id = :org AND seat.team_id = :team_id)
    """  # noqa: S608 - made of constants
)

# Rows are locked in the order of their ids, as everywhere in the project, to avoid deadlocks. Null
# leaves a column unchanged. Changes to priority, due time or schema increment the revision, because
# clients can edit these fields; a change of assignees does not.
_ASSIGN = text(
    """
    WITH wanted AS (
        SELECT * FROM unnest(CAST(:ids AS uuid[]), CAST(:assignees AS jsonb[]),
            CAST(:priorities AS int[]), CAST(:due AS timestamptz[]), CAST(:schemas AS uuid[]))
            AS one (id, assignees, priority, due_at, schema_id)
    ), locked AS (
        SELECT id FROM artifacts
        WHERE organization_id = :org AND id IN (SELECT id FROM wanted)
        ORDER BY id FOR NO KEY UPDATE
    ), written AS (
        UPDATE artifacts SET
            assignees = coalesce(wanted.assignees, artifacts.assignees),
            priority = coalesce(wanted.priority, artifacts.priority),
            due_at = coalesce(wanted.due_at, artifacts.due_at),
            schema_id = coalesce(wanted.schema_id, artifacts.schema_id),
            revision = revision + CASE WHEN
                coalesce(wanted.priority, artifacts.priority) <> artifacts.priority
                OR coalesce(wanted.due_at, artifacts.due_at) IS DISTINCT FROM artifacts.due_at
                OR coalesce(wanted.schema_id, artifacts.schema_id)
                    IS DISTINCT FROM artifacts.schema_id
                THEN 1 ELSE 0 END,
            updated_at = now()
        FROM wanted JOIN locked USING (id)
        WHERE organization_id = :org AND artifacts.id = wanted.id
        RETURNING artifacts.id, label_counts, wanted.assignees AS named
    ), forgotten AS (
        DELETE FROM artifact_skips skip USING written
        WHERE skip.organization_id = :org AND skip.artifact_id = written.id
          AND written.named @> jsonb_build_array(jsonb_build_object('user_id', skip.user_id))
        RETURNING skip.artifact_id
    )
    SELECT id, label_counts ->> 'draft' <> '0'
           AND id IN (SELECT artifact_id FROM forgotten) AS resumed
    FROM written
    """
)


class Assigned(NamedTuple):
    """New values of one artifact.

    Each of `assignees` is {user_id, team_id}, where either the user or the team is null. A field
    that is None leaves the artifact's value unchanged.
    """

    artifact_id: UUID
    assignees: list[dict[str, str | None]] | None
    priority: int | None = None
    due_at: datetime | None = None
    schema_id: UUID | None = None


def assign_many(assigned: Sequence[Assigned]) -> dict[UUID, bool]:
    """Write the new values of artifacts and delete the skips of users assigned by name.

    Returns a dict with the id of each artifact that exists. The value is True if the artifact has
    drafts and a skip of one of its new assignees was deleted.
    """
    ids, assignees, priorities, due, schemas = zip(*assigned, strict=True)
    values = {
        "org": tenancy.current_organization_id(),
        "ids": [str(one) for one in ids],
        "assignees": [None if one is None else orjson.dumps(one).decode() for one in assignees],
        "priorities": list(priorities),
        "due": list(due),
        "schemas": [None if one is None else str(one) for one in schemas],
    }
    return {row.id: row.resumed for row in db.session().execute(_ASSIGN, values)}


def has_labeler(team_id: UUID) -> bool:
    """Return True if the team has a member who may label."""
    values = {"org": tenancy.current_organization_id(), "team_id": team_id}
    return bool(db.session().execute(_HAS_LABELER, values).scalar_one())


def unassign(assignee_id: UUID) -> list[UUID]:
    """Unassign a user or team from one batch of artifacts and return the artifact ids.

    An empty list means that no artifact is left.
    """
    values = {
        "org": tenancy.current_organization_id(),
        "assignee_id": assignee_id,
        "batch": BATCH,
    }
    return sorted(db.session().execute(_UNASSIGN, values).scalars())
