"""Insert documents, and read, fold and check the stored counts of an organization."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from flask import Flask
from sqlalchemy import text

from app.kit import db
from app.kit.counters import upkeep
from tests.factories.orgs import Org


def find_differences(org: Org) -> list[dict[str, Any]]:
    """Return the counts of an organization that differ from its rows."""
    with org.app.app_context():
        differences = list(map(asdict, upkeep.find_differences(org.id, org.slug)))
        db.session().rollback()
    return differences


def fold(app: Flask) -> None:
    """Fold the pending count deltas of all organizations, as the job does."""
    with app.app_context():
        upkeep.fold(db.checkpoint)


def run_sql(org: Org, statement: str, /, **values: Any) -> list[Any]:
    """Run a statement in the organization, commit, and return its rows; `:org` is its id."""
    with org.transaction() as session:
        result = session.execute(text(statement), {"org": org.id, **values})
        return list(result) if result.returns_rows else []


def get_cells(org: Org, cube: str) -> dict[tuple[str, ...], int]:
    """Return the folded counts of a cube without a key, as {facets: number of rows}."""
    rows = run_sql(org, "SELECT facets, n FROM counts WHERE cube = :cube", cube=cube)
    return {tuple(row.facets): row.n for row in rows}


def count_pending_deltas(org: Org) -> int:
    """Return the number of an organization's count deltas that are not folded yet."""
    rows = run_sql(org, "SELECT count(*) AS n FROM count_deltas WHERE organization_id = :org")
    return int(rows[0].n)


INSERT = """
INSERT INTO artifacts (organization_id, id, name, schema_id, metadata, priority, due_at, gold,
    archived, media_type, size_bytes, sha256, text_length, status, assignees, label_counts,
    language, created_at, updated_at, revision)
SELECT :org, gen_random_uuid(), 'Bill ' || i, CAST(:schema AS uuid), '{}', i % 100,
    CASE WHEN i % 3 = 0 THEN CAST(:start AS timestamptz) + i * interval '31 minutes' END,
    i % 7 = 0, i % 5 = 0, (ARRAY['text/plain', 'image/png'])[1 + i % 2], 1,
    encode(sha256(convert_to(CAST(random() AS text) || i, 'UTF8')), 'hex'), 10,
    (ARRAY['processing', 'ready', 'in_progress', 'in_review', 'done', 'failed'])[1 + i % 6],
    CASE WHEN i % 4 = 0 THEN jsonb_build_array(
        jsonb_build_object('user_id', CAST(:assignee AS text), 'team_id', NULL)) ELSE '[]' END,
    '{"draft": 0, "submitted": 0, "accepted": 0, "rejected": 0}',
    (ARRAY['en', NULL])[1 + i % 2], CAST(:start AS timestamptz) + i * interval '37 minutes',
    CAST(:start AS timestamptz) + i * interval '37 minutes', 1
FROM generate_series(1, :number) AS i RETURNING id
"""


def insert_artifacts(
    org: Org, number: int, *, schema_id: UUID | None = None, start: str = "2026-01-30T22:00:00Z"
) -> list[UUID]:
    """Insert documents in one statement, and return their ids.

    The documents vary in status, priority and other counted properties. Their creation times are 37
    minutes apart.
    """
    values = {"schema": schema_id, "number": number, "start": start}
    rows = run_sql(org, INSERT, assignee=str(org.users["labeler"]), **values)
    return [row.id for row in rows]
