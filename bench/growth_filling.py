"""Create an organization with any number of documents and a fixed number of users.

PostgreSQL generates the rows while triggers are disabled. Documents and their results are spread
evenly over a year: two thirds are done, a tenth are in review, and a fifth are to be labeled, most
of them by one team. The number of drafts does not depend on the number of documents.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from app.kit import db
from app.kit.ids import uuid7
from bench import filling, run_filling
from bench.notification_filling import NOTIFICATIONS
from bench.service import Service
from devserver.progress import Progress
from tests.factories import Org, make_org
from tests.factories.labels import make_field, make_schema

SCHEMA_COUNT = 8
"""The number of schemas; the last one requires two tag sets per document."""
LABELER_COUNT = 12
REVIEWER_COUNT = 6
DRAFTS_PER_LABELER = 20
"""The number of drafts of each labeler."""
_FIELDS = [make_field("field_1", "text")]
_ROWS_PER_STATEMENT = 100_000
_YEAR = timedelta(days=365)

# A pseudo-random number below `of` that is the same in every run.
_CHANCE = "((hashint8(CAST(i AS bigint) * 7919 + {salt}) & 2147483647) % {of})"
_AT = "CAST(:start AS timestamptz) + i * (interval '365 days' / CAST(:rows AS float8))"
_ID = """CAST(
    lpad(to_hex(CAST(extract(epoch FROM {at}) * 1000 AS bigint)), 12, '0') || '7'
    || lpad(to_hex(i % 4096), 3, '0') || '8' || substr(md5(:salt || '{kind}' || i), 1, 15)
    AS uuid)"""
_STATUS = f"""CASE
    WHEN i % greatest(:rows / :drafts, 1) = 0 THEN 'drafted'
    WHEN {_CHANCE.format(salt=1, of=1000)} < 10 THEN 'processing'
    WHEN {_CHANCE.format(salt=1, of=1000)} < 20 THEN 'failed'
    WHEN {_CHANCE.format(salt=1, of=1000)} < 230 THEN
        CASE WHEN i % :schemas = :schemas - 1 AND {_CHANCE.format(salt=2, of=2)} = 0
             THEN 'in_progress' ELSE 'ready' END
    WHEN {_CHANCE.format(salt=1, of=1000)} < 330 THEN 'in_review'
    ELSE 'done' END"""
_ASSIGNEES = f"""CASE
    WHEN status IN ('processing', 'failed', 'in_review') THEN '[]'
    WHEN {_CHANCE.format(salt=3, of=100)} < 75 THEN
        jsonb_build_array(jsonb_build_object('user_id', NULL, 'team_id', :team))
    WHEN {_CHANCE.format(salt=3, of=100)} < 87 THEN jsonb_build_array(jsonb_build_object(
        'user_id', (CAST(:labelers AS text[]))[{_CHANCE.format(salt=3, of=100)} - 74],
        'team_id', NULL))
    ELSE '[]' END"""
_ARTIFACTS = f"""
INSERT INTO artifacts (organization_id, id, name, schema_id, external_id, metadata, priority,
    due_at, gold, archived, media_type, size_bytes, sha256, page_count, language, text_length,
    status, assignees, label_counts, labeled_by, created_by, created_at, updated_at, revision, ocr)
SELECT :org, {_ID.format(at="at", kind="artifact")}, 'document-' || i || '.txt',
    (CAST(:schema_ids AS uuid[]))[1 + i % :schemas], 'ext-' || i,
    jsonb_build_object('batch', i % 10), 20 * {_CHANCE.format(salt=4, of=5)},
    CASE WHEN i % 2 = 0 THEN at + interval '14 days' END, i % 100 = 0, i <= :rows / 10,
    (CAST(ARRAY['application/pdf', 'text/plain', 'image/png'] AS text[]))[1 + i % 3], 600,
    encode(sha256(convert_to(:salt || i, 'UTF8')), 'hex'), 1,
    (CAST(ARRAY['en', 'de', NULL] AS text[]))[1 + {_CHANCE.format(salt=5, of=3)}], 80,
    CASE status WHEN 'drafted' THEN 'in_progress' ELSE status END, {_ASSIGNEES},
    jsonb_build_object(
        'draft', CASE WHEN status = 'drafted' THEN 1 ELSE 0 END,
        'submitted', CASE WHEN status IN ('in_progress', 'in_review') THEN 1 ELSE 0 END,
        'accepted', CASE WHEN status = 'done' THEN 1 ELSE 0 END, 'rejected', 0),
    CASE WHEN status IN ('in_progress', 'in_review', 'done')
         THEN ARRAY[CAST((CAST(:labelers AS text[]))[1 + i % :people] AS uuid)] ELSE '{{}}' END,
    :owner, at, at + interval '1 hour', 1,
    (CAST(ARRAY['none', 'none', 'done'] AS text[]))[1 + i % 3]
