"""Measure summaries of a million feedback rows, and the job that records feedback.

The floor of the summaries is one SQL query on the rows. The feedback covers a year, three models, a
schema with eight fields, and an organization's users. Each document has feedback on all models.
"""

import time
from datetime import timedelta
from statistics import median
from typing import Any
from uuid import UUID

from sqlalchemy import text

from app.insight.feedback.queries import recording
from app.insight.feedback.service import automatic as feedback
from app.kit import db, tenancy
from app.kit.ids import uuid7
from bench import filling, load
from bench.report import Report, Row
from bench.service import Service
from tests.factories import Org, make_org
from tests.factories.feedback import Assisted, make_predicted_tag
from tests.factories.labels import Labeled, make_labeled

ROWS = 1_000_000
FIELD_COUNT = 8
DOCUMENT_COUNT = 10_000
_ROUNDS = 15
_WARM_UP_ROUNDS = 2
_ACCEPTED_COUNT = 100
_FEEDBACK = """
INSERT INTO prediction_feedback (organization_id, id, artifact_id, schema_id, field, model, outcome,
    confidence, bin, labeler_id, day, value_key, created_at)
SELECT :org, gen_random_uuid(), (CAST(:artifacts AS uuid[]))[1 + (i / :fields) % :documents],
    :schema, 'field_' || 1 + i % :fields, 'model-' || model, outcome,
    CASE WHEN outcome <> 'missed' THEN confidence END,
    CASE WHEN outcome <> 'missed' THEN least(99, confidence / 10000) END,
    (CAST(:labelers AS uuid[]))[1 + i % cardinality(CAST(:labelers AS uuid[]))],
    CAST(:start AS date) + (i % 365), i, now()
FROM (
    SELECT i, 1 + i / 333334 AS model,
        (hashint8(CAST(i AS bigint) * 7919) & 2147483647) % 1000000 AS confidence,
        CASE WHEN (hashint8(CAST(i AS bigint) * 104729) & 1023) < 900 THEN 'correct'
             WHEN (hashint8(CAST(i AS bigint) * 104729) & 1023) < 960 THEN 'corrected'
             WHEN (hashint8(CAST(i AS bigint) * 104729) & 1023) < 1000 THEN 'missed'
             ELSE 'spurious' END AS outcome
    FROM generate_series(0, :rows - 1) AS i
) AS row
"""
_FEEDBACK_DOCUMENTS = """
INSERT INTO feedback_documents (organization_id, artifact_id, schema_id, model, correct, corrected,
    missed, spurious, shared)
SELECT organization_id, artifact_id, schema_id, model,
    count(*) FILTER (WHERE outcome = 'correct'), count(*) FILTER (WHERE outcome = 'corrected'),
    count(*) FILTER (WHERE outcome = 'missed'), count(*) FILTER (WHERE outcome = 'spurious'),
    count(*) OVER (PARTITION BY artifact_id, schema_id) > 1
FROM prediction_feedback WHERE organization_id = :org
GROUP BY organization_id, artifact_id, schema_id, model
"""
_FLOOR = """
SELECT model, count(*) FILTER (WHERE outcome = 'correct'),
    count(*) FILTER (WHERE outcome = 'corrected'), count(*) FILTER (WHERE outcome = 'missed'),
    count(*) FILTER (WHERE outcome = 'spurious')
FROM prediction_feedback WHERE organization_id = :org GROUP BY model
"""


def measure(report: Report, service: Service) -> None:
    """Fill an organization; measure the summaries, and the job that records feedback."""
    org = make_org(service.app)
    with filling.disable_triggers(service):
        labeled = make_labeled(org, DOCUMENT_COUNT)
    began = time.perf_counter()
    _fill(service, org, labeled)
    filling.analyze(service)
    print(f"{ROWS:,} feedback rows in {time.perf_counter() - began:.0f} s", flush=True)
    _measure_reads(report, service, org, labeled)
    _measure_recording(report, service)


