"""Cancel exports, and run them again."""

from typing import Any

import pytest

from app.kit import container
from tests.delivery.exports.conftest import read_answer
from tests.factories.labels import make_labeled

MISSING = "00000000-0000-7000-8000-000000000000"


def test_a_queued_export_is_cancelled_and_never_runs(exports: Any) -> None:
    export_id = exports.start_labeled(2)
    cancelled = exports.act(export_id, "cancel", 200)
    assert cancelled["status"] == "cancelled"
    assert cancelled["finished_at"] is not None
    exports.work()
    assert exports.get(export_id) == cancelled
    assert exports.list_events("export.completed") == []
    assert exports.list_events("export.cancelled") == [
        {"job_id": export_id, "scheduled_export_id": None}
    ]


def test_a_running_export_is_cancelled(exports: Any, on_progress: Any) -> None:
    export_id = exports.start_labeled(5)
    seen: list[int] = []

    def cancel(done: int) -> None:
        seen.append(done)
        if done == 2:
            exports.act(export_id, "cancel", 200)

    on_progress(cancel)
    exports.work()
    assert seen == [0, 1, 2]
    assert exports.get(export_id)["status"] == "cancelled"
    assert exports.list_staged_files() == []
    assert not exports.is_stored(export_id)


def test_an_export_that_has_ended_is_not_cancelled(exports: Any) -> None:
    export = exports.make()
    error = exports.act(export["id"], "cancel", 409)
    assert (error["code"], error["details"]["state"]) == ("conflict", "completed")
    cancelled = exports.start()
    exports.act(cancelled, "cancel", 200)
    assert exports.act(cancelled, "cancel", 409)["details"]["state"] == "cancelled"
    assert exports.act(MISSING, "cancel", 404)["code"] == "not_found"


def test_a_failed_export_runs_again(exports: Any) -> None:
    make_labeled(exports.org, 3)
    export_id = exports.start(filter={"decided_after": "2020-01-01T00:00:00Z"})
    requested_filter = exports.get(export_id)["filter"]
    exports.update_run("status = 'failed', finished_at = now()")
    error = '{"code": "internal_error", "message": "It failed."}'
    exports.update_export(
        export_id, "status = 'failed', error = :error, finished_at = now()", error=error
    )
    queued = exports.act(export_id, "retry", 202)
    assert (queued["status"], queued["error"]) == ("queued", None)
    exports.work()
    export = exports.get(export_id)
    assert (export["status"], export["row_count"]) == ("completed", 3)
    assert queued["filter"] == export["filter"] == requested_filter
    assert len(exports.list_events("export.completed")) == 1


def test_an_expired_export_runs_again(exports: Any) -> None:
    make_labeled(exports.org, 3)
    export = exports.make()
    assert exports.act(export["id"], "retry", 409)["details"]["state"] == "completed"
    exports.update_export(export["id"], "expires_at = now() - interval '1 minute'")
    queued = exports.act(export["id"], "retry", 202)
    assert (queued["row_count"], queued["sha256"], queued["expires_at"]) == (None, None, None)
    exports.work()
    again = exports.get(export["id"])
    assert (again["status"], again["sha256"]) == ("completed", export["sha256"])
    # The completion of a job is announced once.
    assert [event["job_id"] for event in exports.list_events("export.completed")] == [export["id"]]
    assert len(exports.download_file(export["id"]).splitlines()) == 3


def test_an_export_whose_file_is_missing_runs_again(exports: Any) -> None:
    make_labeled(exports.org, 3)
    export = exports.make()
    container.current().storage.delete(exports.build_storage_key(export["id"]))
    download = exports.api.get(f"/exports/{export['id']}/download")
    assert read_answer(download, 409)["details"] == {"state": "expired"}
    exports.act(export["id"], "retry", 202)
    exports.work()
    assert len(exports.download_file(export["id"]).splitlines()) == 3


@pytest.mark.parametrize("status", ["queued", "running", "cancelled"])
def test_other_exports_are_not_retried(exports: Any, status: str) -> None:
    export_id = exports.start()
    exports.update_export(export_id, "status = :status", status=status)
    assert exports.act(export_id, "retry", 409)["details"]["state"] == status
    assert exports.act(MISSING, "retry", 404)["code"] == "not_found"


def test_retries_do_not_count_towards_the_limit(exports: Any) -> None:
    export_id = exports.start()
    for _ in range(12):
        exports.update_export(export_id, "status = 'failed'")
        exports.act(export_id, "retry", 202)
