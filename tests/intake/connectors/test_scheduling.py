"""Crawls by schedule, in the time zone of the organization."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from threading import Event
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import text

from app.intake.connectors.service import scheduling
from app.intake.ingestion_jobs.service import requests, running
from app.kit import db, jobs, tenancy
from app.kit.jobs import schedule
from tests.factories import make_due
from tests.intake.conftest import counts
from tests.intake.connectors.conftest import Folder


def _run_schedule(folder: Folder) -> None:
    everything = tenancy.across_organizations(reason="a test is the scheduler")
    with folder.org.app.app_context(), everything:
        with db.transaction():
            scheduling.start_due_crawls()
        with db.transaction():
            scheduling.raise_stale_alerts()


def _make_due(folder: Folder, column: str = "next_crawl_at") -> None:
    folder.sql(f"UPDATE connectors SET {column} = now() - interval '1 minute'")


def test_the_next_time_is_in_the_time_zone_of_the_organization(folder: Folder) -> None:
    path = f"/organizations/{folder.org.slug}"
    zone = {"settings": {"time_zone": "Asia/Kathmandu"}}
    assert folder.org.api("owner").patch(path, json=zone).status_code == 200
    connector = folder.connect(schedule=" 30  6 * * * ")
    assert connector["schedule"] == "30 6 * * *"
    at = datetime.fromisoformat(connector["next_crawl_at"]).astimezone(ZoneInfo("Asia/Kathmandu"))
    assert (at.hour, at.minute) == (6, 30)


def test_due_crawls_are_started_once(folder: Folder) -> None:
    folder.write("a.txt", "words")
    connector = folder.connect(schedule="0 6 * * *")
    _make_due(folder)
    _run_schedule(folder)
    _run_schedule(folder)
    folder.work()
    (job,) = folder.api.get("/ingestion-jobs").json["data"]
    assert (job["counts"], job["created_by"]) == (counts(found=1, created=1), None)
    assert job["connector_id"] == connector["id"]
    assert folder.read(connector)["next_crawl_at"] == connector["next_crawl_at"]


def test_a_crawl_that_runs_takes_the_place_of_a_due_one(folder: Folder) -> None:
    connector = folder.connect(schedule="0 6 * * *")
    job = folder.request(connector)
    _make_due(folder)
    _run_schedule(folder)
    answer = folder.api.get("/ingestion-jobs", query_string={"connector_id": connector["id"]})
    assert [listed_job["id"] for listed_job in answer.json["data"]] == [job["id"]]


def test_disabled_connectors_have_no_next_time(folder: Folder) -> None:
    connector = folder.connect(schedule="0 6 * * *", enabled=False)
    assert connector["next_crawl_at"] is None
    path = f"/connectors/{connector['id']}"
    enabled = folder.admin.patch(path, json={"enabled": True}).json["data"]
    assert enabled["next_crawl_at"] is not None
    ended = folder.admin.patch(path, json={"schedule": None}).json["data"]
    assert ended["next_crawl_at"] is None


def test_a_closed_organization_is_not_crawled(folder: Folder) -> None:
    folder.connect(schedule="0 6 * * *")
    _make_due(folder)
    folder.sql("UPDATE organizations SET status = 'suspended' WHERE id = :org", org=folder.org.id)
    _run_schedule(folder)
    assert folder.count("ingestion_jobs") == 0


def test_a_source_is_stale_after_three_crawls(folder: Folder) -> None:
    folder.connect(schedule="0 6 * * *")
    (row,) = folder.sql("SELECT stale_at - next_crawl_at AS wait FROM connectors")
    # The last of the three crawls has a day to succeed.
    assert row.wait.days == 3


def test_a_stale_source_raises_an_alert_once(folder: Folder) -> None:
    connector = folder.connect(schedule="0 6 * * *")
    _make_due(folder, "stale_at")
    _run_schedule(folder)
    _run_schedule(folder)
    (alert,) = folder.alerts(connector)
    assert (alert["kind"], alert["ingestion_job_id"]) == ("stale", None)
    folder.crawl(connector)
    assert folder.alerts(connector, open="true") == []
    (row,) = folder.sql("SELECT stale_at, next_crawl_at FROM connectors")
    assert row.stale_at > row.next_crawl_at


def test_a_source_is_not_stale_while_its_crawl_makes_progress(folder: Folder) -> None:
    connector = folder.connect(schedule="0 6 * * *")
    folder.request(connector)
    _make_due(folder, "stale_at")
    running = (
        "UPDATE ingestion_jobs SET status = 'running', updated_at = {} WHERE organization_id = :org"
    )
    folder.sql(running.format("now()"), org=folder.org.id)
    _run_schedule(folder)
    assert folder.alerts(connector) == []
    folder.sql(running.format("now() - interval '1 day'"), org=folder.org.id)
    _run_schedule(folder)
    assert [alert["kind"] for alert in folder.alerts(connector)] == ["stale"]


def test_an_update_keeps_a_due_crawl_and_the_time_of_the_alert(folder: Folder) -> None:
    connector = folder.connect(schedule="0 6 * * *")
    for column in ("next_crawl_at", "stale_at"):
        _make_due(folder, column)
    folder.update(connector, name="Other", schedule="0 6 * * *", enabled=True, include=["*.txt"])
    _run_schedule(folder)
    assert folder.count("ingestion_jobs") == 1
    assert [alert["kind"] for alert in folder.alerts(connector)] == ["stale"]


@pytest.mark.parametrize("changes", [{"schedule": "0 7 * * *"}, {"enabled": False}])
def test_another_schedule_replaces_the_due_crawl(folder: Folder, changes: dict[str, Any]) -> None:
    connector = folder.connect(schedule="0 6 * * *")
    _make_due(folder)
    folder.update(connector, **changes)
    _run_schedule(folder)
    assert folder.count("ingestion_jobs") == 0


def test_schedules_do_not_wait_in_the_queue_of_long_maintenance(
    folder: Folder, work: Callable[[], None]
) -> None:
    app = folder.org.app
    everything = tenancy.across_organizations(reason="a test is the relay")
    make_due(app, "connectors.schedule")
    with app.app_context(), everything, db.transaction() as session:
        schedule.enqueue_due_jobs()
        statement = "SELECT queue FROM jobs WHERE unique_key = 'periodic:connectors.schedule'"
        assert session.scalars(text(statement)).all() == ["default"]
    work()


def test_a_job_of_the_previous_release_starts_due_crawls(
    folder: Folder, work: Callable[[], None]
) -> None:
    folder.connect(schedule="0 6 * * *")
    _make_due(folder)
    everything = tenancy.across_organizations(reason="a test is the previous release")
    with folder.org.app.app_context(), everything, db.transaction():
        jobs.enqueue_many("connectors.schedule", [(None, {})], queue="maintenance")
    work()
    assert folder.count("ingestion_jobs") == 1


def test_a_retry_and_a_due_crawl_at_the_same_time(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    connector = folder.connect(schedule="0 6 * * *", settings={"path": "missing"})
    job = folder.crawl(connector)
    _make_due(folder)
    original, retried, continued = requests._emit_requested, Event(), Event()

    def emit(*args: Any) -> None:
        original(*args)
        db.session().flush()
        retried.set()
        assert continued.wait(60)

    monkeypatch.setattr(requests, "_emit_requested", emit)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(folder.admin.post, f"/ingestion-jobs/{job['id']}/retry")
        try:
            assert retried.wait(60)
            _run_schedule(folder)
        finally:
            continued.set()
        assert answer.result().status_code == 202
    _run_schedule(folder)
    (listed_job,) = folder.api.get("/ingestion-jobs").json["data"]
    assert (listed_job["id"], listed_job["status"]) == (job["id"], "queued")


def test_an_operator_reopens_no_crawl_beside_another(folder: Folder) -> None:
    connector = folder.connect(settings={"path": "missing"})
    failed = folder.crawl(connector)
    active = folder.request(connector)

    def reopen(job_id: UUID, _: object) -> None:
        running.reopen(job_id)

    folder.run(reopen, failed["id"])
    statuses = [folder.get(job["id"])["status"] for job in (failed, active)]
    assert statuses == ["failed", "queued"]
    folder.work()
    folder.run(reopen, failed["id"])
    assert folder.get(failed["id"])["status"] == "queued"
