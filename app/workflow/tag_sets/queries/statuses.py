"""SQL queries that derive an artifact's status and reservations from its tag sets and claim."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import TextClause, select, text

from app.documents.artifacts.models.documents import Artifact
from app.documents.artifacts.statuses import is_transition
from app.identity.members.eligibility import build_eligible_members
from app.kit import db, tenancy
from app.kit.logging import get_logger
from app.kit.permissions import Role
from app.workflow.tag_sets.claimable import LABELABLE

log = get_logger(__name__)

BATCH_SIZE = 1000
FILTERED_ASSIGNEES = """coalesce((
        SELECT jsonb_agg(assignee ORDER BY place)
        FROM jsonb_array_elements(assignees) WITH ORDINALITY AS list (assignee, place)
        WHERE {condition}
    ), '[]')"""
"""SQL expression for those assignees of an artifact that meet `condition`.

`condition` is an SQL condition on `assignee`, a JSON object with `user_id` and `team_id`."""

# The status depends first on the tag sets, then on an unexpired claim. An artifact whose document
# is being read, or could not be read, keeps its status. An artifact whose tag sets were all
# rejected can be labeled again. A draft with a reason was returned or transferred to its labeler;
# it reserves the artifact without a time limit. Any other draft reserves the artifact for a limited
# time. A draft reserves nothing if its labeler can no longer label, or has skipped the artifact
# after the draft was created or returned. An artifact that is done stays done if its schema
# requires more tag sets than before, until one of its accepted tag sets is reopened.
_LABELERS = build_eligible_members(Role.labeler, "eligible")
_UPDATE = """
    WITH counted AS (
        SELECT document.id, document.status AS old_status,
               count(*) FILTER (WHERE tag_sets.status = 'draft') AS draft,
               count(*) FILTER (WHERE tag_sets.status = 'submitted') AS submitted,
               count(*) FILTER (WHERE tag_sets.status = 'accepted') AS accepted,
               count(*) FILTER (WHERE tag_sets.status = 'rejected') AS rejected,
               coalesce(array_agg(tag_sets.labeler_id)
                   FILTER (WHERE tag_sets.status IN ('submitted', 'accepted')), '{{}}')
                   AS labeled_by,
               coalesce(array_agg(tag_sets.labeler_id)
                   FILTER (WHERE tag_sets.status = 'draft'
                       AND (tag_sets.reason IS NOT NULL OR tag_sets.reserved_until > now())
                       AND eligible.user_id IS NOT NULL AND skip.user_id IS NULL),
                   '{{}}') AS reserved_for,
               bool_or(tag_sets.source = 'merge' AND tag_sets.status = 'accepted') AS merged,
               bool_or(tag_sets.source = 'merge' AND tag_sets.status = 'submitted') AS merging,
               bool_or(tag_sets.source = 'merge' AND tag_sets.status <> 'rejected') AS has_merge,
               coalesce(max(CAST(version.review_policy ->> 'labels_per_artifact' AS int)), 1)
                   AS required_labels
        FROM artifacts document
        LEFT JOIN tag_sets ON tag_sets.organization_id = document.organization_id
                          AND tag_sets.artifact_id = document.id
        LEFT JOIN ({labelers}) ON eligible.organization_id = document.organization_id
                          AND eligible.user_id = tag_sets.labeler_id
        LEFT JOIN artifact_skips skip ON skip.organization_id = document.organization_id
                          AND skip.artifact_id = document.id
                          AND skip.user_id = tag_sets.labeler_id
                          AND skip.created_at > greatest(tag_sets.created_at, tag_sets.decided_at)
        LEFT JOIN schemas ON schemas.organization_id = document.organization_id
                         AND schemas.id = document.schema_id
        LEFT JOIN schema_versions version ON version.organization_id = schemas.organization_id
                                         AND version.id = schemas.current_version_id
        WHERE document.organization_id = {organization}
          AND document.id = ANY (CAST(:artifact_ids AS uuid[]))
        GROUP BY document.id, document.status
    )
    UPDATE artifacts SET
        label_counts = jsonb_build_object('draft', draft, 'submitted', submitted,
                                          'accepted', accepted, 'rejected', rejected),
        labeled_by = counted.labeled_by, reserved_for = counted.reserved_for,
        status = CASE
            WHEN status IN ('processing', 'failed') THEN status
            WHEN accepted >= required_labels OR merged THEN 'done'
            WHEN status = 'done' AND accepted > 0 AND has_merge IS NOT TRUE
                 AND accepted >= CAST(label_counts ->> 'accepted' AS int) THEN 'done'
            WHEN draft = 0 AND submitted > 0
                AND (submitted + accepted >= required_labels OR merging) THEN 'in_review'
            WHEN draft + submitted + accepted > 0 THEN 'in_progress'
            WHEN claim_user_id IS NOT NULL AND claim_expires_at > now() THEN 'in_progress'
            ELSE 'ready' END,
        {other_values} updated_at = now()
    FROM counted
    WHERE organization_id = {organization} AND artifacts.id = counted.id
    RETURNING artifacts.id, old_status, status,
              assignees <> '[]' AND {labelable}
              AND (artifacts.labeled_by <> '{{}}' OR EXISTS (
                  SELECT FROM artifact_skips skip
                  WHERE skip.organization_id = artifacts.organization_id
                    AND skip.artifact_id = artifacts.id)) AS may_have_idle_assignees
