"""SQL queries that lock, claim, assign and unassign review items.

These actions do not edit the tag set, so its revision and its `updated_at` do not change.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import TextClause, select, text, update

from app.identity.members.eligibility import build_eligible_members
from app.identity.organizations.settings import ALLOWS_SELF_REVIEW
from app.kit import db, tenancy
from app.kit.id_conditions import build_id_condition
from app.kit.permissions import Role
from app.workflow.assignment.queries import claimable_tables
from app.workflow.tag_sets.claimable import EXCLUDED_REVIEWERS
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.queries.locking import CLAIMED_BY, CONTRIBUTOR_IDS
from app.workflow.tag_sets.transitions import TagSetStatus

BATCH_SIZE = 1000

CLAIMABLE_ITEMS = claimable_tables.ClaimableTable("tag_sets", Role.reviewer)

# A null `due_at` leaves the due time unchanged; a trigger updates the position in the queue. The
# claim is kept if it belongs to the new assignee.
_ASSIGN = text(
    """
    UPDATE tag_sets item SET
        assignee_id = assigned.user_id, assignee_team_id = :team_id,
        review_due_at = coalesce(CAST(:due_at AS timestamptz), item.review_due_at),
        claim_user_id = CASE WHEN assigned.keeps_claim THEN item.claim_user_id END,
        claim_expires_at = CASE WHEN assigned.keeps_claim THEN item.claim_expires_at END,
        escalated = item.escalated OR :escalates,
        escalated_by = CASE WHEN :escalates THEN CAST(:by AS uuid) ELSE item.escalated_by END,
        escalated_at = CASE WHEN :escalates THEN now() ELSE item.escalated_at END,
        escalation_reason = CASE WHEN :escalates THEN :reason ELSE item.escalation_reason END
    FROM unnest(CAST(:ids AS uuid[]), CAST(:user_ids AS uuid[]), CAST(:keeps_claim AS boolean[]))
        AS assigned (id, user_id, keeps_claim)
    WHERE item.organization_id = :org AND item.id = assigned.id
    """
)
# Only the rank of a nearly due review is negative, so reviews that were moved are not moved again.
_MOVE_NEARLY_DUE = text(
    """
    WITH due AS (
        SELECT organization_id, id FROM tag_sets
        WHERE due_at <= now() + interval '24 hours' AND status = 'submitted' AND review_rank >= 0
        ORDER BY due_at LIMIT :batch FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE tag_sets SET
        review_rank = work_rank(document.priority, tag_sets.due_at, tag_sets.submitted_at)
    FROM due, artifacts document
    WHERE tag_sets.organization_id = due.organization_id AND tag_sets.id = due.id
      AND document.organization_id = due.organization_id AND document.id = tag_sets.artifact_id
    RETURNING 1
    """
)


class LockedItem(NamedTuple):
    """A locked tag set that is pending review.

    `contributor_ids` lists the id of the labeler, or the ids of the labelers of a merge's sources.
    `claimed_by` is the id of the user with an unexpired claim, or None.
    """

    id: UUID
    labeler_id: UUID | None
    contributor_ids: list[UUID]
    review_rank: int
    claimed_by: UUID | None
    claim_expires_at: datetime | None
    assignee_id: UUID | None
    assignee_team_id: UUID | None
    revision: int


_SELECT_LOCKED = (
    select(
        *db.build_columns(
            LockedItem._fields, TagSet, contributor_ids=CONTRIBUTOR_IDS, claimed_by=CLAIMED_BY
        )
    )
    .where(TagSet.status == TagSetStatus.SUBMITTED)
    .order_by(TagSet.id)
    .with_for_update(key_share=True)
)


def lock(item_ids: Iterable[UUID]) -> list[LockedItem]:
    """Lock those of the items that are pending review, and return them ordered by id."""
    statement = _SELECT_LOCKED.where(build_id_condition(TagSet.id, item_ids))
    return [LockedItem._make(row) for row in db.session().execute(statement)]


def assign(
    user_ids_by_item: Mapping[UUID, UUID | None],
    *,
    team_id: UUID | None,
    due_at: datetime | None,
    ids_with_kept_claims: set[UUID],
    by: UUID | None = None,
    escalation_reason: str | None = None,
) -> None:
    """Assign locked items, and end the claims on items that are not in `ids_with_kept_claims`.

    `user_ids_by_item` maps item ids to user ids, or to None if all items are assigned to `team_id`.
    If `due_at` is None, the due times do not change. If `escalation_reason` is set, the items are
    escalated by the user `by`.
    """
    values = {
        "org": tenancy.current_organization_id(),
        "ids": list(map(str, user_ids_by_item)),
        "user_ids": [
            None if user_id is None else str(user_id) for user_id in user_ids_by_item.values()
        ],
        "keeps_claim": [item_id in ids_with_kept_claims for item_id in user_ids_by_item],
        "team_id": team_id,
        "due_at": due_at,
        "escalates": escalation_reason is not None,
        "by": by,
        "reason": escalation_reason,
    }
    db.session().execute(_ASSIGN, values)


def claim(item_id: UUID, user_id: UUID, *, minutes: int) -> None:
    """Claim a locked item for a reviewer. The claim expires after `minutes`."""
    values = {**claimable_tables.build_claim(user_id, minutes), "updated_at": TagSet.updated_at}
    db.execute_bulk(update(TagSet).where(TagSet.id == item_id).values(values))


def prioritize_nearly_due() -> int:
    """Prioritize at most BATCH_SIZE reviews that are due within 24 hours; return their number."""
    return len(db.session().execute(_MOVE_NEARLY_DUE, {"batch": BATCH_SIZE}).all())


# PostgreSQL checks the conditions again after it has locked an item. Unassigning an item does not
# edit the tag set, so the revision and `updated_at` do not change.
_UNASSIGN = """
    WITH {ctes} unassignable AS (
        SELECT item.id FROM tag_sets item
        WHERE item.organization_id = :org AND item.status = 'submitted' AND {condition}
        ORDER BY item.id LIMIT :batch FOR NO KEY UPDATE
    )
    UPDATE tag_sets item SET assignee_id = NULL, assignee_team_id = NULL
    FROM unassignable WHERE item.organization_id = :org AND item.id = unassignable.id
    RETURNING item.id, item.escalated
"""
_UNASSIGN_USER = text(
    _UNASSIGN.format(
        ctes="",
        condition=f"""item.assignee_id IS NOT NULL AND item.assignee_id = :user_id
          AND {claimable_tables.build_ineligible_condition(Role.reviewer)}""",
    )
)
_ALLOWS_SELF_REVIEW = ALLOWS_SELF_REVIEW.format(organization=":org")
_EXCLUDED_FROM_TEAM_ITEM = EXCLUDED_REVIEWERS.format(
    of="item.", self_review="(SELECT allows_self_review FROM reviewers)"
)
# A team cannot review an item if none of its reviewers may review the tag set. The reviewers are
# selected once, because searching the members of a large team for every item would be slow.
_UNASSIGN_TEAM = text(
    _UNASSIGN.format(
        ctes=f"""reviewers AS MATERIALIZED (
            SELECT ARRAY(
                SELECT team_member.user_id FROM team_members team_member
                WHERE team_member.organization_id = :org AND team_member.team_id = :team_id
                  AND team_member.user_id IN (
                    SELECT member.user_id FROM {build_eligible_members(Role.reviewer)}
                    WHERE member.organization_id = :org)
            ) AS user_ids, {_ALLOWS_SELF_REVIEW} AS allows_self_review),""",  # noqa: S608 - constants
        condition=f"""item.assignee_team_id IS NOT NULL AND item.assignee_team_id = :team_id
          AND (SELECT user_ids FROM reviewers) <@ {_EXCLUDED_FROM_TEAM_ITEM}""",  # noqa: S608
    )
)

_EXCLUDED_FROM_ITEM = EXCLUDED_REVIEWERS.format(of="item.", self_review=_ALLOWS_SELF_REVIEW)
_END_SELF_REVIEWS = text(
    f"""
    WITH own AS (
        SELECT item.id, item.assignee_id,
               coalesce(item.assignee_id = ANY (excluded.ids), false) AS is_assignee,
               coalesce(item.claim_user_id = ANY (excluded.ids), false) AS is_claimant
        FROM tag_sets item
        CROSS JOIN LATERAL (SELECT {_EXCLUDED_FROM_ITEM} AS ids) AS excluded
        WHERE item.organization_id = :org AND item.status = 'submitted'
          AND (item.assignee_id IS NOT NULL OR item.claim_user_id IS NOT NULL)
          AND (item.assignee_id = ANY (excluded.ids) OR item.claim_user_id = ANY (excluded.ids))
        ORDER BY item.id LIMIT :batch FOR NO KEY UPDATE OF item
    )
    UPDATE tag_sets item SET
        assignee_id = CASE WHEN NOT own.is_assignee THEN item.assignee_id END,
        claim_user_id = CASE WHEN NOT own.is_claimant THEN item.claim_user_id END,
        claim_expires_at = CASE WHEN NOT own.is_claimant THEN item.claim_expires_at END
    FROM own WHERE item.organization_id = :org AND item.id = own.id
    RETURNING item.id, item.escalated, CASE WHEN own.is_assignee THEN own.assignee_id END
    """  # noqa: S608 - made of constants
)
_LIST_ASSIGNED_TEAMS = text(
    "SELECT DISTINCT assignee_team_id FROM tag_sets WHERE organization_id = :org"
    " AND status = 'submitted' AND assignee_team_id IS NOT NULL ORDER BY assignee_team_id"
)


class UnassignedItem(NamedTuple):
    """An item from which a user or team was unassigned."""

    id: UUID
    escalated: bool


def unassign_user(user_id: UUID) -> list[UnassignedItem]:
    """Unassign a user from at most BATCH_SIZE items, unless the user can review.

    Returns the items in the order of their ids. An empty list means that no item is left, or that
    the user can review.
    """
    return _unassign_batch(_UNASSIGN_USER, user_id=user_id)


def unassign_team(team_id: UUID) -> list[UnassignedItem]:
    """Unassign a team from at most BATCH_SIZE items that none of the team's members can review.

    Returns the items in the order of their ids. An empty list means that no item is left.
    """
    return _unassign_batch(_UNASSIGN_TEAM, team_id=team_id)


def _unassign_batch(statement: TextClause, **assignee: UUID) -> list[UnassignedItem]:
    values = {"org": tenancy.current_organization_id(), "batch": BATCH_SIZE, **assignee}
    return sorted(UnassignedItem._make(row) for row in db.session().execute(statement, values))


class EndedSelfReview(NamedTuple):
    """An item on which a self-review was ended: a claim or assignment of a person who labeled it.

    `assignee_id` is the id of this person, or None if the person had only claimed the item.
    """

    id: UUID
    escalated: bool
    assignee_id: UUID | None


def end_self_reviews() -> list[EndedSelfReview]:
    """End the claims and direct assignments of users on at most BATCH_SIZE items that they labeled.

    Returns the items in the order of their ids. An empty list means that no item is left, or that
    the organization allows self-review.
    """
    values = {"org": tenancy.current_organization_id(), "batch": BATCH_SIZE}
    return sorted(
        EndedSelfReview._make(row) for row in db.session().execute(_END_SELF_REVIEWS, values)
    )


def list_assigned_team_ids() -> list[UUID]:
    """Return the ids of the teams that are assigned to pending items."""
    values = {"org": tenancy.current_organization_id()}
    return list(db.session().scalars(_LIST_ASSIGNED_TEAMS, values))
