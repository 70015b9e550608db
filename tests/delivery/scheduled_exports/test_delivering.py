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
from tests.factories.queueing import call_in_thread

IS_DELIVERY_JOB = "organization_id = :org AND function = 'scheduled_exports.deliver'"


def _build_web_destination(upload_server: Any, **settings: Any) -> dict[str, Any]:
    return {"kind": "http", "settings": {"url": upload_server.url, **settings}}


def _schedule_upload(scheduled: Any, upload_server: Any, **members: Any) -> str:
    """Schedule an export to a web server, and return its id."""
    destination = _build_web_destination(upload_server)
    return str(scheduled.schedule(destination=destination, **members)["id"])


def _fail_upload(scheduled: Any, upload_server: Any, **members: Any) -> tuple[str, Any]:
    """Schedule an upload, and run it while the server fails; return the export's id and the run."""
    export_id = _schedule_upload(scheduled, upload_server, **members)
    upload_server.status = 503
    run = scheduled.run(export_id)
    upload_server.status = 201
    return export_id, run


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


def _retry_export(scheduled: Any, job_id: str) -> None:
    """Let the file of a run expire, and run its export again."""
    scheduled.update_export(job_id, "expires_at = now() - interval '1 day'")
    scheduled.act(job_id, "retry", 202)
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
    export_id, run = _fail_upload(scheduled, upload_server, mode="incremental")
    assert (run["status"], run["delivery"]["status"]) == ("delivering", "pending")
    assert "503" in run["delivery"]["error"]["message"]
    assert scheduled.read(export_id)["exported_until"] is None
    assert scheduled.run_now(export_id, 409)["details"]["job_id"] == run["job_id"]
    _retry_delivery(scheduled)
    (run,) = scheduled.list_runs(export_id)
    assert (run["status"], run["error"]) == ("completed", None)
    assert scheduled.read(export_id)["exported_until"] == run["covers_until"]
    assert len(upload_server.files) == 1


def test_after_the_last_attempt_the_run_has_failed(
    scheduled: Any, upload_server: Any, schema_id: UUID
) -> None:
    export_id = _schedule_upload(scheduled, upload_server, mode="incremental")
    tag_set = scheduled.label(schema_id, [])
    upload_server.status = 401
    scheduled.run(export_id)
    _retry_delivery(scheduled, attempts=9)
    (failed,) = scheduled.list_runs(export_id)
    assert (failed["status"], failed["delivery"]["status"]) == ("failed", "failed")
    assert failed["error"]["code"] == "credentials_refused"
    (event,) = scheduled.list_events("scheduled_export.delivery_failed")
    assert (event["job_id"], event["name"]) == (failed["job_id"], "Nightly invoices")
    assert _get_delivery_job(scheduled).status == "failed"
    # The file can still be downloaded, and the next run covers the period again.
    assert tag_set in scheduled.download_file(failed["job_id"]).decode()
    upload_server.status = 201
    run = scheduled.run(export_id)
    assert (run["status"], run["covers_from"]) == ("completed", None)
    ((_, content),) = upload_server.files.items()
    assert orjson.loads(content)["tag_set_id"] == tag_set


def test_a_host_that_is_not_allowed_any_more_gets_nothing(
    scheduled: Any, upload_server: Any
) -> None:
    export_id = _schedule_upload(scheduled, upload_server)
    settings = '{"url": "http://169.254.169.254/latest"}'
    scheduled.update_schedule(export_id, "settings = :settings", settings=settings)
    scheduled.run(export_id)
    _retry_delivery(scheduled, attempts=9)
    (run,) = scheduled.list_runs(export_id)
    assert (run["status"], run["error"]["code"]) == ("failed", "not_allowed")
    assert upload_server.files == {}


def test_a_deleted_scheduled_export_delivers_nothing(scheduled: Any, upload_server: Any) -> None:
    export_id, _ = _fail_upload(scheduled, upload_server)
    scheduled.admin.delete(f"/exports/scheduled/{export_id}")
    _retry_delivery(scheduled)
    assert upload_server.files == {}
    assert _get_delivery_job(scheduled).status == "completed"


