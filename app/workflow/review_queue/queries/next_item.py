"""SQL query that finds, locks and claims the next tag set for a reviewer in one statement.

The statement runs its subqueries in order, until one of them returns a row. They search the items
that the reviewer has claimed, the items assigned to the reviewer, the items assigned to the
reviewer's teams, and the pool of unassigned items. Rows locked by other transactions are skipped,
so no request waits and no item is claimed twice.

The first POOL_SCAN_SIZE items of the pool usually include an item that the reviewer may claim. If
they do not, for example because the reviewer labeled them or lacks the required skills, a longer
scan could read the whole queue. Instead, the pool is split into parts by schema and labeler,
the most urgent items in each part are read, and the most urgent of these items is claimed. The
remaining items are read only if other reviewers have just claimed all of the most urgent items.
"""

from collections.abc import Sequence
from uuid import UUID

from app.kit import tenancy
from app.kit.prepared import Prepared
from app.workflow.tag_sets import claimable
from app.workflow.tag_sets.models import LABELER

POOL_SCAN_SIZE = 200
"""The number of most urgent items in the pool that are read before the pool is split into parts."""
_ITEMS_PER_PART = 8
"""The number of items that are read first in each part, and for each team of the reviewer.

It suffices for 8 concurrent callers."""

_PARAMETER_TYPES = "uuid, uuid, boolean, int, uuid, text[], boolean, uuid[], boolean"
# $1 organization, $2 reviewer, $3 whether to include the reviewer's own tag sets, $4 minutes,
# $5 schema, $6 flags (any of them), $7 whether to ignore skills, $8 excluded ids, $9 whether to
# exclude items that the reviewer has claimed.

_PENDING = f"item.organization_id = $1 AND {claimable.IN_QUEUE.format(of='item.')}"
_UNCLAIMED = claimable.UNCLAIMED.format(of="item.")
_IS_ELIGIBLE = f"""
    {claimable.MAY_REVIEW.format(of="item.", self_review="$3", user="$2")}
    AND ($5 IS NULL OR item.schema_id = $5) AND ($6 IS NULL OR item.flags ?| $6)
    AND item.id <> ALL ($8)
"""
_LABELER = LABELER.format(of="item.")
_HAS_SKILLS = "item.schema_id <> ALL (coalesce((SELECT schemas FROM unskilled), '{}'))"
_IN_POOL = f"{_PENDING} AND item.assignee_id IS NULL AND item.assignee_team_id IS NULL"
# These conditions are the same as those of `_PENDING` and `_IN_POOL`, but for a row that is locked
# by its id. They are written so that no partial index matches, because a plan made for an empty
# queue would scan that index for each row.
_IS_STILL_UNCLAIMED = (
    f"item.status || '' = 'submitted' AND NOT item.artifact_archived AND {_UNCLAIMED}"
)
_IS_STILL_IN_POOL = (
    f"{_IS_STILL_UNCLAIMED} AND coalesce(item.assignee_id, item.assignee_team_id) IS NULL"
)
_MOST_URGENT = "ORDER BY item.review_rank, item.id LIMIT 1"
_LOCK = "FOR NO KEY UPDATE OF item SKIP LOCKED"

