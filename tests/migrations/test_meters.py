"""What organizations had before they were metered counts from the migration on, and once."""

from app.kit.ids import uuid7
from tests.migrations.conftest import Migrating

REVISION, TRIGGERS, FILLED = "202612030504", "202612031000", "202612031001"
ORGANIZATION = """
INSERT INTO organizations (id, slug, name, settings, status, plan, created_at, updated_at, revision)
VALUES ('{id}', 'old', 'Old', '{{}}', 'active', 'unlimited', now(), now(), 1)
"""
DOCUMENTS = """
INSERT INTO artifacts (organization_id, id, name, metadata, priority, gold, archived, media_type,
    size_bytes, sha256, text_length, status, assignees, label_counts, created_at, updated_at,
    revision)
SELECT '{id}', gen_random_uuid(), 'Bill', '{{}}', 50, false, false, 'text/plain', 10,
    md5(CAST(random() AS text)), 4, 'ready', '[]',
    '{{"draft": 0, "submitted": 0, "accepted": 0, "rejected": 0}}',
    CAST('{at}' AS timestamptz), now(), 1
FROM generate_series(1, {number})
"""
DAYS = """
SELECT CAST(day AS text), CAST(sum(added) AS int), CAST(sum(removed) AS int) FROM (
    SELECT day, added, removed FROM usage_changes WHERE meter = '{meter}'
    UNION ALL
    SELECT day, added, removed FROM usage_days WHERE meter = '{meter}'
) AS parts GROUP BY day ORDER BY day
"""


def test_rows_of_before_count_on_the_days_of_their_creation(migrating: Migrating) -> None:
    organization = uuid7()

    def insert(number: int, at: str) -> None:
        migrating.rows(DOCUMENTS.format(id=organization, number=number, at=at))

    migrating.rows(ORGANIZATION.format(id=organization))
    insert(3, "2026-02-27T23:59:59Z")
    insert(2, "2026-02-28T00:00:00Z")
    migrating.run("upgrade", TRIGGERS)
    # Between the two migrations the service goes on, and the job folds.
    migrating.rows("DELETE FROM artifacts WHERE id = (SELECT id FROM artifacts"
                   " WHERE created_at < '2026-02-28T00:00:00Z' LIMIT 1)")  # fmt: skip
    insert(4, "2026-02-28T01:00:00Z")
    migrating.rows("SELECT fold_usage(100)")
    assert migrating.rows("SELECT meter, counted, metered FROM usage_differences("
                          f"CAST('{organization}' AS uuid))") == [
        ("documents_per_month", 8, 3), ("stored_bytes", 80, 30),
    ]  # fmt: skip
    migrating.run("upgrade", FILLED)
    for meter, size in (("documents_per_month", 1), ("stored_bytes", 10)):
        days = migrating.rows(DAYS.format(meter=meter))
        assert days[:1] == [("2026-02-27", 2 * size, 0)]
        assert sum(added - removed for _, added, removed in days) == 8 * size
    differences = f"SELECT count(*) FROM usage_differences(CAST('{organization}' AS uuid))"
    assert migrating.rows(differences) == [(0,)]
    before = migrating.rows(DAYS.format(meter="documents_per_month"))
    # A migration that is run again counts nothing twice.
    migrating.rows(f"SELECT repair_usage(CAST('{organization}' AS uuid), 'documents_per_month')")
    assert migrating.rows(DAYS.format(meter="documents_per_month")) == before
    migrating.rows("SELECT fold_usage(100)")
    assert migrating.rows(differences) == [(0,)]
    levels = "SELECT level FROM usage_days WHERE meter = 'documents_per_month' ORDER BY day"
    assert migrating.rows(levels)[-1] == (8,)


def test_the_meters_can_be_taken_back(migrating: Migrating) -> None:
    migrating.run("upgrade", FILLED)
    migrating.run("downgrade", REVISION)
    left = (
        "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
        " AND (proname LIKE 'meter\\_%' OR proname LIKE '%\\_usage%')"
    )
    assert migrating.rows(left) == [("record_prediction_usage",)]
    migrating.run("upgrade", FILLED)