@pytest.mark.parametrize("end", ["the export is deleted", "the delivery is cancelled"])
def test_an_upload_that_is_ended_meanwhile_stops(
    scheduled: Any, upload_server: Any, schema_id: UUID, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    scheduled.label(schema_id, [tag("number", "x" * 5 * limits.BLOCK_BYTES)])
    export_id = _schedule_upload(scheduled, upload_server)
    run = scheduled.run_now(export_id)
    set_sent_bytes = runs.set_sent_bytes

    def end_first(job_id: UUID, sent_bytes: int) -> bool:
        if end == "the export is deleted":
            call_in_thread(scheduled.admin.delete, f"/exports/scheduled/{export_id}")
        else:
            call_in_thread(scheduled.act, run["job_id"], "cancel", 200)
        return set_sent_bytes(job_id, sent_bytes)

    monkeypatch.setattr(limits, "PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(runs, "set_sent_bytes", end_first)
    scheduled.work()
    assert upload_server.files == {}
    assert _get_delivery_job(scheduled).status == "completed"
    if end == "the delivery is cancelled":
        assert scheduled.list_runs(export_id)[0]["status"] == "cancelled"


def test_a_delivery_is_cancelled(scheduled: Any, upload_server: Any, schema_id: UUID) -> None:
    export_id = _schedule_upload(scheduled, upload_server, mode="incremental")
    tag_set = scheduled.label(schema_id, [])
    upload_server.status = 503
    run = scheduled.run(export_id)
    assert scheduled.act(run["job_id"], "cancel", 200)["status"] == "completed"
    upload_server.status = 201
    _retry_delivery(scheduled)
    (cancelled,) = scheduled.list_runs(export_id)
    assert (cancelled["status"], cancelled["error"]["code"]) == ("cancelled", "cancelled")
    assert upload_server.files == {}
    assert tag_set in scheduled.download_file(run["job_id"]).decode()
    assert scheduled.act(run["job_id"], "cancel", 409)["details"]["state"] == "completed"
    assert scheduled.list_events("scheduled_export.delivery_failed") == []
    # The next run starts at once, and covers the period again.
    following = scheduled.run(export_id)
    assert (following["status"], following["covers_from"]) == ("completed", None)


def test_a_delivery_is_cancelled_before_it_is_queued(scheduled: Any, upload_server: Any) -> None:
    export_id = _schedule_upload(scheduled, upload_server)
    run = scheduled.run_now(export_id)
    run_jobs_of(scheduled.org, "exports")
    assert scheduled.list_runs(export_id)[0]["status"] == "delivering"
    scheduled.act(run["job_id"], "cancel", 200)
    scheduled.work()
    assert scheduled.list_runs(export_id)[0]["status"] == "cancelled"
    assert upload_server.files == {}


def test_nothing_is_delivered_for_a_closed_organization(scheduled: Any, upload_server: Any) -> None:
    _, run = _fail_upload(scheduled, upload_server)
    slug = scheduled.org.slug
    closed = scheduled.org.api("owner").post(f"/organizations/{slug}/close", json={"slug": slug})
    assert closed.status_code == 202, closed.json
    _retry_delivery(scheduled)
    assert upload_server.files == {}
    (row,) = scheduled.sql(
        "SELECT delivery_error FROM scheduled_export_runs WHERE job_id = :id", id=run["job_id"]
    )
    assert row.delivery_error["code"] == "cancelled"


def test_a_delivery_that_runs_twice_sends_the_same_file(scheduled: Any, upload_server: Any) -> None:
    export_id = _schedule_upload(scheduled, upload_server)
    run = scheduled.run(export_id)
    before = dict(upload_server.files)
    scheduled.sql(
        "UPDATE scheduled_export_runs SET delivery_status = 'pending' WHERE job_id = :id",
        id=run["job_id"],
    )
    _retry_delivery(scheduled, status="queued", finished_at=None)
    assert upload_server.files == before
    assert scheduled.list_runs(export_id)[0]["status"] == "completed"


def test_an_expired_file_is_not_delivered(scheduled: Any, upload_server: Any) -> None:
    export_id, run = _fail_upload(scheduled, upload_server)
    scheduled.update_export(run["job_id"], "storage_key = NULL")
    _retry_delivery(scheduled)
    (run,) = scheduled.list_runs(export_id)
    assert (run["status"], run["error"]["code"]) == ("failed", "expired")


def test_a_renewed_file_is_delivered_if_the_one_before_was_not(
    scheduled: Any, upload_server: Any
) -> None:
    export_id = _schedule_upload(scheduled, upload_server)
    upload_server.status = 503
    run = scheduled.run(export_id)
    _retry_delivery(scheduled, attempts=9)
    upload_server.status = 201
    _retry_export(scheduled, run["job_id"])
    (run,) = scheduled.list_runs(export_id)
    assert (run["status"], run["delivery"]["status"]) == ("completed", "delivered")
    assert len(upload_server.files) == 1
    assert len(scheduled.list_events("export.completed")) == 1


def test_a_change_while_a_file_is_delivered_starts_anew(scheduled: Any, upload_server: Any) -> None:
    export_id, _ = _fail_upload(scheduled, upload_server, mode="incremental")
    scheduled.update(export_id, format="csv")
    _retry_delivery(scheduled)
    (run,) = scheduled.list_runs(export_id)
    assert run["status"] == "completed"
    assert scheduled.read(export_id)["exported_until"] is None


def test_two_of_one_name_replace_no_file_of_each_other(scheduled: Any, upload_server: Any) -> None:
    for _ in range(2):
        export_id = _schedule_upload(scheduled, upload_server)
        yesterday = "date_trunc('day', now()) - interval '1 day'"
        scheduled.update_schedule(export_id, f"next_run_at = {yesterday}")
    scheduled.start_due()
    scheduled.work()
    due = "SELECT DISTINCT due_at FROM scheduled_export_runs WHERE organization_id = :org"
    assert len(scheduled.sql(due, org=scheduled.org.id)) == 1
    assert len(upload_server.files) == 2


def test_settings_that_were_changed_and_changed_back_start_anew(
    scheduled: Any, upload_server: Any
) -> None:
    export_id = _schedule_upload(scheduled, upload_server, mode="incremental")
    scheduled.run(export_id)
    upload_server.status = 503
    scheduled.run(export_id)
    for mode in ("full", "incremental"):
        scheduled.update(export_id, mode=mode)
    upload_server.status = 201
    _retry_delivery(scheduled)
    assert scheduled.list_runs(export_id)[0]["status"] == "completed"
    assert scheduled.read(export_id)["exported_until"] is None


def _fail_to_deliver(scheduled: Any, upload_server: Any) -> tuple[str, dict[str, Any]]:
    """Return the id of an incremental export, and its run, which could not be delivered."""
    export_id = _schedule_upload(scheduled, upload_server, mode="incremental")
    upload_server.status = 503
    failed = scheduled.run(export_id)
    _retry_delivery(scheduled, attempts=9)
    return export_id, failed


def test_a_period_that_a_later_run_has_delivered_is_not_delivered_again(
    scheduled: Any, upload_server: Any
) -> None:
    export_id, failed = _fail_to_deliver(scheduled, upload_server)
    upload_server.status = 201
    assert scheduled.run(export_id)["status"] == "completed"
    _retry_export(scheduled, failed["job_id"])
    run = scheduled.list_runs(export_id)[1]
    assert (run["status"], run["error"]["code"]) == ("failed", "already_delivered")
    assert len(upload_server.files) == 1


def test_a_period_that_a_later_run_is_about_to_deliver_is_not_delivered(
    scheduled: Any, upload_server: Any
) -> None:
    export_id, failed = _fail_to_deliver(scheduled, upload_server)
    assert scheduled.run(export_id)["status"] == "delivering"
    upload_server.status = 201
    _retry_export(scheduled, failed["job_id"])
    _retry_delivery(scheduled, attempts=1)
    later, run = scheduled.list_runs(export_id)
    assert (later["status"], later["covers_from"]) == ("completed", run["covers_from"])
    assert (run["status"], run["error"]["code"]) == ("failed", "already_delivered")
    assert len(upload_server.files) == 1


def test_without_its_credentials_nothing_is_sent(scheduled: Any, upload_server: Any) -> None:
    created = scheduled.schedule(destination=_build_web_destination(upload_server, token="hush"))
    scheduled.update_schedule(created["id"], "credentials = 'of a lost key'")
    run = scheduled.run(created["id"])
    assert run["delivery"]["error"]["code"] == "credentials_refused"
    assert upload_server.files == {}


def test_a_destination_without_secrets_replaces_credentials_of_a_lost_key(
    scheduled: Any, upload_server: Any
) -> None:
    created = scheduled.schedule(destination=_build_web_destination(upload_server, token="hush"))
    scheduled.update_schedule(created["id"], "credentials = 'of a lost key'")
    for destination in ({"kind": "download"}, _build_web_destination(upload_server)):
        scheduled.update(created["id"], destination=destination)
    assert scheduled.run(created["id"])["status"] == "completed"
    assert len(upload_server.files) == 1
