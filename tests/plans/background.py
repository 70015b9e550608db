"""A program that measures the statements of background work in a large database.

It fills a database with finished work, does the work of the relay and the workers, and prints the
explained statements as JSON.
"""

import json
import os
import sys
from contextlib import closing
from dataclasses import asdict
from typing import Any
from uuid import UUID

import psycopg2
from flask import Flask
from sqlalchemy import text

from app.factory import create_app
from app.kit import db, events, jobs, tenancy
from app.kit.ids import uuid7
from app.kit.jobs import backlog as queues
from app.kit.jobs import claims, failures, schedule, worker
from app.kit.jobs.handlers import HANDLERS, SCHEDULE, Job
from app.kit.jobs.queues import QUEUES
from app.kit.leases import Lease
from tests.plans import backlog, newcomer, webhooks
from tests.plans.explaining import Explained, explaining

ROWS = 1_000_000
ORGANIZATIONS = 50
_ORGANIZATIONS = """
INSERT INTO organizations (id, slug, name, settings, status, plan, created_at, updated_at, revision)
SELECT md5('org' || n)::uuid, 'org-' || n, 'Org ' || n, '{}', 'active', 'unlimited', now(), now(), 1
FROM generate_series(1, %(organizations)s) AS n
"""
# Ids ascend, as those of the service do. Random ones would take half of the time.
_FILL = {
    "jobs": """
        INSERT INTO jobs (id, organization_id, queue, function, args, status, due_at, created_at,
                          finished_at)
        SELECT lpad(to_hex(n), 32, '0')::uuid, md5('org' || 1 + n %% %(organizations)s)::uuid,
               (CAST(%(queues)s AS text[]))[1 + n %% cardinality(CAST(%(queues)s AS text[]))],
               'test.done', '{}', 'completed', NULL, now() - n * interval '1 millisecond',
               now() - n * interval '1 millisecond'
        FROM generate_series(1, %(rows)s) AS n
        """,
    "outbox_events": """
        INSERT INTO outbox_events (id, organization_id, name, data, created_at)
        SELECT lpad(to_hex(n), 32, '0')::uuid, md5('org' || 1 + n %% %(organizations)s)::uuid,
               'test.happened', '{}', now() - n * interval '1 millisecond'
        FROM generate_series(1, %(rows)s) AS n
        """,
    "schedule_runs": """
        INSERT INTO schedule_runs (name, due_at, started_at)
        SELECT 'test.periodic', now() - n * interval '1 second', now()
        FROM generate_series(1, %(rows)s) AS n
        """,
    "counts": """
        INSERT INTO counts (organization_id, cube, key, bucket, facets, n, total)
        SELECT md5('org' || 1 + n %% %(organizations)s)::uuid, 'artifacts.created.hour', '',
               to_char(timestamp '2000-01-01' + n * interval '1 hour', 'YYYY-MM-DD"T"HH24'),
               ARRAY['', 'ready', 'false', 'false', 'false'], 1, 0
        FROM generate_series(1, %(rows)s) AS n
        """,
    "idempotency_keys": """
        INSERT INTO idempotency_keys (scope, request_hash)
        SELECT decode(md5('key' || n), 'hex'), '' FROM generate_series(1, %(rows)s) AS n
        """,
    **webhooks.FILL,
}
_CHANGES = 100
_CHANGE = text(
    "INSERT INTO count_deltas (organization_id, source, facets, n, total)"
    " SELECT :organization, 'artifacts', ARRAY['', 'ready', 'false', 'false', 'false',"
    " 'text/plain', '', left(CAST(now() - n * interval '1 hour' AS text), 13), ''], 1, 0"
    " FROM generate_series(1, 2) AS n"
)
_STOP_INDEXING = """
UPDATE pg_index SET indisvalid = false, indisready = false WHERE indrelid = %s::regclass
"""