FROM (SELECT i, {_AT} AS at, {_STATUS} AS status FROM generate_series(:first, :last) AS i) AS row
"""
_ASSIGNED = """
INSERT INTO artifact_assignees (organization_id, artifact_id, assignee_id, is_team, is_open,
    schema_id, priority, urgent_at, labeled_by, status, archived, created_at, due_at, places_taken,
    assignees_hash)
SELECT organization_id, id, coalesce(assignee ->> 'team_id', assignee ->> 'user_id')::uuid,
    assignee ->> 'team_id' IS NOT NULL, status IN ('ready', 'in_progress') AND NOT archived,
    schema_id, priority, created_at, labeled_by, status, archived, created_at, due_at,
    cardinality(labeled_by) + cardinality(reserved_for), md5(CAST(assignees AS text))
FROM artifacts CROSS JOIN jsonb_array_elements(assignees) AS assignee WHERE organization_id = :org
"""
_NUMBERED = """(SELECT a.*, CAST(substr(external_id, 5) AS bigint) AS i FROM artifacts a
    WHERE organization_id = :org AND label_counts <>
        '{"draft": 0, "submitted": 0, "accepted": 0, "rejected": 0}') AS a"""
_RANK = (
    "(100 - priority) * CAST(10 ^ 13 AS bigint)"
    " + CAST(floor(extract(epoch FROM {at}) * 1000) AS bigint)"
)
_TAG_SETS = f"""
INSERT INTO tag_sets (organization_id, id, artifact_id, schema_id, schema_version_id, labeler_id,
    reviewer_id, source, tags, status, submitted_at, decided_at, seconds_spent, comment_count,
    rejections, review_rank, escalated, flags, assignee_id, assignee_team_id, artifact_archived,
    due_at, created_at, updated_at, revision)
SELECT :org, {_ID.format(at="created_at", kind="tag_set")}, a.id, a.schema_id,
    (CAST(:version_ids AS uuid[]))[1 + i % :schemas],
    CAST((CAST(:labelers AS text[]))[1 + i % :people] AS uuid),
    CASE WHEN status = 'done' AND {_CHANCE.format(salt=6, of=10)} > 0
         THEN CAST((CAST(:reviewers AS text[]))[1 + i % :deciders] AS uuid) END,
    'human', jsonb_build_array(jsonb_build_object('field', 'field_1', 'value', 'Value ' || i,
        'row', NULL, 'confidence', NULL, 'source', 'human', 'evidence', '[]'::jsonb)),
    CASE WHEN status = 'done' THEN 'accepted'
         WHEN label_counts ->> 'draft' = '1' THEN 'draft' ELSE 'submitted' END,
    CASE WHEN label_counts ->> 'draft' = '0' THEN created_at + interval '1 hour' END,
    CASE WHEN status = 'done' THEN created_at + interval '2 hours' END,
    1 + {_CHANCE.format(salt=7, of=1200)}, 0, 0, {_RANK.format(at="created_at")},
    {_CHANCE.format(salt=8, of=8)} = 0,
    CASE {_CHANCE.format(salt=9, of=8)} WHEN 0 THEN '["low_confidence"]'::jsonb
         WHEN 1 THEN '["disagreement"]'::jsonb ELSE '[]'::jsonb END,
    CASE WHEN {_CHANCE.format(salt=10, of=10)} < 2
         THEN CAST((CAST(:reviewers AS text[]))[1 + i % :deciders] AS uuid) END,
    CASE WHEN {_CHANCE.format(salt=10, of=10)} = 2 THEN CAST(:review_team AS uuid) END,
    archived AND status <> 'done' AND label_counts ->> 'draft' = '0',
    CASE WHEN status <> 'done' AND label_counts ->> 'draft' = '0' THEN due_at END,
    created_at + interval '1 minute', created_at + interval '2 hours', 2
FROM {_NUMBERED} WHERE i BETWEEN :first AND :last
"""
_REVISIONS = """
INSERT INTO tag_set_revisions
    (organization_id, tag_set_id, number, tags, author_id, kind, created_at, schema_id,
     waited_microseconds)
SELECT organization_id, id, 1, CAST('[]' AS jsonb), labeler_id, 'create', created_at,
    CAST(NULL AS uuid), CAST(NULL AS bigint) FROM tag_sets
