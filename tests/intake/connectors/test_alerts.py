"""Alerts: one per cause, announced once, closed by a successful crawl."""

import shutil
from typing import Any

import pytest

from app.intake.connectors.service import crawling
from tests.factories import run_jobs_of
from tests.intake.connectors.conftest import ADDRESS, Folder


def _connect_without_folder(folder: Folder, **members: Any) -> dict[str, Any]:
    """Create a connector, and remove its folder, so that crawls fail."""
    connector = folder.connect(**members)
    shutil.rmtree(folder.path)
    return connector


def test_a_failed_crawl_raises_one_alert(folder: Folder) -> None:
    connector = _connect_without_folder(folder)
    first = folder.crawl(connector)
    second = folder.crawl(connector)
    assert first["status"] == second["status"] == "failed"
    assert first["error"] == {"code": "not_found", "message": "The folder does not exist."}
    (alert,) = folder.alerts(connector)
    assert (alert["kind"], alert["message"]) == ("crawl_failed", "The folder does not exist.")
    assert (alert["ingestion_job_id"], alert["closed_at"]) == (first["id"], None)
    assert folder.read(connector)["open_alert_count"] == 1
    (event,) = folder.events("connector.alert")
    assert event == {
        "alert_id": alert["id"],
        "connector_id": connector["id"],
        "kind": "crawl_failed",
        "message": alert["message"],
        "ingestion_job_id": first["id"],
    }


def test_a_successful_crawl_closes_alerts(folder: Folder) -> None:
    connector = _connect_without_folder(folder)
    folder.crawl(connector)
    folder.path.mkdir()
    assert folder.crawl(connector)["status"] == "completed"
    (alert,) = folder.alerts(connector)
    assert alert["closed_at"] is not None
    assert folder.alerts(connector, open="true") == []
    assert folder.read(connector)["open_alert_count"] == 0
    shutil.rmtree(folder.path)
    folder.crawl(connector)
    assert [alert["closed_at"] is None for alert in folder.alerts(connector)] == [True, False]
    assert len(folder.events("connector.alert")) == 2


def test_an_unreachable_host_has_an_alert_of_its_own(folder: Folder) -> None:
    connector = folder.connect(type="http", settings={"url": f"http://{ADDRESS}:9/"})
    assert folder.crawl(connector)["status"] == "failed"
    assert folder.alerts(connector)[0]["kind"] == "unreachable"


def test_administrators_are_notified(folder: Folder) -> None:
    connector = _connect_without_folder(folder, name="Invoices of Ada")
    folder.crawl(connector)
    run_jobs_of(folder.org, "notifications")
    rows = folder.sql("SELECT user_id, title, body, link FROM notifications")
    assert {row.user_id for row in rows} == {folder.org.users[r] for r in ("admin", "owner")}
    assert {row.title for row in rows} == {"Problem with the connector Invoices of Ada"}
    assert "The folder does not exist." in rows[0].body
    assert rows[0].link.endswith(f"/connectors/{connector['id']}/alerts")


def test_acknowledging(folder: Folder) -> None:
    connector = _connect_without_folder(folder)
    folder.crawl(connector)
    path = f"/connectors/{connector['id']}/alerts/{folder.alerts(connector)[0]['id']}/acknowledge"
    first = folder.admin.post(path).json["data"]
    assert first["acknowledged_by"] == str(folder.org.users["admin"])
    assert first["at"] == first["created_at"] < first["updated_at"]
    again = folder.org.api("owner").post(path).json["data"]
    assert again == first
    assert folder.read(connector)["open_alert_count"] == 1


def test_many_failures_suspend_the_schedule(folder: Folder) -> None:
    connector = _connect_without_folder(folder, schedule="0 6 * * *")
    folder.sql("UPDATE connectors SET failures_in_a_row = 8")
    folder.crawl(connector)
    assert folder.read(connector)["next_crawl_at"] is not None
    folder.crawl(connector)
    assert folder.read(connector)["next_crawl_at"] is None
    assert {alert["kind"] for alert in folder.alerts(connector)} == {"crawl_failed", "quarantined"}
    folder.path.mkdir()
    folder.crawl(connector)
    repaired = folder.read(connector)
    assert (repaired["next_crawl_at"] is not None, repaired["open_alert_count"]) == (True, 0)


def test_crawls_do_not_change_the_revision(folder: Folder) -> None:
    connector = _connect_without_folder(folder)
    folder.crawl(connector)
    read_connector = folder.read(connector)
    assert read_connector["revision"] == 1
    assert read_connector["updated_at"] == connector["updated_at"]


def _cancel_during_the_listing(
    folder: Folder, job: dict[str, Any], patch: pytest.MonkeyPatch
) -> None:
    """Cancel the job when its crawl opens the source to list it."""
    original = crawling.open_source

    def open_source(*args: Any) -> Any:
        folder.cancel(job)
        return original(*args)

    patch.setattr(crawling, "open_source", open_source)


def test_a_cancelled_crawl_that_fails_raises_no_alert(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    connector = _connect_without_folder(folder)
    job = folder.request(connector)
    _cancel_during_the_listing(folder, job, monkeypatch)
    folder.work()
    assert folder.get(job["id"])["status"] == "cancelled"
    assert folder.alerts(connector) == folder.events("connector.alert") == []
    (row,) = folder.sql("SELECT failures_in_a_row FROM connectors")
    assert row.failures_in_a_row == 0


def test_a_cancelled_crawl_closes_no_alert(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    connector = _connect_without_folder(folder)
    folder.crawl(connector)
    folder.path.mkdir()
    job = folder.request(connector)
    _cancel_during_the_listing(folder, job, monkeypatch)
    folder.work()
    assert folder.get(job["id"])["status"] == "cancelled"
    assert len(folder.alerts(connector, open="true")) == 1


def test_an_update_that_resumes_the_schedule_resets_the_failures(folder: Folder) -> None:
    connector = _connect_without_folder(folder, schedule="0 6 * * *")
    folder.sql("UPDATE connectors SET failures_in_a_row = 9")
    folder.crawl(connector)
    assert folder.read(connector)["next_crawl_at"] is None
    paused = folder.update(connector, enabled=False)
    assert (paused["next_crawl_at"], paused["open_alert_count"]) == (None, 2)
    resumed = folder.update(connector, enabled=True)
    assert (resumed["next_crawl_at"] is not None, resumed["open_alert_count"]) == (True, 1)
    assert [alert["kind"] for alert in folder.alerts(connector, open="true")] == ["crawl_failed"]
    folder.crawl(connector)
    assert folder.read(connector)["next_crawl_at"] is not None
    folder.sql("UPDATE connectors SET failures_in_a_row = 9")
    folder.crawl(connector)
    assert folder.read(connector)["next_crawl_at"] is None
    kinds = [event["kind"] for event in folder.events("connector.alert")]
    assert kinds.count("quarantined") == 2


def test_an_update_of_a_connector_with_few_failures_keeps_their_number(folder: Folder) -> None:
    connector = _connect_without_folder(folder, schedule="0 6 * * *")
    folder.crawl(connector)
    folder.update(connector, name="Renamed")
    (row,) = folder.sql("SELECT failures_in_a_row, open_alert_count FROM connectors")
    assert (row.failures_in_a_row, row.open_alert_count) == (1, 1)
