"""Files of scheduled exports reach their destination, once."""

import base64
import hashlib
from typing import Any
from uuid import UUID

import orjson
import pytest

from app.delivery.scheduled_exports.queries import runs
from app.engines.destinations import limits
from tests.delivery.exports.test_rows import tag
from tests.factories import run_jobs_of
from tests.factories.labels import make_labeled

IS_DELIVERY_JOB = "organization_id = :org AND function = 'scheduled_exports.deliver'"


def _build_web_destination(upload_server: Any, **settings: Any) -> dict[str, Any]:
    return {"kind": "http", "settings": {"url": upload_server.url, **settings}}


def _get_delivery_job(scheduled: Any) -> Any:
    (job,) = scheduled.sql(f"SELECT * FROM jobs WHERE {IS_DELIVERY_JOB}", org=scheduled.org.id)
    return job


def _retry_delivery(scheduled: Any, **changes: Any) -> None:
    columns = "".join(f", {name} = :{name}" for name in changes)
    scheduled.sql(
        f"UPDATE jobs SET due_at = now(){columns} WHERE {IS_DELIVERY_JOB}",
        org=scheduled.org.id,
        **changes,
    )
    scheduled.work()


def test_a_file_is_sent_to_a_web_server(scheduled: Any, upload_server: Any) -> None:
    make_labeled(scheduled.org, 3)
    created = scheduled.schedule(destination=_build_web_destination(upload_server, token="hush"))
    assert created["destination"]["stored_secrets"] == ["token"]
    run = scheduled.run(created["id"])
    assert (run["status"], run["error"]) == ("completed", None)
    ((path, content),) = upload_server.files.items()
    assert path.startswith("/in/nightly-invoices-")
    assert path.endswith(f"Z-{run['job_id'][-8:]}.jsonl")
    assert content == scheduled.download_file(run["job_id"])
    headers = upload_server.headers[path]
    assert headers["Authorization"] == "Bearer hush"
    digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
    assert headers["Content-Digest"] == f"sha-256=:{digest}:"
    assert headers["Content-Type"] == "application/x-ndjson"
    delivery = run["delivery"]
    assert delivery["sent_bytes"] == len(content) == run["size_bytes"]
    assert path in delivery["delivered_to"]
    assert "hush" not in str(run)


def test_a_server_that_fails_is_tried_again(scheduled: Any, upload_server: Any) -> None:
    created = scheduled.schedule(
        mode="incremental", destination=_build_web_destination(upload_server)
    )
    upload_server.status = 503
    run = scheduled.run(created["id"])
    assert (run["status"], run["delivery"]["status"]) == ("delivering", "pending")
    assert "503" in run["delivery"]["error"]["message"]
    assert scheduled.read(created["id"])["exported_until"] is None
    assert scheduled.run_now(created["id"], 409)["details"]["job_id"] == run["job_id"]
    upload_server.status = 201
    _retry_delivery(scheduled)
    (run,) = scheduled.list_runs(created["id"])
    assert (run["status"], run["error"]) == ("completed", None)
    assert scheduled.read(created["id"])["exported_until"] == run["covers_until"]
    assert len(upload_server.files) == 1


def test_after_the_last_attempt_the_run_has_failed(
    scheduled: Any, upload_server: Any, schema_id: UUID
) -> None:
    created = scheduled.schedule(
        mode="incremental", destination=_build_web_destination(upload_server)
    )
    tag_set = scheduled.label(schema_id, [])
    upload_server.status = 401
    scheduled.run(created["id"])
    _retry_delivery(scheduled, attempts=9)
    (failed,) = scheduled.list_runs(created["id"])
    assert (failed["status"], failed["delivery"]["status"]) == ("failed", "failed")
    assert failed["error"]["code"] == "credentials_refused"
    (event,) = scheduled.list_events("scheduled_export.delivery_failed")
    assert (event["job_id"], event["name"]) == (failed["job_id"], "Nightly invoices")
    assert _get_delivery_job(scheduled).status == "failed"
    # The file can still be downloaded, and the next run covers the period again.
    assert tag_set in scheduled.download_file(failed["job_id"]).decode()
    upload_server.status = 201
    run = scheduled.run(created["id"])
    assert (run["status"], run["covers_from"]) == ("completed", None)
    ((_, content),) = upload_server.files.items()
    assert orjson.loads(content)["tag_set_id"] == tag_set


