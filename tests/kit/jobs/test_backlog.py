"""The readiness page and the metrics report late background work."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from app.kit import tenancy
from app.kit.jobs import backlog
from app.kit.jobs.handlers import Job
from app.kit.jobs.queues import QUEUES
from tests.factories import Org, claim_jobs_of, run_jobs_of
from tests.factories.scrape import build_series_key, scrape
from tests.kit.jobs.workshop import declare_handler, enqueue, sql

QUEUE = "erasing"
LATE = QUEUES[QUEUE].late_after + 60


@pytest.fixture(scope="module", autouse=True)
def _handlers() -> Iterator[None]:
    def ignore(_: Job) -> None:
        """Do nothing."""

    with declare_handler("test.late", ignore, queue=QUEUE):
        yield


def _enqueue_due(org: Org, seconds: float) -> None:
    enqueue(org, "test.late", {})
    sql(
        org,
        "UPDATE jobs SET due_at = now() - make_interval(secs => :seconds)"
        " WHERE organization_id = :org",
        seconds=seconds,
    )


def _ready(app: Flask) -> tuple[int, dict[str, Any]]:
    answer = app.test_client().get("/health/ready")
    return answer.status_code, answer.json


def test_a_queue_that_is_behind_is_named(app: Flask, org: Org) -> None:
    _enqueue_due(org, LATE)
    status, body = _ready(app)
    # Requests are still served, so a load balancer must not remove this instance.
    assert status == 200
    assert (body["status"], body["checks"]["background"]) == ("degraded", "behind")
    assert body["behind"][QUEUE] >= LATE
    run_jobs_of(org, QUEUE)
    assert QUEUE not in _ready(app)[1]["behind"]


def test_a_long_run_is_not_late(app: Flask, org: Org) -> None:
    """Only jobs that wait for a worker are late, not jobs that are running."""
    _enqueue_due(org, LATE)
    assert claim_jobs_of(org, QUEUE)
    assert QUEUE not in _ready(app)[1]["behind"]


def test_metrics_tell_depth_and_age(app: Flask, org: Org) -> None:
    _enqueue_due(org, LATE)
    with app.app_context(), tenancy.organization(org.id):
        readings = [one for one in backlog.read_for_metrics() if one.label_values == (QUEUE,)]
    depth, age = readings
    assert (depth.gauge, age.gauge) == (backlog.QUEUE_DEPTH, backlog.QUEUE_AGE)
    assert depth.value >= 1
    assert age.value >= LATE
    run_jobs_of(org, QUEUE)


def test_every_queue_has_one_reading_of_each_gauge(app: Flask) -> None:
    with app.app_context():
        series_keys = [(one.gauge.name, *one.label_values) for one in backlog.read_for_metrics()]
    assert len(series_keys) == len(set(series_keys))
    gauges = (backlog.QUEUE_DEPTH, backlog.QUEUE_AGE)
    queues = set(QUEUES) | {"webhooks"}
    assert set(series_keys) == {(gauge.name, queue) for gauge in gauges for queue in queues}


def test_no_series_is_repeated_under_backlog(app: Flask, org: Org) -> None:
    _enqueue_due(org, LATE)
    # The parser rejects a page on which a series appears twice.
    assert scrape(app)[build_series_key("labeling_queue_depth", {"queue": QUEUE})] >= 1
    run_jobs_of(org, QUEUE)