# A reviewer claims only a few rows at a time. `review_rank + 0` prevents PostgreSQL from using the
# queue's index for the order, because a plan made while nobody had a claim would scan the queue.
_CLAIMED = f"""
    SELECT item.id FROM tag_sets item
    WHERE {_PENDING} AND {claimable.CLAIMED.format(of="item.", user="$2")} AND NOT $9
      AND {_IS_ELIGIBLE}
    ORDER BY item.review_rank + 0, item.id LIMIT 1 {_LOCK}
"""  # noqa: S608 - made of constants
_ASSIGNED = f"""
    SELECT item.id FROM tag_sets item
    WHERE {_PENDING} AND {claimable.ASSIGNED.format(of="item.", user="$2")} AND {_IS_ELIGIBLE}
    {_MOST_URGENT} {_LOCK}
"""  # noqa: S608 - made of constants
_ASSIGNED_TO_TEAM = f"""
    SELECT item.id
    FROM team_members team_member
    CROSS JOIN LATERAL (
        SELECT item.id, item.review_rank FROM tag_sets item
        WHERE {_PENDING} AND item.assignee_team_id IS NOT NULL
          AND item.assignee_team_id = team_member.team_id AND {_UNCLAIMED} AND {_IS_ELIGIBLE}
        ORDER BY item.review_rank, item.id LIMIT {{limit}}
    ) AS best
    JOIN tag_sets item ON item.organization_id = $1 AND item.id = best.id
    WHERE team_member.organization_id = $1 AND team_member.user_id = $2
      AND {_IS_STILL_UNCLAIMED} AND item.assignee_team_id IS NOT DISTINCT FROM team_member.team_id
    {_MOST_URGENT} {_LOCK}
"""  # noqa: S608 - made of constants
_POOL_SCAN = f"""
    SELECT item.id
    FROM (
        SELECT item.id, item.review_rank FROM tag_sets item
        WHERE {_IN_POOL} ORDER BY item.review_rank, item.id LIMIT {POOL_SCAN_SIZE}
    ) AS head
    JOIN tag_sets item ON item.organization_id = $1 AND item.id = head.id
    WHERE {_IS_STILL_IN_POOL} AND {_HAS_SKILLS} AND {_IS_ELIGIBLE}
    ORDER BY head.review_rank, head.id LIMIT 1 {_LOCK}
"""  # noqa: S608 - made of constants
# The condition on `parts.labeler_id` repeats a case of `_IS_ELIGIBLE`. It skips the part with the
# reviewer's own items, because otherwise each of these items would be read.
_POOL_PARTS = f"""
    SELECT item.id
    FROM parts
    CROSS JOIN LATERAL (
        SELECT item.id, item.review_rank FROM tag_sets item
        WHERE {_IN_POOL} AND item.schema_id = parts.schema_id
          AND {_LABELER} = parts.labeler_id AND {_UNCLAIMED} AND {_IS_ELIGIBLE}
        ORDER BY item.review_rank, item.id LIMIT {{limit}}
    ) AS best
    JOIN tag_sets item ON item.organization_id = $1 AND item.id = best.id
    WHERE ($3 OR parts.labeler_id <> $2) AND {_IS_STILL_IN_POOL}
    ORDER BY best.review_rank, best.id LIMIT 1 {_LOCK}
"""  # noqa: S608 - made of constants
# A row for each labeler of each schema in the pool. Each row is found with one index lookup.
_PARTS = f"""
    SELECT schemas.id AS schema_id, first.labeler_id
    FROM schemas CROSS JOIN LATERAL (
        SELECT {_LABELER} AS labeler_id FROM tag_sets item
        WHERE {_IN_POOL} AND item.schema_id = schemas.id
        ORDER BY {_LABELER} LIMIT 1
    ) AS first
    WHERE schemas.organization_id = $1 AND ($5 IS NULL OR schemas.id = $5)
      AND schemas.id <> ALL (coalesce((SELECT schemas FROM unskilled), '{{}}'))
    UNION ALL
    SELECT parts.schema_id, next.labeler_id
    FROM parts CROSS JOIN LATERAL (
        SELECT {_LABELER} AS labeler_id FROM tag_sets item
        WHERE {_IN_POOL} AND item.schema_id = parts.schema_id
          AND {_LABELER} > parts.labeler_id
        ORDER BY {_LABELER} LIMIT 1
    ) AS next
"""  # noqa: S608 - made of constants
# The schemas that require a skill that none of the reviewer's teams has.
_UNSKILLED = """
    SELECT array_agg(schemas.id) AS schemas FROM schemas
    WHERE schemas.organization_id = $1 AND NOT $7 AND schemas.required_skill_keys <> '{}'
      AND NOT schemas.required_skill_keys <@ ARRAY(
          SELECT unnest(team.skill_keys)
          FROM team_members team_member
          JOIN teams team ON team.organization_id = $1 AND team.id = team_member.team_id
          WHERE team_member.organization_id = $1 AND team_member.user_id = $2)
"""
_SUBQUERIES = (
    _CLAIMED,
    _ASSIGNED,
    _ASSIGNED_TO_TEAM.format(limit=_ITEMS_PER_PART),
    _ASSIGNED_TO_TEAM.format(limit="ALL"),
    _POOL_SCAN,
    _POOL_PARTS.format(limit=_ITEMS_PER_PART),
    _POOL_PARTS.format(limit="ALL"),
)
_CLAIM_NEXT = Prepared(
    "claim_next_review",
    _PARAMETER_TYPES,
    f"""
    WITH RECURSIVE unskilled AS MATERIALIZED ({_UNSKILLED}), parts AS ({_PARTS}),
    chosen AS MATERIALIZED (
        SELECT id FROM (
            {" UNION ALL ".join(f"(SELECT * FROM ({sql}) AS place)" for sql in _SUBQUERIES)}
        ) AS places LIMIT 1
    )
    UPDATE tag_sets SET claim_user_id = $2, claim_expires_at = now() + make_interval(mins => $4)
    FROM chosen WHERE tag_sets.organization_id = $1 AND tag_sets.id = chosen.id
    RETURNING tag_sets.id
    """,  # noqa: S608 - made of constants
)


def claim_next(
    user_id: UUID,
    *,
    minutes: int,
    allows_self_review: bool,
    ignores_skills: bool,
    schema_id: UUID | None,
    flags: Sequence[str] | None,
    exclude: Sequence[UUID],
    skip_held: bool,
) -> UUID | None:
    """Claim the next tag set for a reviewer and return its id, or None if no tag set matches.

    The claim expires after `minutes`. If `schema_id` is set, the tag set has this schema; if
    `flags` is set, it has at least one of the flags. `exclude` lists ids to exclude; `skip_held`
    excludes tag sets that the reviewer has claimed.
    """
    row = _CLAIM_NEXT.first(
        str(tenancy.current_organization_id()),
        str(user_id),
        allows_self_review,
        minutes,
        str(schema_id) if schema_id else None,
        list(flags) if flags else None,
        ignores_skills,
        f"{{{','.join(map(str, exclude))}}}",
        skip_held,
    )
    return None if row is None else UUID(str(row[0]))