def test_a_host_that_is_not_allowed_any_more_gets_nothing(
    scheduled: Any, upload_server: Any
) -> None:
    created = scheduled.schedule(destination=_build_web_destination(upload_server))
    scheduled.sql(
        "UPDATE scheduled_exports SET settings = :to WHERE id = :id",
        to='{"url": "http://169.254.169.254/latest"}',
        id=created["id"],
    )
    scheduled.run(created["id"])
    _retry_delivery(scheduled, attempts=9)
    (run,) = scheduled.list_runs(created["id"])
    assert (run["status"], run["error"]["code"]) == ("failed", "not_allowed")
    assert upload_server.files == {}


def test_a_deleted_scheduled_export_delivers_nothing(scheduled: Any, upload_server: Any) -> None:
    created = scheduled.schedule(destination=_build_web_destination(upload_server))
    upload_server.status = 503
    scheduled.run(created["id"])
    upload_server.status = 201
    scheduled.admin.delete(f"/exports/scheduled/{created['id']}")
    _retry_delivery(scheduled)
    assert upload_server.files == {}
    assert _get_delivery_job(scheduled).status == "completed"


def test_a_file_is_not_sent_to_its_end_if_its_scheduled_export_is_deleted(
    scheduled: Any, upload_server: Any, schema_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduled.label(schema_id, [tag("number", "x" * 5 * limits.BLOCK_BYTES)])
    created = scheduled.schedule(destination=_build_web_destination(upload_server))
    set_sent_bytes = runs.set_sent_bytes

    def delete_first(job_id: UUID, sent_bytes: int) -> bool:
        path = f"/exports/scheduled/{created['id']}"
        scheduled.call_in_thread(lambda: scheduled.admin.delete(path))
        return set_sent_bytes(job_id, sent_bytes)

    monkeypatch.setattr(limits, "PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(runs, "set_sent_bytes", delete_first)
    scheduled.run_now(created["id"])
    scheduled.work()
    assert upload_server.files == {}
    assert _get_delivery_job(scheduled).status == "completed"


def _cancel(scheduled: Any, run: dict[str, Any], status: int = 200) -> dict[str, Any]:
    answer = scheduled.api.post(f"/exports/{run['job_id']}/cancel")
    assert answer.status_code == status, answer.json
    return dict(answer.json["data" if status < 400 else "error"])


def test_a_delivery_is_cancelled(scheduled: Any, upload_server: Any, schema_id: UUID) -> None:
    created = scheduled.schedule(
        mode="incremental", destination=_build_web_destination(upload_server)
    )
    tag_set = scheduled.label(schema_id, [])
    upload_server.status = 503
    run = scheduled.run(created["id"])
    assert _cancel(scheduled, run)["status"] == "completed"
    upload_server.status = 201
    _retry_delivery(scheduled)
    (cancelled,) = scheduled.list_runs(created["id"])
    assert (cancelled["status"], cancelled["error"]["code"]) == ("cancelled", "cancelled")
    assert upload_server.files == {}
    assert tag_set in scheduled.download_file(run["job_id"]).decode()
    assert _cancel(scheduled, run, 409)["details"]["state"] == "completed"
    assert scheduled.list_events("scheduled_export.delivery_failed") == []
    # The next run starts at once, and covers the period again.
    following = scheduled.run(created["id"])
    assert (following["status"], following["covers_from"]) == ("completed", None)


def test_a_delivery_is_cancelled_before_it_is_queued(scheduled: Any, upload_server: Any) -> None:
    created = scheduled.schedule(destination=_build_web_destination(upload_server))
    run = scheduled.run_now(created["id"])
    run_jobs_of(scheduled.org, "exports")
    assert scheduled.list_runs(created["id"])[0]["status"] == "delivering"
    _cancel(scheduled, run)
    scheduled.work()
    assert scheduled.list_runs(created["id"])[0]["status"] == "cancelled"
    assert upload_server.files == {}


def test_a_file_is_not_sent_to_its_end_if_its_delivery_is_cancelled(
    scheduled: Any, upload_server: Any, schema_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduled.label(schema_id, [tag("number", "x" * 5 * limits.BLOCK_BYTES)])
    created = scheduled.schedule(destination=_build_web_destination(upload_server))
    run = scheduled.run_now(created["id"])
    set_sent_bytes = runs.set_sent_bytes

    def cancel_first(job_id: UUID, sent_bytes: int) -> bool:
        scheduled.call_in_thread(lambda: _cancel(scheduled, run))
        return set_sent_bytes(job_id, sent_bytes)

    monkeypatch.setattr(limits, "PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(runs, "set_sent_bytes", cancel_first)
    scheduled.work()
    assert upload_server.files == {}
    assert scheduled.list_runs(created["id"])[0]["status"] == "cancelled"
    assert _get_delivery_job(scheduled).status == "completed"


def test_nothing_is_delivered_for_a_closed_organization(scheduled: Any, upload_server: Any) -> None:
    created = scheduled.schedule(destination=_build_web_destination(upload_server))
    upload_server.status = 503
    run = scheduled.run(created["id"])
    slug = scheduled.org.slug
    closed = scheduled.org.api("owner").post(f"/organizations/{slug}/close", json={"slug": slug})
    assert closed.status_code == 202, closed.json
    upload_server.status = 201
    _retry_delivery(scheduled)
    assert upload_server.files == {}
    (row,) = scheduled.sql(
        "SELECT delivery_error FROM scheduled_export_runs WHERE job_id = :id", id=run["job_id"]
    )
    assert row.delivery_error["code"] == "cancelled"


def test_a_delivery_that_runs_twice_sends_the_same_file(scheduled: Any, upload_server: Any) -> None:
    created = scheduled.schedule(destination=_build_web_destination(upload_server))
    run = scheduled.run(created["id"])
    before = dict(upload_server.files)
    scheduled.sql(
        "UPDATE scheduled_export_runs SET delivery_status = 'pending' WHERE job_id = :id",
        id=run["job_id"],
    )
    _retry_delivery(scheduled, status="queued", finished_at=None)
    assert upload_server.files == before
    assert scheduled.list_runs(created["id"])[0]["status"] == "completed"


def test_an_expired_file_is_not_delivered(scheduled: Any, upload_server: Any) -> None:
    created = scheduled.schedule(destination=_build_web_destination(upload_server))
    upload_server.status = 503
    run = scheduled.run(created["id"])
    scheduled.sql("UPDATE exports SET storage_key = NULL WHERE id = :id", id=run["job_id"])
    upload_server.status = 201
    _retry_delivery(scheduled)
    (run,) = scheduled.list_runs(created["id"])
    assert (run["status"], run["error"]["code"]) == ("failed", "expired")


def test_a_renewed_file_is_delivered_if_the_one_before_was_not(
    scheduled: Any, upload_server: Any
) -> None:
    created = scheduled.schedule(destination=_build_web_destination(upload_server))
    upload_server.status = 503
    run = scheduled.run(created["id"])
    _retry_delivery(scheduled, attempts=9)
    scheduled.sql(
        "UPDATE exports SET expires_at = now() - interval '1 day' WHERE id = :id", id=run["job_id"]
    )
    upload_server.status = 201
    assert scheduled.api.post(f"/exports/{run['job_id']}/retry").status_code == 202
    scheduled.work()
    (run,) = scheduled.list_runs(created["id"])
    assert (run["status"], run["delivery"]["status"]) == ("completed", "delivered")
    assert len(upload_server.files) == 1
    assert len(scheduled.list_events("export.completed")) == 1


def test_a_change_while_a_file_is_delivered_starts_anew(scheduled: Any, upload_server: Any) -> None:
    created = scheduled.schedule(
        mode="incremental", destination=_build_web_destination(upload_server)
    )
    upload_server.status = 503
    scheduled.run(created["id"])
    scheduled.update(created["id"], format="csv")
    upload_server.status = 201
    _retry_delivery(scheduled)
    (run,) = scheduled.list_runs(created["id"])
    assert run["status"] == "completed"
    assert scheduled.read(created["id"])["exported_until"] is None


def test_two_of_one_name_replace_no_file_of_each_other(scheduled: Any, upload_server: Any) -> None:
    for _ in range(2):
        created = scheduled.schedule(destination=_build_web_destination(upload_server))
        scheduled.sql(
            "UPDATE scheduled_exports SET next_run_at = date_trunc('day', now()) - interval '1 day'"
            " WHERE id = :id",
            id=created["id"],
        )
    scheduled.start_due()
    scheduled.work()
    due = "SELECT DISTINCT due_at FROM scheduled_export_runs WHERE organization_id = :org"
    assert len(scheduled.sql(due, org=scheduled.org.id)) == 1
    assert len(upload_server.files) == 2


def test_settings_that_were_changed_and_changed_back_start_anew(
    scheduled: Any, upload_server: Any
) -> None:
    created = scheduled.schedule(
        mode="incremental", destination=_build_web_destination(upload_server)
    )
    scheduled.run(created["id"])
    upload_server.status = 503
    scheduled.run(created["id"])
    for mode in ("full", "incremental"):
        scheduled.update(created["id"], mode=mode)
    upload_server.status = 201
    _retry_delivery(scheduled)
    assert scheduled.list_runs(created["id"])[0]["status"] == "completed"
    assert scheduled.read(created["id"])["exported_until"] is None


def _fail_to_deliver(scheduled: Any, upload_server: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return an incremental scheduled export and its run, which could not be delivered."""
    created = scheduled.schedule(
        mode="incremental", destination=_build_web_destination(upload_server)
    )
    upload_server.status = 503
    failed = scheduled.run(created["id"])
    _retry_delivery(scheduled, attempts=9)
    return created, failed


def test_a_period_that_a_later_run_has_delivered_is_not_delivered_again(
    scheduled: Any, upload_server: Any
) -> None:
    created, failed = _fail_to_deliver(scheduled, upload_server)
    upload_server.status = 201
    assert scheduled.run(created["id"])["status"] == "completed"
    scheduled.sql(
        "UPDATE exports SET expires_at = now() - interval '1 day' WHERE id = :id",
        id=failed["job_id"],
    )
    assert scheduled.api.post(f"/exports/{failed['job_id']}/retry").status_code == 202
    scheduled.work()
    run = scheduled.list_runs(created["id"])[1]
    assert (run["status"], run["error"]["code"]) == ("failed", "already_delivered")
    assert len(upload_server.files) == 1


def test_a_period_that_a_later_run_is_about_to_deliver_is_not_delivered(
    scheduled: Any, upload_server: Any
) -> None:
    created, failed = _fail_to_deliver(scheduled, upload_server)
    assert scheduled.run(created["id"])["status"] == "delivering"
    upload_server.status = 201
    scheduled.sql(
        "UPDATE exports SET expires_at = now() - interval '1 day' WHERE id = :id",
        id=failed["job_id"],
    )
    assert scheduled.api.post(f"/exports/{failed['job_id']}/retry").status_code == 202
    scheduled.work()
    _retry_delivery(scheduled, attempts=1)
    later, run = scheduled.list_runs(created["id"])
    assert (later["status"], later["covers_from"]) == ("completed", run["covers_from"])
    assert (run["status"], run["error"]["code"]) == ("failed", "already_delivered")
    assert len(upload_server.files) == 1


def test_without_its_credentials_nothing_is_sent(scheduled: Any, upload_server: Any) -> None:
    created = scheduled.schedule(destination=_build_web_destination(upload_server, token="hush"))
    scheduled.sql(
        "UPDATE scheduled_exports SET credentials = 'of a lost key' WHERE id = :id",
        id=created["id"],
    )
    run = scheduled.run(created["id"])
    assert run["delivery"]["error"]["code"] == "credentials_refused"
    assert upload_server.files == {}


def test_a_destination_without_secrets_replaces_credentials_of_a_lost_key(
    scheduled: Any, upload_server: Any
) -> None:
    created = scheduled.schedule(destination=_build_web_destination(upload_server, token="hush"))
    scheduled.sql(
        "UPDATE scheduled_exports SET credentials = 'of a lost key' WHERE id = :id",
        id=created["id"],
    )
    for destination in ({"kind": "download"}, _build_web_destination(upload_server)):
        scheduled.update(created["id"], destination=destination)
    assert scheduled.run(created["id"])["status"] == "completed"
    assert len(upload_server.files) == 1
