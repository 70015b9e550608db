"""What a worker does with the ids it is handed: take the lease, run, write the outcome."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from flask import current_app
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.kit import audit, db, events, metrics, tenancy
from app.kit.jobs.handlers import HANDLERS, Handler, Job, LostLease, Retry
from app.kit.logging import bind_job, get_logger

log = get_logger(__name__)

_BACKOFF_SECONDS = (1, 5, 30, 120, 600)
_ERROR_LENGTH = 2000

# A new token at the start: a message that RQ delivers twice finds the lease gone.
_TAKE = text(
    """
    UPDATE jobs SET lease_token = gen_random_uuid(), status = 'running', attempts = attempts + 1,
                    leased_until = now() + make_interval(secs => :lease)
    FROM unnest(CAST(:ids AS uuid[]), CAST(:tokens AS uuid[])) AS claim (id, token)
    WHERE jobs.id = claim.id AND jobs.lease_token = claim.token AND due_at IS NOT NULL
    RETURNING jobs.id, organization_id, args, attempts, lease_token, request_id, created_at
    """
)
_RENEW = text(
    "UPDATE jobs SET leased_until = now() + make_interval(secs => :lease)"
    " WHERE lease_token = ANY(CAST(:tokens AS uuid[]))"
)
_FINISH = text(
    "UPDATE jobs SET status = 'completed', due_at = NULL, leased_until = NULL, lease_token = NULL,"
    " finished_at = now(), error = NULL, unique_key = NULL"
    " WHERE lease_token = ANY(CAST(:tokens AS uuid[]))"
)
_AGAIN = text(
    "UPDATE jobs SET status = 'queued', due_at = now() + make_interval(secs => :delay),"
    " leased_until = NULL, lease_token = NULL, error = :error WHERE lease_token = :token"
)
_FAIL = text(
    "UPDATE jobs SET status = 'failed', due_at = NULL, leased_until = NULL, lease_token = NULL,"
    " finished_at = now(), error = :error, unique_key = NULL WHERE lease_token = :token"
)
_FUNCTION = text("SELECT function FROM jobs WHERE id = :id")


def run(claims: list[list[str]]) -> None:
    """Run jobs of one function and, for batches, one organization. RQ calls this by name."""
    with tenancy.across_organizations(reason="takes leases before it knows whose they are"):
        name = db.session().execute(_FUNCTION, {"id": UUID(claims[0][0])}).scalar()
        db.session().rollback()
        declared = HANDLERS.get(name or "")
        if declared is None:
            log.error("job.unknown", function=name)
            return
        jobs = _take(declared, claims)
    worn = [job for job in jobs if job.attempt > declared.max_attempts]
    for job in worn:
        _give_up(declared, job, "The worker died each time it ran this.")
    rest = [job for job in jobs if job not in worn]
    if rest:
        _run(declared, rest)


def _take(declared: Handler, claims: Sequence[Sequence[str]]) -> list[Job]:
    with db.transaction() as session:
        rows = session.execute(
            _TAKE,
            {
                "lease": declared.lease_seconds,
                "ids": [claim[0] for claim in claims],
                "tokens": [claim[1] for claim in claims],
            },
        ).all()
    return [
        Job(
            r.id,
            r.organization_id,
            r.args,
            r.attempts,
            r.lease_token,
            r.request_id,
            r.created_at,
        )
        for r in rows
    ]


@contextmanager
def _scope(declared: Handler, job: Job) -> Iterator[None]:
    name = declared.name
    with (
        audit.acting("system", None, name, operation=name, request_id=job.request_id),
        _tenant(job),
    ):
        yield


@contextmanager
def _tenant(job: Job) -> Iterator[None]:
    events.set_request_id(job.request_id)
    bind_job(str(job.id), job.request_id, str(job.organization_id or ""))
    if job.organization_id is not None:
        with tenancy.organization(job.organization_id):
            yield
    else:
        with tenancy.across_organizations(reason="the job belongs to no organization"):
            yield


def _run(declared: Handler, jobs: list[Job]) -> None:
    started = time.perf_counter()
    outcome = "completed"
    try:
        with _scope(declared, jobs[0]), _heartbeat(declared, jobs):
            declared.function(jobs if declared.batch else jobs[0])
            _finish(jobs)
    except LostLease:
        db.session().rollback()
        outcome = "lost"
    except Exception as failure:  # noqa: BLE001 - whatever a handler does, its job has an outcome
        db.session().rollback()
        outcome = "failed"
        _failed(declared, jobs, failure)
    metrics.JOBS.labels(declared.name, outcome).inc(len(jobs))
    log.info(
        "job.ran",
        function=declared.name,
        outcome=outcome,
        count=len(jobs),
        seconds=round(time.perf_counter() - started, 4),
    )


def _finish(jobs: Sequence[Job]) -> None:
    finished = db.session().execute(_FINISH, {"tokens": [str(j.lease_token) for j in jobs]})
    if finished.rowcount != len(jobs):  # type: ignore[attr-defined]
        raise LostLease
    db.session().commit()


def _failed(declared: Handler, jobs: Sequence[Job], failure: Exception) -> None:
    error = f"{type(failure).__name__}: {failure}"[:_ERROR_LENGTH]
    if not isinstance(failure, Retry | SQLAlchemyError):
        log.error("job.error", function=declared.name, exc_info=failure)
    for job in jobs:
        if job.attempt >= declared.max_attempts:
            _give_up(declared, job, error)
            continue
        delay = _BACKOFF_SECONDS[min(job.attempt, len(_BACKOFF_SECONDS)) - 1]
        with _scope(declared, job), db.transaction() as session:
            session.execute(_AGAIN, {"delay": delay, "error": error, "token": job.lease_token})


def _give_up(declared: Handler, job: Job, error: str) -> None:
    with _scope(declared, job), db.transaction() as session:
        session.execute(_FAIL, {"error": error, "token": job.lease_token})
        if declared.on_failure is not None:
            declared.on_failure(job, error)


@contextmanager
def _heartbeat(declared: Handler, jobs: Sequence[Job]) -> Iterator[None]:
    """Renew the leases while the block runs, from a thread and a connection of its own."""
    done = threading.Event()
    app: Any = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001
    values = {"lease": declared.lease_seconds, "tokens": [str(j.lease_token) for j in jobs]}

    def beat() -> None:
        while not done.wait(declared.lease_seconds / 3):
            try:
                with (
                    app.app_context(),
                    tenancy.across_organizations(reason="renews leases"),
                    db.transaction() as session,
                ):
                    session.execute(_RENEW, values)
            except SQLAlchemyError:
                log.warning("job.heartbeat_missed", function=declared.name)

    thread = threading.Thread(target=beat, name="lease-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
