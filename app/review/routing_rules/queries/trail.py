"""SQL of what rules did: read back from the events that told of it, and document by document."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import String, cast, select, text

from app.kit import db, tenancy
from app.review.routing_rules.models import ArtifactRouting

CLOCKS = timedelta(minutes=10)
"""How much the clocks of a server and of the database may differ."""

# Whatever else happened meanwhile is in the outbox too; the index leads to the time, not further.
_GIVEN = text(
    """
    WITH batch AS MATERIALIZED (
        SELECT data FROM outbox_events
        WHERE organization_id = :org AND name = 'artifacts.assigned'
            AND created_at >= :since AND data ->> 'part_of' = :cause
    ), shares AS (
        SELECT key, sum(CAST(value AS bigint)) AS number
        FROM batch, jsonb_each_text(data -> 'counts') GROUP BY key
    ), teams AS (
        SELECT DISTINCT team FROM batch, jsonb_array_elements_text(data -> 'team_ids') AS one (team)
    ), whole AS (
        SELECT count(*) AS batches, sum(CAST(data ->> 'count' AS bigint)) AS number FROM batch
    )
    SELECT
        CAST(coalesce(number, 0) AS bigint) AS count,
        (SELECT coalesce(jsonb_object_agg(key, number), '{}') FROM shares) AS counts,
        (SELECT coalesce(jsonb_agg(team ORDER BY team), '[]') FROM teams) AS team_ids,
        CASE WHEN batches = 1 THEN (SELECT data -> 'artifact_ids' FROM batch) ELSE '[]' END
            AS artifact_ids,
        CASE WHEN batches = 1 THEN (SELECT data ->> 'due_at' FROM batch) END AS due_at
    FROM whole
    """
)

# Whatever a job has given, a job tells of: its cause is the event that asked for it; whatever
# somebody has given by a bulk assignment, which has parts too, their request. This reads a
# week of the outbox, once in a run that somebody at the command line waits for.
_BROKEN_OFF = text(
    """
    SELECT min(cause) FROM (
        SELECT DISTINCT data ->> 'part_of' AS cause FROM outbox_events
        WHERE organization_id = :org AND name = 'artifacts.assigned'
            AND data ->> 'part_of' IS NOT NULL AND data ->> 'by' IS NULL
    ) AS batch
    WHERE NOT EXISTS (SELECT FROM outbox_events asked WHERE asked.id = CAST(cause AS uuid))
      AND NOT EXISTS (
        SELECT FROM outbox_events told
        WHERE organization_id = :org AND name = 'routing.applied' AND data ->> 'cause' = cause)
    """
)


def broken_off() -> UUID | None:
    """The cause of a run from the command line that gave something and told of nothing: it was
    killed, or is under way."""
    values = {"org": tenancy.current_organization_id()}
    found: str | None = db.session().execute(_BROKEN_OFF, values).scalar_one()
    return None if found is None else UUID(found)


def matches(artifact_id: UUID) -> Any:
    """A SELECT of the rules that matched a document: at, rule_id, rule_name, assigned and note."""
    outcome = ArtifactRouting.outcome
    return select(
        ArtifactRouting.at,
        ArtifactRouting.rule_id,
        ArtifactRouting.rule_name,
        (outcome["assigned_by"].astext == cast(ArtifactRouting.rule_id, String)).label("assigned"),
        outcome["note"].astext.label("note"),
    ).where(ArtifactRouting.artifact_id == artifact_id)


def given(cause: UUID) -> dict[str, Any]:
    """All that the batches with this cause, a UUIDv7, have given, those of a run that was broken
    off too: {count, counts, user_ids, team_ids, artifact_ids, due_at}, the last two of a single
    batch alone. Events are kept for a week.
    """
    began = datetime.fromtimestamp((cause.int >> 80) / 1000, UTC)
    values = {
        "org": tenancy.current_organization_id(),
        "since": began - CLOCKS,
        "cause": str(cause),
    }
    found = db.session().execute(_GIVEN, values).one()._asdict()
    return {**found, "user_ids": sorted(found["counts"])}