"""
# The subquery hides the organization's id from the planner. For an organization that is newer than
# the statistics, the planner would expect a single row and choose nested loops, which read all
# documents of the organization for each document of the batch.
_UPDATE_EXPRESSIONS = {
    "labelers": _LABELERS,
    "labelable": LABELABLE.format(of=""),
    "organization": "(SELECT CAST(:org AS uuid))",
}
_UPDATE_STATUSES = text(_UPDATE.format(**_UPDATE_EXPRESSIONS, other_values=""))
_UNARCHIVE = text(
    _UPDATE.format(**_UPDATE_EXPRESSIONS, other_values="archived = false, revision = revision + 1,")
)
# An assignee is idle if it cannot submit another tag set for the artifact: a user who has labeled
# the artifact, or a team whose labelers have each labeled or skipped it. A user who skips an
# artifact is unassigned immediately, so this condition does not check the skips of users.
# `labeled_by` contains a null for each tag set without a labeler; `= ANY` would then return null.
_IS_IDLE = f"""
    CASE WHEN assignee ->> 'user_id' IS NOT NULL
    THEN array_position(labeled_by, CAST(assignee ->> 'user_id' AS uuid)) IS NOT NULL
    ELSE NOT EXISTS (
        SELECT FROM {_LABELERS}
        JOIN team_members ON team_members.organization_id = :organization_id
                          AND team_members.user_id = eligible.user_id
        WHERE eligible.organization_id = :organization_id
          AND team_members.team_id = CAST(assignee ->> 'team_id' AS uuid)
          AND array_position(labeled_by, eligible.user_id) IS NULL
          AND NOT EXISTS (SELECT FROM artifact_skips skip
                          WHERE skip.organization_id = :organization_id
                            AND skip.artifact_id = artifacts.id
                            AND skip.user_id = eligible.user_id))
    END
