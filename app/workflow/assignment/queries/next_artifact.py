"""SQL query that finds, locks and claims the next artifact for a labeler in one statement.

The columns of an artifact's row (`labeled_by`, `reserved_for`, `assignees`, the claim) determine
who may claim the artifact. An index alone can therefore exclude artifacts that the caller may not
claim. Only candidates are locked, one artifact at a time, and each row is checked again after it is
locked.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Label
from sqlalchemy.dialects.postgresql.psycopg2 import PGDialect_psycopg2

from app.documents.artifacts.models.documents import (
    ARTIFACT_COLUMNS,
    URGENCY,
    URGENT_AT,
    ArtifactRow,
)
from app.kit import tenancy
from app.kit.prepared import Prepared
from app.workflow.tag_sets import claimable

MAX_LOCKED = 48
"""The maximum number of artifacts that the first query of `claim_next` tries to lock.

It is larger than the expected number of users who claim at the same time."""

MAX_LOCKED_LEFTOVERS = 2000
"""The maximum number of artifacts that the second query of `claim_next` tries to lock.

It is larger than the number of artifacts that one bulk request by ids can lock."""

# Parameters: $1 organization, $2 user, $3 schema ids, $4 language, $5 team, $6 ids of artifacts to
# exclude, $7 whether to exclude artifacts that the user has claimed, $8 minutes until the claim
# expires.
#
# Ranks of candidates: 0 claimed by the user, 1 the user has a draft, 2 assigned to the user,
# 3 assigned to a team of the user, 4 in the pool of unassigned artifacts.
_URGENCY, _URGENT_AT = URGENCY.format(of="d."), URGENT_AT.format(of="d.")
_ORDER = f"{_URGENCY} DESC, {_URGENT_AT}, d.id"
_OPEN = f"{claimable.LABELABLE.format(of='d.')} AND NOT d.archived"
_UNCLAIMED = claimable.UNCLAIMED.format(of="d.")
_CLAIMED_BY_USER = claimable.CLAIMED.format(of="d.", user="$2")
_IS_NOT_EXCLUDED = "d.id <> ALL ($6)"
_MATCHES = f"($4 IS NULL OR d.language = $4) AND {_IS_NOT_EXCLUDED}"
_HAS_SCHEMA = "($3 IS NULL OR d.schema_id = ANY ($3))"
_NEEDS_TAG_SET = claimable.NEEDS_TAG_SET.format(
    of="d.", user="$2", required_labels="active_schema.required_labels"
)
_NOT_SKIPPED = claimable.NOT_SKIPPED.format(organization="$1", user="$2", artifact="d.id")
# A draft without tags reserves nothing, so the artifact may now be reserved for another labeler.
_IS_FREE_FOR_OWN_DRAFT = """
    (d.reserved_for = '{{}}' OR $2 = ANY (d.reserved_for)
     OR cardinality(d.labeled_by) + cardinality(d.reserved_for)
       < active_schema.required_labels)
"""
_IS_ASSIGNED = """
    EXISTS (SELECT FROM artifact_assignees work JOIN user_and_teams USING (assignee_id)
        WHERE work.organization_id = $1 AND work.artifact_id = d.id)
"""
_CANDIDATE_COLUMNS = f"d.id, {_URGENCY} AS urgency, {_URGENT_AT} AS urgent_at, d.updated_at"
# This query runs once per schema, so that artifacts of other schemas are never scanned. The index
# has the same conditions, so that PostgreSQL needs to read only the index. `_POOL` also contains a
# query for requests with a language. It uses another index, so that artifacts in other languages
# are never scanned. Only one of the two queries runs.
_ORDERED_POOL = f"""
    SELECT 4 AS rank, d.id, {_URGENCY} AS urgency, {_URGENT_AT} AS urgent_at
    FROM artifacts d
    WHERE d.organization_id = $1 AND d.schema_id = active_schema.id AND d.schema_id IS NOT NULL
      AND {_OPEN} AND d.claim_user_id IS NULL AND d.assignees = '[]'
      AND {{language}} AND {_NEEDS_TAG_SET} AND {_IS_NOT_EXCLUDED} AND {_NOT_SKIPPED}
    ORDER BY {_ORDER} LIMIT {{limit}}
"""  # noqa: S608 - made of constants
_POOL = " UNION ALL ".join(
    f"({_ORDERED_POOL.format(language=language, limit='{limit}')})"
    for language in ("$4 IS NULL", "d.language = $4")
)
# Rows are read in index order up to the limit: the inner LIMIT prevents PostgreSQL from reordering
# the join. Rank 2 ignores skips, because a skip removes a direct assignment. If a user is still
# assigned, the skip was written while the assignment waited for the row lock, and is outdated.
_ASSIGNED = f"""
    SELECT user_and_teams.rank, work.artifact_id, work.priority, work.urgent_at, d.updated_at
    FROM artifact_assignees work
    CROSS JOIN LATERAL (
        SELECT d.updated_at FROM artifacts d
        WHERE d.organization_id = $1 AND d.id = work.artifact_id
          AND {_UNCLAIMED} AND {_NEEDS_TAG_SET} AND {_MATCHES}
          AND (user_and_teams.rank = 2 OR {_NOT_SKIPPED})
        LIMIT 1
    ) AS d
    WHERE work.organization_id = $1 AND work.assignee_id = user_and_teams.assignee_id
      AND work.is_open AND work.schema_id = active_schema.id
      AND array_position(work.labeled_by, $2) IS NULL
    ORDER BY work.priority DESC, work.urgent_at, work.artifact_id LIMIT {{limit}}