WHERE organization_id = :org
UNION ALL
SELECT organization_id, id, 2, tags, labeler_id, 'submit', submitted_at, NULL, NULL FROM tag_sets
WHERE organization_id = :org AND submitted_at IS NOT NULL
UNION ALL
SELECT organization_id, id, 3, tags, reviewer_id, 'accept', decided_at, schema_id,
    CAST(extract(epoch FROM decided_at - submitted_at) * 1000000 AS bigint) FROM tag_sets
WHERE organization_id = :org AND decided_at IS NOT NULL
"""
_TEXTS = f"""
INSERT INTO artifact_texts (organization_id, artifact_id, text)
SELECT :org, id, CASE WHEN i % 2 = 0 THEN 'Common. ' ELSE '' END
    || CASE WHEN i % greatest(:rows / 1000, 1) = 0 THEN 'Middlings. ' ELSE '' END
    || 'word' || {_CHANCE.format(salt=11, of=5000)} || ' word' || {_CHANCE.format(salt=12, of=500)}
FROM (SELECT id, CAST(substr(external_id, 5) AS bigint) AS i FROM artifacts
      WHERE organization_id = :org) AS a
"""
_SEARCH_ROWS = """
INSERT INTO artifact_search
    (organization_id, artifact_id, created_at, archived, language, filler, vector)
SELECT a.organization_id, a.id, a.created_at, a.archived, l.language, repeat(' ', 2000),
    array_to_tsvector(ARRAY[search_mark(l.language, a.organization_id)])
    || to_tsvector(search_configuration(l.language), t.text)
FROM artifacts a
JOIN artifact_texts t ON t.organization_id = a.organization_id AND t.artifact_id = a.id
CROSS JOIN LATERAL (SELECT search_language(a.language)) AS l (language)
WHERE a.organization_id = :org
"""
_AUDIT = f"""
INSERT INTO audit_entries (id, organization_id, at, actor_kind, actor_id, actor_label, operation,
    action, target_type, target_id, target_label, changes)
SELECT {_ID.format(at="at", kind="audit")}, :org, at,
    CASE WHEN i % 5000 = 0 THEN 'system' ELSE 'user' END,
    CAST((CAST(:labelers AS text[]))[1 + i % :people] AS uuid), 'somebody@test.example',
    'update_artifact',
    CASE WHEN i % 1000 = 0 THEN 'teams.create' WHEN i % 3 = 0 THEN 'tag_sets.replace'
         ELSE 'artifacts.update' END,
    CASE WHEN i % 1000 = 0 THEN 'teams' WHEN i % 3 = 0 THEN 'tag_sets' ELSE 'artifacts' END,
    {_ID.format(at="at", kind="artifact")}, 'document-' || i || '.txt', '{{}}'
FROM (SELECT i, {_AT} AS at FROM generate_series(1, :rows) AS i) AS row
"""
_OVERLAP = """
UPDATE {table} SET review_policy = review_policy || '{{"labels_per_artifact": 2}}'
WHERE organization_id = :org AND {column} = :overlapping
"""
_DELIVERIES = f"""
INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_id, event, body, status,
    test, round, attempts_in_round, attempt_count, next_attempt_at, delivered_at, created_at,
    updated_at)
SELECT :org, {_ID.format(at="at", kind="delivery")}, :webhook,
    {_ID.format(at="at", kind="event")},
    CASE WHEN i % 4 = 0 THEN 'tag_set.accepted' ELSE 'artifact.ingested' END, '{{}}',
    CASE WHEN i % 1000 = 0 THEN 'abandoned' ELSE 'delivered' END, false, 1, 1, 1, NULL, at, at, at
FROM (SELECT i, {_AT} AS at FROM generate_series(1, :rows) AS i) AS row
"""
_INGESTION_JOBS = f"""
INSERT INTO ingestion_jobs (organization_id, id, kind, name, options, status, found, created,
    duplicate, skipped, failed, next_offset, next_number, retried_until, started_at, finished_at,
    created_at, updated_at)
SELECT :org, CASE WHEN i = :rows THEN CAST(:job AS uuid)
                  ELSE {_ID.format(at="at", kind="job")} END,
    CASE WHEN i % 1000 = 0 THEN 'import' ELSE 'crawl' END, 'Inbox', '{{}}',
    CASE WHEN i % 500 = 0 THEN 'failed' ELSE 'completed' END, :rows, :rows - :rows / 1000, 0, 0,
    :rows / 1000, 0, :rows + 1, 1, at, at, at, at