"""  # noqa: S608 - made of constants
_UNASSIGN_IDLE = text(
    f"""
    UPDATE artifacts SET assignees = {FILTERED_ASSIGNEES.format(condition=f"NOT {_IS_IDLE}")}
    WHERE organization_id = :organization_id AND id = ANY (CAST(:artifact_ids AS uuid[]))
      AND EXISTS (SELECT FROM jsonb_array_elements(assignees) AS list (assignee) WHERE {_IS_IDLE})
    """  # noqa: S608 - made of constants
)
_LOCK_RESERVED = text(
    """
    SELECT id FROM artifacts
    WHERE organization_id = :organization_id AND id > :after AND :user_id = ANY (reserved_for)
      AND id IN (SELECT artifact_id FROM tag_sets
                 WHERE organization_id = :organization_id AND labeler_id = :user_id
                   AND status = 'draft')
    ORDER BY id LIMIT 1000 FOR NO KEY UPDATE
    """
)


def lock_reserved_artifacts(user_id: UUID, after: UUID) -> list[UUID]:
    """Lock at most 1,000 artifacts that are reserved for a user's drafts, and return their ids.

    Artifacts with ids up to `after` are omitted. The ids are in ascending order.
    """
    values = {"user_id": user_id, "after": after, **_build_organization_params()}
    return list(db.session().execute(_LOCK_RESERVED, values).scalars())


def update_statuses(artifact_ids: Sequence[UUID], *, are_new: bool = False) -> dict[UUID, str]:
    """Update the statuses, tag set counts and reservations of artifacts; return {id: status}.

    Call this function last in a transaction that changes a tag set. The artifacts must be locked,
    in the order of their ids. If `are_new` is set, this transaction has created the artifacts, so
    they may have any status; for other artifacts, a change of status that `is_transition` does not
    allow is logged as an error. Statuses:

    - done: at least as many tag sets are accepted as the schema requires, or a merge is accepted.
      An artifact that is done stays done if its schema requires more tag sets than before.
    - in_review: there is no draft, a tag set is submitted, and either a merge is submitted or at
      least as many tag sets are submitted or accepted as the schema requires.
    - in_progress: there is a draft, a submitted or accepted tag set, or an unexpired claim.
    - ready: none of the above. Artifacts that are processing or failed keep their status.

    If the new status is ready or in_progress, assignees who cannot submit another tag set are
    unassigned, so that other users can claim the artifact. The result omits deleted artifacts.
    """
    return _execute_update(_UPDATE_STATUSES, artifact_ids, are_new=are_new)


def unarchive(artifact_ids: Sequence[UUID]) -> None:
    """Unarchive locked artifacts, and update them as `update_statuses` does."""
    _execute_update(_UNARCHIVE, artifact_ids)


class _UpdatedArtifact(NamedTuple):
    id: UUID
    old_status: str
    status: str
    may_have_idle_assignees: bool


def _execute_update(
    statement: TextClause, artifact_ids: Sequence[UUID], *, are_new: bool = False
) -> dict[UUID, str]:
    if not artifact_ids:
        return {}
    values = {
        "org": tenancy.current_organization_id(),
        "artifact_ids": [str(artifact_id) for artifact_id in artifact_ids],
    }
    rows = [_UpdatedArtifact._make(row) for row in db.session().execute(statement, values)]
    for row in rows:
        # Only log the error: the old status was wrong, and an exception would restore it.
        if not (are_new or is_transition(row.old_status, row.status)):
            log.error("artifact.unexpected_transition", **row._asdict())
    idle_ids = [str(row.id) for row in rows if row.may_have_idle_assignees]
    if idle_ids:
        parameters = {"artifact_ids": idle_ids, **_build_organization_params()}
        db.session().execute(_UNASSIGN_IDLE, parameters)
    return {row.id: row.status for row in rows}


_END_RESERVATIONS = text(
    """
    WITH document AS (
        SELECT id FROM artifacts
        WHERE organization_id = :organization_id AND id = :artifact_id FOR NO KEY UPDATE
    )
    UPDATE tag_sets SET reserved_until = NULL
    FROM document
    WHERE organization_id = :organization_id AND artifact_id = document.id AND status = 'draft'
      AND reserved_until > now()
      AND (CAST(:user_id AS uuid) IS NULL OR labeler_id = :user_id)
    RETURNING labeler_id
    """
)
_ORGANIZATIONS_WITH_EXPIRED_RESERVATIONS = text(
    "SELECT DISTINCT organization_id FROM tag_sets"
    " WHERE reserved_until <= now() AND status = 'draft'"
)
# The artifacts are locked first, as in every change of an artifact and its tag sets. Artifacts that
# another transaction has locked are left to the next run.
_END_EXPIRED_RESERVATIONS = text(
    """
    WITH expired AS (
        SELECT id FROM artifacts
        WHERE organization_id = :organization_id AND id IN (
            SELECT artifact_id FROM tag_sets
            WHERE organization_id = :organization_id AND reserved_until <= now()
              AND status = 'draft'
            LIMIT :batch)
        ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE tag_sets SET reserved_until = NULL
    FROM expired
    WHERE organization_id = :organization_id AND artifact_id = expired.id AND status = 'draft'
      AND reserved_until <= now()
    RETURNING artifact_id
    """
)


def end_reservations(artifact_id: UUID, user_id: UUID | None) -> list[UUID]:
    """Lock an artifact, end its time-limited reservations, and return the ids of their labelers.

    If `user_id` is set, only the reservations of this user's drafts are ended.
    """
    values = {"artifact_id": artifact_id, "user_id": user_id, **_build_organization_params()}
    return list(db.session().scalars(_END_RESERVATIONS, values))


def list_reservation_user_ids(artifact_id: UUID) -> list[UUID]:
    """Return the ids of the users for whose drafts an artifact is reserved."""
    statement = select(Artifact.reserved_for).where(Artifact.id == artifact_id)
    return db.session().scalar(statement) or []


def list_organization_ids_with_expired_reservations() -> list[UUID]:
    """Return the ids of all organizations with expired reservations."""
    return list(db.session().scalars(_ORGANIZATIONS_WITH_EXPIRED_RESERVATIONS))


def end_expired_reservations() -> list[UUID]:
    """Lock at most BATCH_SIZE artifacts, end their expired reservations, and return their ids."""
    values = {"batch": BATCH_SIZE, **_build_organization_params()}
    return sorted(set(db.session().scalars(_END_EXPIRED_RESERVATIONS, values)))


def _build_organization_params() -> dict[str, UUID]:
    return {"organization_id": tenancy.current_organization_id()}