"""  # noqa: S608 - made of constants
# Leftovers are unassigned artifacts whose claim has expired but has not been cleared yet.
_LEFTOVERS = f"""
    SELECT 4 AS rank, {_CANDIDATE_COLUMNS}
    FROM artifacts d JOIN active_schema ON active_schema.id = d.schema_id
    WHERE d.organization_id = $1 AND d.claim_user_id IS NOT NULL AND d.claim_expires_at <= now()
      AND d.assignees = '[]' AND $5 IS NULL AND active_schema.user_has_skills
      AND {_OPEN} AND {_NEEDS_TAG_SET} AND {_MATCHES} AND {_NOT_SKIPPED}
"""  # noqa: S608 - made of constants
_COMMON_CTES = f"""
WITH own_teams AS MATERIALIZED (
    SELECT team_id FROM team_members WHERE organization_id = $1 AND user_id = $2
), user_and_teams AS MATERIALIZED (
    SELECT $2 AS assignee_id, 2 AS rank WHERE $5 IS NULL
    UNION ALL
    SELECT team_id, 3 FROM own_teams WHERE $5 IS NULL OR team_id = $5
), skills AS MATERIALIZED (
    SELECT coalesce(array_agg(skill), '{{{{}}}}') AS keys
    FROM own_teams
    JOIN teams ON teams.organization_id = $1 AND teams.id = own_teams.team_id
    CROSS JOIN unnest(teams.skill_keys) AS skill
), active_schema AS MATERIALIZED (
    SELECT schemas.id,
           {claimable.REQUIRED_LABELS_OF_VERSION} AS required_labels,
           schemas.required_skill_keys <@ (SELECT keys FROM skills) AS user_has_skills
    FROM schemas
    JOIN schema_versions version ON version.organization_id = $1
     AND version.id = schemas.current_version_id
    WHERE schemas.organization_id = $1 AND schemas.status = 'active'
      AND ($3 IS NULL OR schemas.id = ANY ($3))
), own_drafts AS MATERIALIZED (
    SELECT artifact_id AS id, greatest(created_at, decided_at) AS since FROM tag_sets
    WHERE organization_id = $1 AND labeler_id = $2 AND status = 'draft'
)
"""  # noqa: S608 - made of constants
_CANDIDATES = f"""
    SELECT 0 AS rank, {_CANDIDATE_COLUMNS}
    FROM artifacts d LEFT JOIN active_schema ON active_schema.id = d.schema_id
    WHERE d.organization_id = $1 AND {_CLAIMED_BY_USER}
      AND NOT $7 AND {_OPEN} AND {_MATCHES} AND {_HAS_SCHEMA} AND ($5 IS NULL OR {_IS_ASSIGNED})
      AND (EXISTS (SELECT FROM own_drafts WHERE own_drafts.id = d.id) OR {_NEEDS_TAG_SET})
    UNION ALL
    SELECT 1, {_CANDIDATE_COLUMNS}
    FROM own_drafts JOIN artifacts d ON d.organization_id = $1 AND d.id = own_drafts.id
    LEFT JOIN active_schema ON active_schema.id = d.schema_id
    WHERE {_OPEN} AND {_UNCLAIMED} AND {_MATCHES} AND {_HAS_SCHEMA}
      AND ($5 IS NULL OR {_IS_ASSIGNED}) AND {_IS_FREE_FOR_OWN_DRAFT}
      AND (d.assignees = '[]' OR $2 = ANY (d.reserved_for) OR {_IS_ASSIGNED})
      AND NOT EXISTS (SELECT FROM artifact_skips skip WHERE skip.organization_id = $1
          AND skip.user_id = $2 AND skip.artifact_id = d.id AND skip.created_at > own_drafts.since)
    UNION ALL
    SELECT assigned.* FROM user_and_teams
    JOIN active_schema ON user_and_teams.rank = 2 OR active_schema.user_has_skills
    CROSS JOIN LATERAL ({_ASSIGNED}) AS assigned
    UNION ALL
    SELECT pool.rank, {_CANDIDATE_COLUMNS}
    FROM (
        SELECT unassigned.* FROM active_schema CROSS JOIN LATERAL ({_POOL}) AS unassigned
        WHERE $5 IS NULL AND active_schema.user_has_skills
        ORDER BY urgency DESC, urgent_at, id LIMIT {{limit}}
    ) AS pool
    JOIN artifacts d ON d.organization_id = $1 AND d.id = pool.id
