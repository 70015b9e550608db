"""Runs that lose their lease, die or fail: nothing is announced, and nothing stays behind."""

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from app.delivery.exports import jobs
from app.kit.storage import StagedFile, StorageUnavailable, StoredFile
from tests.delivery.exports.conftest import read_answer
from tests.factories.labels import make_labeled
from tests.factories.progress import OnProgress
from tests.factories.queueing import call_in_thread
from tests.factories.scrape import get_metric


def _assert_nothing_is_left(exports: Any, export_id: str) -> None:
    """Assert that a run has announced no completion, and has left no file."""
    assert exports.list_events("export.completed") == []
    assert exports.list_staged_files() == []
    assert not exports.is_stored(export_id)


def test_a_run_that_lost_its_lease_writes_nothing(
    exports: Any, on_progress: OnProgress, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_id = exports.start_labeled(5)
    after: list[int] = []

    def lose(done: int) -> None:
        after.append(done)
        if done == 2:
            exports.lose_lease()

    on_progress(lose)
    lost = partial(
        get_metric, exports.org.app, "labeling_jobs_total", function="exports.run", outcome="lost"
    )
    before = lost()
    exports.work()
    monkeypatch.undo()
    assert lost() == before + 1
    assert after == [0, 1, 2]
    unfinished = exports.get(export_id)
    assert (unfinished["status"], unfinished["progress"]["done"]) == ("running", 2)
    _assert_nothing_is_left(exports, export_id)
    # The other worker dies; the next one begins anew.
    exports.end_lease()
    exports.work()
    export = exports.get(export_id)
    assert (export["status"], export["row_count"]) == ("completed", 5)
    assert len(exports.list_events("export.completed")) == 1
    assert exports.list_staged_files() == []


def _lose_lease(exports: Any, _export_id: str) -> None:
    exports.lose_lease()


def _cancel(exports: Any, export_id: str) -> None:
    exports.update_export(export_id, "status = 'cancelled'")


@pytest.mark.parametrize(
    ("interrupt", "status"),
    [(_lose_lease, "running"), (_cancel, "cancelled")],
    ids=["the lease is lost", "the export is cancelled"],
)
def test_a_run_that_is_interrupted_at_the_last_moment_leaves_no_file(
    exports: Any, monkeypatch: pytest.MonkeyPatch, interrupt: Callable[..., None], status: str
) -> None:
    export_id = exports.start_labeled(2)
    complete = jobs.running.complete

    def too_late(*args: Any) -> None:
        call_in_thread(interrupt, exports, export_id)
        complete(*args)

    monkeypatch.setattr(jobs.running, "complete", too_late)
    exports.work()
    monkeypatch.undo()
    assert exports.get(export_id)["status"] == status
    _assert_nothing_is_left(exports, export_id)


def test_nobody_takes_the_lease_between_the_file_and_its_record(
    exports: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_id = exports.start_labeled(2)
    promote = StagedFile.promote
    free: list[Any] = []

    def promoted(self: StagedFile, key: str) -> StoredFile:
        if key == exports.build_storage_key(export_id):
            free.append(call_in_thread(lambda: exports.get_run_job(skip_locked=True)))
        return promote(self, key)

    monkeypatch.setattr(StagedFile, "promote", promoted)
    exports.work()
    assert free == [None]
    assert exports.get(export_id)["status"] == "completed"


def test_a_run_that_died_after_it_named_its_file_is_made_good(
    exports: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    labeled = make_labeled(exports.org, 2)
    export_id = exports.start()
    complete = jobs.running.complete

    def die(*args: Any) -> None:
        complete(*args)
        raise RuntimeError("the process is gone before the commit")

    with monkeypatch.context() as patched:
        patched.setattr(jobs.running, "complete", die)
        exports.work()
    assert exports.get(export_id)["status"] == "running"
    assert exports.is_stored(export_id)
    assert exports.list_events("export.completed") == []
    exports.label(labeled.schema_id, [])
    exports.rerun()
    export = exports.get(export_id)
    assert export["row_count"] == 3
    assert hashlib.sha256(exports.download_file(export_id)).hexdigest() == export["sha256"]
    assert len(exports.list_events("export.completed")) == 1


def test_a_storage_that_is_away_never_fails_an_export(
    exports: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_id = exports.start_labeled(2)

    def refuse(*_: Any) -> None:
        raise StorageUnavailable("s3://secret-bucket does not answer")

    with monkeypatch.context() as patched:
        patched.setattr(StagedFile, "promote", refuse)
        for faults in range(1, 8):
            exports.rerun()
            row = exports.get_run_job()
            assert (row.status, row.attempts, row.faults) == ("queued", 0, faults)
    assert exports.get(export_id)["status"] == "running"
    exports.rerun()
    assert exports.get(export_id)["status"] == "completed"


def test_an_export_whose_every_run_fails_is_given_up(
    exports: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_id = exports.start_labeled(2)

    def refuse(*_: Any) -> None:
        raise RuntimeError("s3://secret-bucket does not answer")

    with monkeypatch.context() as patched:
        patched.setattr(StagedFile, "promote", refuse)
        exports.work()
        waiting = exports.get_run_job()
        assert (waiting.status, waiting.finished_at) == ("queued", None)
        assert waiting.due_at > waiting.created_at
        assert exports.get(export_id)["status"] == "running"
        exports.update_run("attempts = 4")
        exports.rerun()
    failed = exports.get(export_id)
    assert failed["status"] == "failed"
    assert failed["error"]["code"] == "internal_error"
    assert "secret" not in failed["error"]["message"]
    assert failed["finished_at"] is not None
    assert failed["progress"]["eta_seconds"] is None
    assert failed["sha256"] is None
    assert [event["job_id"] for event in exports.list_events("export.failed")] == [export_id]
    _assert_nothing_is_left(exports, export_id)
    download = exports.api.get(f"/exports/{export_id}/download")
    assert read_answer(download, 409)["details"] == {"state": "failed"}


def test_an_internal_error_is_not_shown_to_clients(
    exports: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_id = exports.start()

    def break_down(*_: Any, **__: Any) -> None:
        raise ValueError("password=hunter2")

    monkeypatch.setattr(jobs, "merge_fields", break_down)
    exports.update_run("attempts = 4")
    exports.work()
    error = exports.get(export_id)["error"]
    assert error["code"] == "internal_error"
    assert "hunter2" not in str(error)