def fill(values: dict[str, Any]) -> None:
    """Fill the tables, and run VACUUM ANALYZE, as autovacuum would do.

    Runs as the superuser, who may disable triggers: checking each foreign key would take most of
    the time.
    """
    options = "-c session_replication_role=replica -c statement_timeout=0"
    options += " -c maintenance_work_mem=256MB"
    with closing(psycopg2.connect(os.environ["FILLING_URL"], options=options)) as connection:
        connection.autocommit = True
        cursor = connection.cursor()
        for table, statement in {"organizations": _ORGANIZATIONS, **_FILL}.items():
            cursor.execute("BEGIN")
            if table in _FILL:
                # What is written to a table that its transaction has truncated is not logged. All
                # indexes of a filled table are built in a third of the time that each row takes.
                cursor.execute(f"TRUNCATE {table} CASCADE")
                cursor.execute(_STOP_INDEXING, (table,))
            cursor.execute(statement, values)
            cursor.execute(f"REINDEX TABLE {table}")
            cursor.execute("COMMIT")
            cursor.execute(f"VACUUM ANALYZE {table}")
        for statement in (*backlog.FILL, *newcomer.FILL):
            cursor.execute(statement)


def act(app: Flask) -> None:
    """Do the work of the relay, the workers and the maintenance jobs."""
    backlog.act()
    organizations = [UUID(int=0)]
    with tenancy.across_organizations(reason="finds the organizations"):
        ids = db.session().scalars(text("SELECT id FROM organizations ORDER BY id LIMIT 5"))
        organizations = list(ids)
        db.session().rollback()
    for organization_id in organizations:
        with tenancy.organization(organization_id), db.transaction():
            for name in ("test.one", "test.batch", "test.failing", "test.faulty"):
                jobs.enqueue_many(name, [(organization_id, {"n": n}) for n in range(20)])
            events.emit("artifact.deleted", {"artifact_id": str(uuid7()), "sha256": "0" * 64})
            events.emit_many("test.heard", [{"n": n} for n in range(10)])
            for _ in range(_CHANGES):
                db.session().execute(_CHANGE, {"organization": organization_id})
    with tenancy.across_organizations(reason="as the schedule does"), db.transaction():
        jobs.enqueue("counters.fold", {}, organization_id=None)
    _run_queries()
    webhooks.act(app)
    newcomer.act(app)
    for queue in ("default", "maintenance"):
        while worker.run_next(app, QUEUES[queue]):
            pass
    _run_queries()


def _run_queries() -> None:
    """Run all queries about jobs, and end leases in every way."""
    with tenancy.across_organizations(reason="as the relay does"), db.transaction():
        schedule.enqueue_due_jobs()
        claims.list_due_queues(list(QUEUES))
        for queue in QUEUES:
            claims.has_claimable_job(queue, quota=2)
        queues.read()
        for found in (
            claims.claim(
                "default",
                last_served_key=claims.NO_ORGANIZATION_KEY,
                quota=2,
                batch_functions=["test.batch"],
            ),
        ):
            lease = Lease(found[0].lease_token, tuple(job.id for job in found)) if found else None
            if lease is not None:
                claims.JOB_LEASES.renew([lease])
                claims.JOB_LEASES.lock(lease)
                claims.requeue(lease, delay=0, error=None)
        failures.mark_reported()
        failures.list_jobs(failures.JobFilter(), limit=100)


def declare() -> None:
    """Declare the handlers of the jobs."""

    def do_nothing(_: Any) -> None:
        """Do nothing."""

    def fail(_: Job) -> None:
        raise RuntimeError("no luck")

    def query_missing_table(_: Job) -> None:
        db.session().execute(text("SELECT 1 FROM no_such_table"))

    # These jobs read all counted and all metered rows on purpose.
    del SCHEDULE["counters.check"]
    del SCHEDULE["usage.reconcile"]
    jobs.handler("test.one")(do_nothing)
    jobs.handler("test.batch", batch=True, events=("test.heard",))(do_nothing)
    jobs.handler("test.failing", max_attempts=1)(fail)
    jobs.handler("test.faulty")(query_missing_table)


def main() -> int:
    """Fill the database, do the work, and print the statements."""
    app = create_app()
    declare()
    values = {"rows": ROWS, "organizations": ORGANIZATIONS, "queues": list(QUEUES)}
    with app.app_context():
        fill({**values, "secret": webhooks.secret()})
        with explaining(app) as explained:
            act(app)
    json.dump([asdict(item) for item in _find_worst(explained)], sys.stdout)
    return 0


def _find_worst(explained: list[Explained]) -> list[Explained]:
    """Return, for each statement, the execution that read the most blocks."""
    worst: dict[str, Explained] = {}
    for item in explained:
        if item.statement not in worst or worst[item.statement].blocks < item.blocks:
            worst[item.statement] = item
    return list(worst.values())


if __name__ == "__main__":
    assert HANDLERS
    sys.exit(main())
