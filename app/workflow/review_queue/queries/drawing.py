"""SQL of the draw: the next label set for a reviewer, found, locked and claimed in one statement.

The places to look at stand in an Append that runs only as far as the first row: what the reviewer
holds, what is assigned to them, to a team of theirs, then the pool. Rows that somebody else locks
are skipped, so nobody waits and nobody is given what another one gets.

The head of the pool suits nearly everyone. Where it is full of what the reviewer may not have, as
their own label sets or a schema they lack the skills for, reading on would take as long as the
queue is. Then the best of each schema and labeler are looked up, and the first of these drawn. Only
where others have just taken all of them is the rest read.
"""

from collections.abc import Sequence
from uuid import UUID

from app.kit import tenancy
from app.kit.prepared import Prepared
from app.workflow.tag_sets.models import LABELER, MAKERS

HEAD = 200
"""How much of the pool's head is looked at before its parts."""
_BEST = 8
"""How many of each part: as many callers find one each before the rest is read."""

_TYPES = "uuid, uuid, boolean, int, uuid, text[], boolean, uuid[], boolean"
# $1 organization, $2 reviewer, $3 whether one's own may be drawn, $4 minutes, $5 schema,
# $6 flags of which it has one, $7 whether skills do not matter, $8 which not, $9 whether none that
# the reviewer holds.

_WAITS = "item.organization_id = $1 AND item.status = 'submitted' AND NOT item.artifact_archived"
_FREE = "(item.claim_user_id IS NULL OR item.claim_expires_at <= now())"
_SUITS = f"""
    ($3 OR item.labeler_id IS DISTINCT FROM $2)
    AND ($3 OR item.merged_from IS NULL OR $2 <> ALL ({MAKERS.format(of="item.")}))
    AND ($5 IS NULL OR item.schema_id = $5) AND ($6 IS NULL OR item.flags ?| $6)
    AND item.id <> ALL ($8)
"""
_LABELER = LABELER.format(of="item.")
_SKILLED = "item.schema_id <> ALL (coalesce((SELECT schemas FROM beyond), '{}'))"
_IN_POOL = f"{_WAITS} AND item.assignee_id IS NULL AND item.assignee_team_id IS NULL"
# The same of a row that is found again by its id, to be locked, in words that no partial index is
# taken for: a plan made while the queue was empty would read all of it for each row.
_STILL = f"item.status || '' = 'submitted' AND NOT item.artifact_archived AND {_FREE}"
_STILL_IN_POOL = f"{_STILL} AND coalesce(item.assignee_id, item.assignee_team_id) IS NULL"
_FIRST = "ORDER BY item.review_rank, item.id LIMIT 1"
_LOCK = "FOR NO KEY UPDATE OF item SKIP LOCKED"

