"""SQL queries that assign and unassign artifacts."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

import orjson
from sqlalchemy import ColumnElement, Select, case, extract, literal, literal_column, text

from app.documents.artifacts.models.documents import URGENCY, URGENT_AT, Artifact
from app.documents.artifacts.statuses import CLAIMABLE, CLOSED
from app.identity.members.eligibility import build_eligible_members
from app.kit import db, tenancy
from app.kit.permissions import Role
from app.workflow.assignment.queries.claimable_tables import build_ineligible_condition
from app.workflow.tag_sets.queries.statuses import FILTERED_ASSIGNEES

BATCH_SIZE = 1000

_TEAM_LABELERS = f"""
    {build_eligible_members(Role.labeler)}
    JOIN team_members ON team_members.organization_id = member.organization_id
                      AND team_members.user_id = member.user_id
"""
_IS_OTHER_ASSIGNEE = """
    coalesce(assignee ->> 'team_id', assignee ->> 'user_id') <> CAST(:assignee_id AS text)
"""
# Each batch is a separate transaction, so that row locks are short. All code locks rows in the
# order of their ids, to avoid deadlocks. Each batch checks that neither the user nor a member of
# the team can label, because the event that caused the job may be outdated.
_UNASSIGN_BATCH = text(
    f"""
    WITH assigned AS (
        SELECT id FROM artifacts WHERE organization_id = :org AND id IN (
            SELECT artifact_id FROM artifact_assignees
            WHERE organization_id = :org AND assignee_id = :assignee_id
            LIMIT :batch
        )
        AND {build_ineligible_condition(Role.labeler, ":assignee_id")}
        AND NOT EXISTS (SELECT FROM {_TEAM_LABELERS}
            WHERE member.organization_id = :org AND team_members.team_id = :assignee_id)
        ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE artifacts SET
        updated_at = now(), assignees = {FILTERED_ASSIGNEES.format(condition=_IS_OTHER_ASSIGNEE)}
    FROM assigned WHERE organization_id = :org AND artifacts.id = assigned.id
    RETURNING artifacts.id
    """  # noqa: S608 - made of constants
)
# All code locks rows in the order of their ids, to avoid deadlocks. Null leaves a column unchanged.
# Changes to the priority, due time or schema increment the revision, because clients can edit these
# fields. Changes to the assignees do not increment it.
_ASSIGN = text(
    """
    WITH changes AS (
        SELECT * FROM unnest(CAST(:ids AS uuid[]), CAST(:assignees AS jsonb[]),
            CAST(:priorities AS int[]), CAST(:due AS timestamptz[]), CAST(:schemas AS uuid[]))
            AS change (id, assignees, priority, due_at, schema_id)
    ), locked AS (
        SELECT id FROM artifacts
        WHERE organization_id = :org AND id IN (SELECT id FROM changes)
        ORDER BY id FOR NO KEY UPDATE
    ), updated AS (
        UPDATE artifacts SET
            assignees = coalesce(changes.assignees, artifacts.assignees),
            priority = coalesce(changes.priority, artifacts.priority),
            due_at = CASE WHEN :clears_due THEN NULL
                ELSE coalesce(changes.due_at, artifacts.due_at) END,
            schema_id = coalesce(changes.schema_id, artifacts.schema_id),
            revision = revision + CASE WHEN
                coalesce(changes.priority, artifacts.priority) <> artifacts.priority
                OR coalesce(changes.due_at, artifacts.due_at) IS DISTINCT FROM artifacts.due_at
                OR :clears_due AND artifacts.due_at IS NOT NULL
                OR coalesce(changes.schema_id, artifacts.schema_id)
                    IS DISTINCT FROM artifacts.schema_id
                THEN 1 ELSE 0 END,
            updated_at = now()
        FROM changes JOIN locked USING (id)
        WHERE organization_id = :org AND artifacts.id = changes.id
        RETURNING artifacts.id, label_counts, changes.assignees AS new_assignees
    ), deleted_skips AS (
        DELETE FROM artifact_skips skip USING updated
        WHERE skip.organization_id = :org AND skip.artifact_id = updated.id
          AND updated.new_assignees
              @> jsonb_build_array(jsonb_build_object('user_id', skip.user_id))
        RETURNING skip.artifact_id
    )
    SELECT id, id IN (SELECT artifact_id FROM deleted_skips) AS deleted_skip,
           label_counts ->> 'draft' <> '0'
           AND id IN (SELECT artifact_id FROM deleted_skips) AS resumes_draft
    FROM updated
    """
)
_COUNT_OPEN = text(
    """
    SELECT assignee_id, count(*) AS number FROM artifact_assignees
    WHERE organization_id = :org AND assignee_id = ANY(CAST(:ids AS uuid[])) AND is_open
    GROUP BY assignee_id
    """
)
_LIST_REJECTED_LABELERS = text(
    """
    SELECT artifact_id, user_id FROM artifact_skips
    WHERE organization_id = :org AND artifact_id = ANY (CAST(:ids AS uuid[])) AND rejected
    """
)
_FIND_COMPLETED_BY_TEAM = text(
    f"""
    WITH labelers AS MATERIALIZED (
        SELECT member.user_id FROM {_TEAM_LABELERS}
        WHERE member.organization_id = :org AND team_members.team_id = :team_id
    )
    SELECT id FROM artifacts
    WHERE organization_id = :org AND id = ANY (CAST(:ids AS uuid[]))
      AND EXISTS (SELECT FROM labelers)
      AND NOT EXISTS (
          SELECT FROM labelers
          WHERE array_position(labeled_by, labelers.user_id) IS NULL
            AND NOT EXISTS (SELECT FROM artifact_skips skip
                            WHERE skip.organization_id = :org AND skip.artifact_id = artifacts.id
                              AND skip.user_id = labelers.user_id))
    """  # noqa: S608 - made of constants
)
_CLOSED_STATE: ColumnElement[str] = case(
    (Artifact.archived, literal("archived")), (Artifact.status.in_(CLOSED), Artifact.status)
)

Assignee: TypeAlias = dict[str, str | None]
"""A dict with `user_id` and `team_id` as strings; one of the two values is None."""


def build_assignee(user_id: UUID | None = None, team_id: UUID | None = None) -> Assignee:
    """Build an `Assignee` from the id of a user or a team."""
    return {
        "user_id": None if user_id is None else str(user_id),
        "team_id": None if team_id is None else str(team_id),
    }


class LockedArtifact(NamedTuple):
    """A locked artifact with its assignees and its urgency.

    `closed_state` is `archived`, a status in `CLOSED`, or None if the artifact can be assigned. An
    artifact with a higher `urgency` comes first, and then an artifact with an earlier `urgent_at`.
    The SQL expressions `URGENCY` and `URGENT_AT` compute both. `urgent_at` is in seconds since
    1970, because the time can be before the year 1, the first year of a Python datetime.

    `labeled_by` contains the labeler of each submitted or accepted tag set, or None if the tag set
    has no labeler. These labelers cannot submit another tag set. If the artifact cannot be claimed,
    for example because it is in review, `labeled_by` is None, and any assignee is allowed.
    """

    id: UUID
    closed_state: str | None
    urgency: int
    urgent_at: Decimal
    assignees: list[Assignee]
    labeled_by: list[UUID | None] | None


class AssignmentEffects(NamedTuple):
    """The side effects of assigning an artifact.

    `deleted_skip` is true if the skip of an assigned user was deleted. `resumes_draft` is true if a
    skip was deleted and the artifact has a draft.
    """

    deleted_skip: bool
    resumes_draft: bool


class ArtifactAssignment(NamedTuple):
    """New assignees and other values for one artifact. None leaves a value unchanged."""

    artifact_id: UUID
    assignees: list[Assignee] | None
    priority: int | None = None
    due_at: datetime | None = None
    schema_id: UUID | None = None


def lock(selection: Select[Any]) -> list[LockedArtifact]:
    """Lock the selected artifacts in the order of their ids, to avoid deadlocks, and return them.

    PostgreSQL checks the conditions of `selection` again after it has locked a row.
    """
    statement = selection.with_only_columns(
        Artifact.id,
        _CLOSED_STATE,
        literal_column(URGENCY.format(of="artifacts.")),
        extract("epoch", literal_column(URGENT_AT.format(of="artifacts."))),
        Artifact.assignees,
        case((Artifact.status.in_(CLAIMABLE), Artifact.labeled_by)),
    )
    locking_statement = statement.order_by(Artifact.id).with_for_update(key_share=True)
    return [LockedArtifact._make(row) for row in db.session().execute(locking_statement)]


def find_rejected_labeler_ids(artifact_ids: Iterable[UUID]) -> dict[UUID, set[UUID]]:
    """Return {artifact_id: ids of labelers whose tag sets were rejected with `send_to: pool`}.

    Artifacts without such labelers are omitted.
    """
    values = {"org": tenancy.current_organization_id(), "ids": list(map(str, artifact_ids))}
    labeler_ids: dict[UUID, set[UUID]] = defaultdict(set)
    for row in db.session().execute(_LIST_REJECTED_LABELERS, values):
        labeler_ids[row.artifact_id].add(row.user_id)
    return labeler_ids


def find_completed_by_team(artifact_ids: Iterable[UUID], team_id: UUID) -> set[UUID]:
    """Return the ids of the artifacts that every labeler of a team has labeled or skipped.

    A team without labelers has completed nothing.
    """
    values = {
        "org": tenancy.current_organization_id(),
        "ids": list(map(str, artifact_ids)),
        "team_id": team_id,
    }
    return set(db.session().scalars(_FIND_COMPLETED_BY_TEAM, values)) if values["ids"] else set()


def update_assignments(
    assignments: Sequence[ArtifactAssignment], *, clears_due: bool
) -> dict[UUID, AssignmentEffects]:
    """Update assignees, priorities, due times and schemas; return side effects by artifact id.

    `assignments` must not be empty. The skips of users who are assigned directly are deleted. If
    `clears_due` is set, the due times of all artifacts in `assignments` are removed. The result
    omits artifacts that do not exist.
    """
    ids, assignees, priorities, due_times, schema_ids = zip(*assignments, strict=True)
    values = {
        "org": tenancy.current_organization_id(),
        "ids": [str(artifact_id) for artifact_id in ids],
        "assignees": [
            None if new_assignees is None else orjson.dumps(new_assignees).decode()
            for new_assignees in assignees
        ],
        "priorities": list(priorities),
        "due": list(due_times),
        "schemas": [None if schema_id is None else str(schema_id) for schema_id in schema_ids],
        "clears_due": clears_due,
    }
    rows = db.session().execute(_ASSIGN, values)
    return {row.id: AssignmentEffects(row.deleted_skip, row.resumes_draft) for row in rows}


def count_open_artifacts(user_ids: Iterable[UUID]) -> dict[UUID, int]:
    """Return {user_id: number of directly assigned open artifacts}; omit users without any."""
    values = {"org": tenancy.current_organization_id(), "ids": sorted(map(str, user_ids))}
    return {row.assignee_id: row.number for row in db.session().execute(_COUNT_OPEN, values)}


def unassign(assignee_id: UUID) -> list[UUID]:
    """Unassign a user or team from at most BATCH_SIZE artifacts, and return the artifact ids.

    Returns an empty list if no assigned artifact is left, or if the user or a member of the team
    can label.
    """
    org = tenancy.current_organization_id()
    values = {"org": org, "assignee_id": assignee_id, "batch": BATCH_SIZE}
    return sorted(db.session().execute(_UNASSIGN_BATCH, values).scalars())
