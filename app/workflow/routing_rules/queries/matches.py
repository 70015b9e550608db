"""SQL queries for the matches between rules and documents."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import Select, String, cast, select, text

from app.kit import db, tenancy
from app.workflow.routing_rules.models import ArtifactRouting

# Each document is counted once per rule, regardless of how often it is routed. The xmax of a row is
# 0 if this statement has inserted the row. If the row was updated, xmax is the transaction's id.
_RECORD = text(
    """
    WITH matches AS (
        SELECT * FROM unnest(CAST(:artifact_ids AS uuid[]), CAST(:rule_ids AS uuid[]),
            CAST(:names AS text[]), CAST(:outcomes AS jsonb[]))
            AS match (artifact_id, rule_id, rule_name, outcome)
    ), recorded AS (
        INSERT INTO artifact_routings (organization_id, artifact_id, rule_id, rule_name, outcome)
        SELECT :org, artifact_id, rule_id, rule_name, outcome FROM matches
        ON CONFLICT (organization_id, artifact_id, rule_id)
        DO UPDATE SET rule_name = excluded.rule_name, outcome = excluded.outcome, at = now()
        RETURNING rule_id, xmax = 0 AS is_new
    ), counted AS (
        SELECT rule_id, count(*) FILTER (WHERE is_new) AS number FROM recorded GROUP BY rule_id
    ), cursors AS (
        SELECT * FROM unnest(CAST(:cursor_rule_ids AS uuid[]), CAST(:cursor_user_ids AS uuid[]))
            AS last_assigned (rule_id, user_id)
    )
    UPDATE routing_rules SET
        match_count = match_count + counted.number,
        last_matched_at = now(),
        cursor_user_id = coalesce(cursors.user_id, cursor_user_id)
    FROM counted LEFT JOIN cursors ON cursors.rule_id = counted.rule_id
    WHERE organization_id = :org AND routing_rules.id = counted.rule_id
    """
)


class RuleMatch(NamedTuple):
    """A match between a rule and a document, and the encoded outcome for the document."""

    artifact_id: UUID
    rule_id: UUID
    rule_name: str
    outcome: bytes


def encode_outcome(values: Mapping[str, object]) -> bytes:
    """Encode the outcome for a document as JSON, in the format in which it is stored."""
    return orjson.dumps(values)


def record(matches: Sequence[RuleMatch], last_user_ids: Mapping[UUID, UUID]) -> None:
    """Record and count matches, and store the last assigned user of each round-robin rule.

    `last_user_ids` maps rule ids to user ids.
    """
    values = {
        "org": tenancy.current_organization_id(),
        "artifact_ids": [str(match.artifact_id) for match in matches],
        "rule_ids": [str(match.rule_id) for match in matches],
        "names": [match.rule_name for match in matches],
        "outcomes": [match.outcome.decode() for match in matches],
        "cursor_rule_ids": [str(rule_id) for rule_id in last_user_ids],
        "cursor_user_ids": [str(user_id) for user_id in last_user_ids.values()],
    }
    db.session().execute(_RECORD, values)


def select_matches(artifact_id: UUID) -> Select[*tuple[Any, ...]]:
    """Return a SELECT for the latest match of each rule that matched a document.

    The columns are at, rule_id, rule_name, `assigned` (true if the rule set the assignee), and
    `note` (the reason if the document could not be assigned as the rule specifies, or null).
    """
    outcome = ArtifactRouting.outcome
    return select(
        ArtifactRouting.at,
        ArtifactRouting.rule_id,
        ArtifactRouting.rule_name,
        (outcome["assigned_by"].astext == cast(ArtifactRouting.rule_id, String)).label("assigned"),
        outcome["note"].astext.label("note"),
    ).where(ArtifactRouting.artifact_id == artifact_id)
