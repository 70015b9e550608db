"""Statements that create exports, runs of a scheduled export and quality runs.

There are one export and one quality run for every ten documents. A fifth of these exports and runs
have failed. Half of the exports are in CSV, and half are runs of the scheduled export. So a page of
each list is full even in a small organization, and the times can be compared.
"""

_TIMES = """(
    SELECT i, CAST(:start AS timestamptz) + i * (interval '3650 days' / CAST(:rows AS float8)) AS at
    FROM generate_series(1, :rows / 10) AS i
) AS row"""
_STATUS = "CASE WHEN i % 5 = 0 THEN 'failed' ELSE 'completed' END"
EXPORTS = f"""
INSERT INTO exports (organization_id, id, format, filter, options, include, status, progress_done,
    progress_total, row_count, scheduled_export_id, created_by, started_at, finished_at, created_at,
    updated_at)
SELECT :org, gen_random_uuid(), CASE WHEN i % 2 = 0 THEN 'csv' ELSE 'jsonl' END, e.filter,
    e.options, e.include, {_STATUS}, 50, 50, 50, CASE WHEN i % 4 < 2 THEN e.id END, :owner, at, at,
    at, at
FROM {_TIMES}, scheduled_exports e
WHERE e.organization_id = :org AND e.id = :scheduled_export
"""
SCHEDULED_RUNS = """
INSERT INTO scheduled_export_runs (organization_id, job_id, scheduled_export_id, trigger, due_at,
    delivery_status, delivered_at, sent_bytes, created_at)
SELECT organization_id, id, scheduled_export_id, 'schedule', created_at, 'delivered', created_at, 0,
    created_at
FROM exports WHERE organization_id = :org AND scheduled_export_id = :scheduled_export
"""
QUALITY_RUNS = f"""
INSERT INTO quality_runs (organization_id, id, schema_id, fields, metrics, ends_at, status,
    progress_done, progress_total, results, pairs, confusions, warnings, started_at, finished_at,
    created_at, updated_at)
SELECT :org, gen_random_uuid(), (CAST(:schema_ids AS uuid[]))[1 + i % :schemas], '[]', '["alpha"]',
    at, {_STATUS}, 50, 50, '[]', '[]', '{{}}', '[]', at, at, at, at
FROM {_TIMES}
"""
STATEMENTS = (EXPORTS, SCHEDULED_RUNS, QUALITY_RUNS)
"""The statements in the order of their foreign keys."""