# Few, and put in order in words that the queue's index has no order for: a plan made while nobody
# held anything would read all of the queue for them.
_HELD = f"""
    SELECT item.id FROM tag_sets item
    WHERE {_WAITS} AND item.claim_user_id = $2 AND item.claim_expires_at > now() AND NOT $9
      AND {_SUITS}
    ORDER BY item.review_rank + 0, item.id LIMIT 1 {_LOCK}
"""  # noqa: S608 - made of constants
_ASSIGNED = f"""
    SELECT item.id FROM tag_sets item
    WHERE {_WAITS} AND item.assignee_id IS NOT NULL AND item.assignee_id = $2
      AND {_FREE} AND {_SUITS}
    {_FIRST} {_LOCK}
"""  # noqa: S608 - made of constants
_BY_TEAM = f"""
    SELECT item.id
    FROM team_members seat
    CROSS JOIN LATERAL (
        SELECT item.id, item.review_rank FROM tag_sets item
        WHERE {_WAITS} AND item.assignee_team_id IS NOT NULL
          AND item.assignee_team_id = seat.team_id AND {_FREE} AND {_SUITS}
        ORDER BY item.review_rank, item.id LIMIT {{limit}}
    ) AS best
    JOIN tag_sets item ON item.organization_id = $1 AND item.id = best.id
    WHERE seat.organization_id = $1 AND seat.user_id = $2
      AND {_STILL} AND item.assignee_team_id IS NOT DISTINCT FROM seat.team_id
    {_FIRST} {_LOCK}
"""  # noqa: S608 - made of constants
_POOL_HEAD = f"""
    SELECT item.id
    FROM (
        SELECT item.id, item.review_rank FROM tag_sets item
        WHERE {_IN_POOL} ORDER BY item.review_rank, item.id LIMIT {HEAD}
    ) AS head
    JOIN tag_sets item ON item.organization_id = $1 AND item.id = head.id
    WHERE {_STILL_IN_POOL} AND {_SKILLED} AND {_SUITS}
    ORDER BY head.review_rank, head.id LIMIT 1 {_LOCK}
"""  # noqa: S608 - made of constants
_POOL_PARTS = f"""
    SELECT item.id
    FROM parts
    CROSS JOIN LATERAL (
        SELECT item.id, item.review_rank FROM tag_sets item
        WHERE {_IN_POOL} AND item.schema_id = parts.schema_id
          AND {_LABELER} = parts.labeler_id AND {_FREE} AND {_SUITS}
        ORDER BY item.review_rank, item.id LIMIT {{limit}}
    ) AS best
    JOIN tag_sets item ON item.organization_id = $1 AND item.id = best.id
    WHERE ($3 OR parts.labeler_id <> $2) AND {_STILL_IN_POOL}
    ORDER BY best.review_rank, best.id LIMIT 1 {_LOCK}
"""  # noqa: S608 - made of constants
# Each labeler of each schema in the pool, by one step in the index for each.
_PARTS = f"""
    SELECT schemas.id AS schema_id, first.labeler_id
    FROM schemas CROSS JOIN LATERAL (
        SELECT {_LABELER} AS labeler_id FROM tag_sets item
        WHERE {_IN_POOL} AND item.schema_id = schemas.id
        ORDER BY {_LABELER} LIMIT 1
    ) AS first
    WHERE schemas.organization_id = $1 AND ($5 IS NULL OR schemas.id = $5)
      AND schemas.id <> ALL (coalesce((SELECT schemas FROM beyond), '{{}}'))
    UNION ALL
    SELECT parts.schema_id, next.labeler_id
    FROM parts CROSS JOIN LATERAL (
        SELECT {_LABELER} AS labeler_id FROM tag_sets item
        WHERE {_IN_POOL} AND item.schema_id = parts.schema_id
          AND {_LABELER} > parts.labeler_id
        ORDER BY {_LABELER} LIMIT 1
    ) AS next
"""  # noqa: S608 - made of constants
# The schemas that ask for a skill which no team of the reviewer has.
_BEYOND = """
    SELECT array_agg(schemas.id) AS schemas FROM schemas
    WHERE schemas.organization_id = $1 AND NOT $7 AND schemas.required_skill_keys <> '{}'
      AND NOT schemas.required_skill_keys <@ ARRAY(
          SELECT unnest(team.skill_keys)
          FROM team_members seat
          JOIN teams team ON team.organization_id = $1 AND team.id = seat.team_id
          WHERE seat.organization_id = $1 AND seat.user_id = $2)
"""
_PLACES = (
    _HELD,
    _ASSIGNED,
    _BY_TEAM.format(limit=_BEST),
    _BY_TEAM.format(limit="ALL"),
    _POOL_HEAD,
    _POOL_PARTS.format(limit=_BEST),
    _POOL_PARTS.format(limit="ALL"),
)
_DRAW = Prepared(
    "draw_review",
    _TYPES,
    f"""
    WITH RECURSIVE beyond AS MATERIALIZED ({_BEYOND}), parts AS ({_PARTS}), drawn AS MATERIALIZED (
        SELECT id FROM ({" UNION ALL ".join(f"(SELECT * FROM ({p}) AS place)" for p in _PLACES)})
            AS places LIMIT 1
    )
    UPDATE tag_sets SET claim_user_id = $2, claim_expires_at = now() + make_interval(mins => $4)
    FROM drawn WHERE tag_sets.organization_id = $1 AND tag_sets.id = drawn.id
    RETURNING tag_sets.id
    """,  # noqa: S608 - made of constants
)


def draw(
    user_id: UUID,
    *,
    minutes: int,
    own_too: bool,
    any_skill: bool,
    schema_id: UUID | None,
    flags: Sequence[str] | None,
    exclude: Sequence[UUID],
    skip_held: bool,
) -> UUID | None:
    """Claim the next label set for a reviewer; its id, None where nothing is there for them."""
    row = _DRAW.first(
        str(tenancy.current_organization_id()),
        str(user_id),
        own_too,
        minutes,
        str(schema_id) if schema_id else None,
        list(flags) if flags else None,
        any_skill,
        f"{{{','.join(map(str, exclude))}}}",
        skip_held,
    )
    return None if row is None else UUID(str(row[0]))
