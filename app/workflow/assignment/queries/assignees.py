"""SQL of who documents are assigned to."""

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

# Nobody waits long for a row: the next batch is another transaction. The documents are locked in
# the order of their ids, as by any other who takes many.
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

# Locked in the order of their ids, as by any other who takes many. Null leaves a member as it is;
# an edit of what a writer may send raises the revision, being assigned does not.
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
    """What a document gets: `assignees` of {user_id, team_id}, one of them null; None leaves a
    member as it is."""

    artifact_id: UUID
    assignees: list[dict[str, str | None]] | None
    priority: int | None = None
    due_at: datetime | None = None
    schema_id: UUID | None = None


def assign_many(assigned: Sequence[Assigned]) -> dict[UUID, bool]:
    """Write what documents get, in one statement, and forget the skips of whoever is named.

    Those that were there, and whether somebody who had skipped it was named and it has drafts.
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
    """Return whether a team has a member who may label."""
    values = {"org": tenancy.current_organization_id(), "team_id": team_id}
    return bool(db.session().execute(_HAS_LABELER, values).scalar_one())


def unassign(assignee_id: UUID) -> list[UUID]:
    """Take an assignee off some of their documents; which, [] when none is left."""
    values = {
        "org": tenancy.current_organization_id(),
        "assignee_id": assignee_id,
        "batch": BATCH,
    }
    return sorted(db.session().execute(_UNASSIGN, values).scalars())