"""  # noqa: S608 - made of constants
_DIALECT = PGDialect_psycopg2()  # type: ignore[no-untyped-call]


def _compile_column(column: ColumnElement[Any]) -> str:
    expression = column.element if isinstance(column, Label) else column
    compiled = expression.compile(dialect=_DIALECT, compile_kwargs={"literal_binds": True})
    return f"{compiled} AS {column.key}"


_RETURNED_COLUMNS = ", ".join(_compile_column(column) for column in ARTIFACT_COLUMNS)
# The statement returns a row even if nothing was claimed, to show whether there were candidates.
_CLAIM_SQL = f"""{_COMMON_CTES}, candidates AS ({{candidates}}), first AS MATERIALIZED (
    SELECT * FROM candidates ORDER BY rank, urgency DESC, urgent_at, id LIMIT {{limit}}
), chosen AS (
    -- A row is checked again after it is locked. If its `updated_at` has changed, the row may not
    -- match any more. Saving a draft renews the claim, but does not change `updated_at`.
    SELECT d.id FROM first JOIN artifacts d ON d.organization_id = $1 AND d.id = first.id
    WHERE d.updated_at = first.updated_at AND ({_UNCLAIMED} OR d.claim_user_id = $2)
    ORDER BY rank, first.urgency DESC, first.urgent_at, first.id LIMIT 1
    FOR NO KEY UPDATE OF d SKIP LOCKED
), claimed AS (
    UPDATE artifacts SET
        claim_user_id = $2, claim_expires_at = now() + make_interval(mins => $8),
        status = 'in_progress', updated_at = now()
    FROM chosen WHERE artifacts.organization_id = $1 AND artifacts.id = chosen.id
    RETURNING {_RETURNED_COLUMNS}
)
SELECT EXISTS (SELECT FROM first), claimed.* FROM (SELECT) AS always LEFT JOIN claimed ON true
"""  # noqa: S608 - made of constants
_PARAMETER_TYPES = "uuid, uuid, uuid[], text, uuid, uuid[], boolean, int"


class ClaimResult(NamedTuple):
    """The result of a claim query; `artifact` is None if no artifact was claimed.

    `had_candidates` is true if an artifact met the criteria, even if that artifact was not claimed
    because another transaction had locked or changed it.
    """

    artifact: ArtifactRow | None
    had_candidates: bool


def _build_result(row: Sequence[Any]) -> ClaimResult:
    had_candidates, artifact_id, *values = row
    artifact = None if artifact_id is None else ArtifactRow._make((artifact_id, *values))
    return ClaimResult(artifact, had_candidates)


def _prepare(name: str, candidates: str, limit: int) -> Prepared:
    sql = _CLAIM_SQL.format(candidates=candidates.format(limit=limit), limit=limit)
    statement = Prepared(name, _PARAMETER_TYPES, sql)
    statement.build_row = _build_result
    return statement


_NEXT_STATEMENT = _prepare("claim_next_artifact", _CANDIDATES, MAX_LOCKED)
_LEFTOVER_STATEMENT = _prepare("claim_leftover_artifact", _LEFTOVERS, MAX_LOCKED_LEFTOVERS)
_COMBINED_STATEMENT = _prepare(
    "claim_after_locked_artifacts",
    f"{_CANDIDATES} UNION ALL {_LEFTOVERS}",
    MAX_LOCKED_LEFTOVERS,
)


class ClaimCriteria(NamedTuple):
    """The criteria that the next artifact must meet; None means no restriction.

    `exclude` lists ids of artifacts; `skip_held` excludes artifacts that the user has claimed.
    """

    schema_ids: Sequence[UUID] | None = None
    language: str | None = None
    team_id: UUID | None = None
    exclude: Sequence[UUID] = ()
    skip_held: bool = False


def claim_next(user_id: UUID, criteria: ClaimCriteria, *, minutes: int) -> ClaimResult:
    """Claim the next artifact for a user. The claim expires after `minutes`.

    The first query tries to lock up to MAX_LOCKED artifacts. If it claims none, the second query
    tries up to MAX_LOCKED_LEFTOVERS: unassigned artifacts whose expired claim has not been cleared
    yet and, if the first query had candidates, also artifacts that match the first query.
    """
    parameters = _build_parameters(user_id, criteria, minutes)
    result: ClaimResult = _NEXT_STATEMENT.first(*parameters)
    if result.artifact is None:
        second_statement = _COMBINED_STATEMENT if result.had_candidates else _LEFTOVER_STATEMENT
        result = second_statement.first(*parameters)
    return result


def _build_parameters(user_id: UUID, criteria: ClaimCriteria, minutes: int) -> tuple[object, ...]:
    return (
        str(tenancy.current_organization_id()),
        str(user_id),
        None if criteria.schema_ids is None else _build_array_literal(criteria.schema_ids),
        criteria.language,
        None if criteria.team_id is None else str(criteria.team_id),
        _build_array_literal(criteria.exclude),
        criteria.skip_held,
        minutes,
    )


def _build_array_literal(ids: Sequence[UUID]) -> str:
    return f"{{{','.join(map(str, ids))}}}"