def _fill(service: Service, org: Org, labeled: Labeled) -> None:
    with org.app.app_context(), tenancy.organization(org.id):
        rows = db.session().execute(
            text("SELECT id FROM artifacts WHERE organization_id = :org"), {"org": org.id}
        )
        artifacts = [str(row.id) for row in rows]
    values = {
        "org": str(org.id),
        "schema": str(labeled.schema_id),
        "artifacts": artifacts,
        "labelers": [str(user) for user in org.users.values()],
        "fields": FIELD_COUNT,
        "documents": DOCUMENT_COUNT,
        "rows": ROWS,
        "start": db.utc_now().date() - timedelta(days=364),
    }
    with filling.disable_triggers(service), filling.open_cursor(service) as cursor:
        for statement in (_FEEDBACK, _FEEDBACK_DOCUMENTS):
            cursor.execute(filling.compile_statement(statement), values)
    with filling.open_cursor(service) as cursor:
        for source in ("feedback", "feedback_confidence"):
            cursor.execute("SELECT repair_counts(%s, %s)", (str(org.id), source))


def _measure_reads(report: Report, service: Service, org: Org, labeled: Labeled) -> None:
    connection = load.Connection(service.base)
    list_seconds = _time(connection, org, "/artifacts?page_size=100")
    floor_seconds = _time_floor(service, org)
    month_ago = db.utc_now().date() - timedelta(days=30)
    for name, path in (
        ("summary", "/feedback/summary"),
        ("summary of a period", f"/feedback/summary?from={month_ago}"),
        ("summary by day", f"/feedback/summary?from={month_ago}&interval=day"),
        ("summary of a labeler", f"/feedback/summary?labeler={org.users['labeler']}"),
        ("fields with calibration", f"/feedback/summary/fields?schema_id={labeled.schema_id}"),
        ("fields of a period", f"/feedback/summary/fields?from={month_ago}"),
        ("models, compared", "/feedback/models"),
    ):
        seconds = _time(connection, org, path)
        report.add(
            Row(
                f"feedback {name}",
                f"{seconds * 1000:.1f} ms",
                f"{floor_seconds * 1000:.1f} ms",
                seconds / floor_seconds,
                f"list: {list_seconds * 1000:.1f} ms",
                None,
            )
        )


def _time(connection: load.Connection, org: Org, path: str) -> float:
    request = load.build_request("GET", f"/api/v1{path}", org.api("reviewer").headers())
    times = []
    for _ in range(_WARM_UP_ROUNDS + _ROUNDS):
        seconds, _response = connection.measure(request)
        times.append(seconds)
    return median(times[_WARM_UP_ROUNDS:])


def _time_floor(service: Service, org: Org) -> float:
    times = []
    with filling.open_cursor(service) as cursor:
        for _ in range(5):
            began = time.perf_counter()
            cursor.execute(filling.compile_statement(_FLOOR), {"org": str(org.id)})
            cursor.fetchall()
            times.append(time.perf_counter() - began)
    return median(times)


def _measure_recording(report: Report, service: Service) -> None:
    """Measure the job that records the feedback of a hundred accepted tag sets of three fields."""
    org = make_org(service.app)
    assisted = Assisted(org)
    schema = assisted.workspace.schema()
    tags: list[Any] = [
        make_predicted_tag("number", "A-1"),
        make_predicted_tag("pages", 3),
        make_predicted_tag("note", "x"),
    ]
    id_pairs = []
    for _ in range(_ACCEPTED_COUNT):
        draft = assisted.draft(
            tags, artifact_id=assisted.workspace.artifact(schema), model=str(uuid7())
        )
        assisted.accept(draft)
        id_pairs.append((UUID(draft["artifact_id"]), UUID(draft["id"])))
    with org.app.app_context(), tenancy.organization(org.id), db.transaction():
        # The service's workers may already have recorded the feedback of some drafts.
        recording.lock_recording()
        recording.delete_automatic_feedback([tag_set_id for _, tag_set_id in id_pairs])
        began = time.perf_counter()
        assert feedback.record(id_pairs) == _ACCEPTED_COUNT
        seconds = time.perf_counter() - began
    milliseconds = seconds / _ACCEPTED_COUNT * 1000
    name = "feedback of a tag set, in a job"
    report.add_without_floor(name, f"{milliseconds:.2f} ms", "<= 10 ms", milliseconds <= 10)