FROM (SELECT i, {_AT} AS at FROM generate_series(1, :rows) AS i) AS row
"""
_INGESTION_ITEMS = """
INSERT INTO ingestion_items (organization_id, job_id, number, uri, status, error, seconds,
    created_at)
SELECT :org, :job, i, i || '.txt', CASE WHEN i % 1000 = 0 THEN 'failed' ELSE 'created' END,
    CASE WHEN i % 1000 = 0 THEN CAST('{"code": "x", "message": "x"}' AS jsonb) END, 0.1, :start
FROM generate_series(1, :rows) AS i
"""


@dataclass(frozen=True)
class BenchmarkOrganization:
    """An organization with `rows` documents, and the ids of some of its records."""

    org: Org
    rows: int
    schema_id: UUID
    team_id: UUID
    review_team_id: UUID
    webhook_id: UUID
    job_id: UUID
    scheduled_export_id: UUID


def create_organization(service: Service, rows: int) -> BenchmarkOrganization:
    """Create an organization with `rows` documents, and with records in its other lists."""
    org = make_org(service.app)
    labelers = [str(org.add_user(f"labeler{n}", "labeler")) for n in range(LABELER_COUNT)]
    reviewers = [str(org.add_user(f"reviewer{n}", "reviewer")) for n in range(REVIEWER_COUNT)]
    owner = org.api("owner")
    schemas = [make_schema(org, _FIELDS, f"Bill {n}") for n in range(SCHEMA_COUNT)]
    team, review_team = (
        owner.post("/teams", {"name": name}).json["data"]["id"] for name in ("Labels", "Reviews")
    )
    for team_id, user_ids in ((team, labelers[: LABELER_COUNT // 2]), (review_team, reviewers)):
        response = owner.post(f"/teams/{team_id}/members", {"user_ids": user_ids})
        assert response.status_code == 200, response.json
    hook = {"url": "http://127.0.0.2:9/", "events": ["artifact.ingested"]}
    webhook = owner.post("/webhooks", hook).json["data"]["id"]
    # A paused export creates no runs during the measurement.
    schedule = {"name": "Nightly", "format": "csv", "cron": "0 3 * * *", "paused": True}
    scheduled_export = owner.post("/exports/scheduled", schedule).json["data"]["id"]
    values = {
        "org": str(org.id),
        "salt": org.slug,
        "rows": rows,
        "start": db.utc_now().replace(minute=7, second=0, microsecond=0) - _YEAR,
        "schemas": SCHEMA_COUNT,
        "people": LABELER_COUNT,
        "deciders": REVIEWER_COUNT,
        "drafts": DRAFTS_PER_LABELER * LABELER_COUNT,
        "labelers": labelers,
        "reviewers": reviewers,
        "schema_ids": [str(schema) for schema, _ in schemas],
        "version_ids": [str(version) for _, version in schemas],
        "team": team,
        "review_team": review_team,
        "owner": str(org.users["owner"]),
        "webhook": webhook,
        "person": str(org.users["viewer"]),
        "overlapping": str(schemas[-1][0]),
        "job": str(uuid7()),
        "scheduled_export": scheduled_export,
    }
    with filling.disable_triggers(service):
        _fill(service, values)
    ids = (team, review_team, webhook, values["job"], scheduled_export)
    return BenchmarkOrganization(org, rows, schemas[0][0], *map(UUID, ids))


def _fill(service: Service, values: dict[str, Any]) -> None:
    rows = values["rows"]
    steps: list[tuple[str, dict[str, Any]]] = [
        (statement, {"first": first, "last": min(first + _ROWS_PER_STATEMENT - 1, rows)})
        for statement in (_ARTIFACTS, _TAG_SETS)
        for first in range(1, rows + 1, _ROWS_PER_STATEMENT)
    ]
    dependents = (_ASSIGNED, _REVISIONS, _TEXTS, _SEARCH_ROWS, _AUDIT, _DELIVERIES, NOTIFICATIONS)
    jobs_and_runs = (_INGESTION_JOBS, _INGESTION_ITEMS, *run_filling.STATEMENTS)
    steps += [(statement, {}) for statement in (*dependents, *jobs_and_runs)]
    progress = Progress()
    progress.begin(f"{rows:,} documents")
    with filling.open_cursor(service) as cursor:
        for table, column in (("schemas", "id"), ("schema_versions", "schema_id")):
            overlap = _OVERLAP.format(table=table, column=column)
            cursor.execute(filling.compile_statement(overlap), values)
        for done, (statement, part) in enumerate(steps, start=1):
            cursor.execute(filling.compile_statement(statement), {**values, **part})
            progress.advance(done, len(steps))
    progress.done("filled")
