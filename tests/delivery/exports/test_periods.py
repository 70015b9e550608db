"""Consecutive periods hold each tag set exactly once, whatever commits while they are read."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from threading import Event
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.kit import db, watermarks
from app.kit.ids import uuid7
from app.workflow.tag_sets.models import TagSet

DEADLINE = 60.0
ACCEPT = text(
    "UPDATE tag_sets SET status = 'accepted', decided_at = :now"
    " WHERE organization_id = :org AND id = CAST(:id AS uuid)"
)
LINGER = text("SELECT pg_sleep(random() * 0.05)")
CHECKED = text("SET CONSTRAINTS ALL IMMEDIATE")


@contextmanager
def open_transaction(exports: Any, *before_commit: Any) -> Iterator[Session]:
    """A transaction of the organization; `before_commit` are statements and calls."""
    with exports.org.transaction() as s:
        yield s
        for step in before_commit:
            step() if callable(step) else s.execute(step)


def accept(exports: Any, tag_set_id: str, *before_commit: Any) -> None:
    """Accept a tag set by the application's clock."""
    with open_transaction(exports, *before_commit) as session:
        values = {"now": db.utc_now(), "org": exports.org.id, "id": tag_set_id}
        session.execute(ACCEPT, values)


@contextmanager
def pause_before_commit(
    call: Callable[..., None], *args: Any, first: Any = None
) -> Iterator[Event]:
    """Run a transaction on a thread up to its commit; the event lets it commit."""
    arrived, go = Event(), Event()

    def wait() -> None:
        arrived.set()
        assert go.wait(DEADLINE)

    steps = [wait] if first is None else [first, wait]
    with ThreadPoolExecutor(1) as others:
        running: Future[None] = others.submit(call, *args, *steps)
        try:
            assert arrived.wait(DEADLINE)
            yield go
        finally:
            go.set()
            running.result(DEADLINE)


def export_period(
    exports: Any, start: datetime | str, name: str = "decided"
) -> tuple[list[str], str]:
    """Export the period from `start` on; its tag sets, and where it ended."""
    start = start if isinstance(start, str) else start.isoformat()
    export = exports.make(filter={f"{name}_after": start}, include={"tags": "all"})
    rows = exports.download_file(export["id"]).splitlines()
    return [row.split(b'"')[3].decode() for row in rows], export["filter"][f"{name}_before"]


def test_a_tag_set_that_commits_late_is_in_the_next_period(exports: Any, schema_id: UUID) -> None:
    start = db.utc_now()
    early = exports.label(schema_id, [])
    late = exports.label(schema_id, [], status="submitted")
    with pause_before_commit(accept, exports, late) as go:
        first, end = export_period(exports, start)
        assert first == [early]
        go.set()
    second, _ = export_period(exports, end)
    assert second == [late]
    decided_at = exports.sql("SELECT decided_at FROM tag_sets WHERE id = :id", id=late)[0][0]
    assert decided_at >= datetime.fromisoformat(end)
    assert export_period(exports, start)[0] == [early, late]


def test_an_export_waits_for_what_is_committing(
    exports: Any, schema_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = db.utc_now()
    late = exports.label(schema_id, [], status="submitted")
    with pause_before_commit(accept, exports, late, first=CHECKED) as go:
        monkeypatch.setattr(watermarks, "sleep", lambda _: go.set())
        tag_set_ids, end = export_period(exports, start)
    assert go.is_set()
    assert tag_set_ids == [late]
    assert export_period(exports, end)[0] == []


def test_a_transaction_that_commits_for_minutes_puts_the_export_off(
    exports: Any, schema_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = exports.label(schema_id, [], status="submitted")
    with pause_before_commit(accept, exports, late, first=CHECKED):
        export_id = exports.start(filter={"decided_after": "2020-01-01T00:00:00Z"})
        monkeypatch.setattr(watermarks, "WAIT_SECONDS", 0.0)
        exports.work()
        assert exports.get(export_id)["status"] == "running"
        assert exports.get_run_job().status == "queued"
    monkeypatch.undo()
    exports.update_run("due_at = now()")
    exports.work()
    assert exports.get(export_id)["row_count"] == 1


def test_consecutive_periods_hold_everything_once(exports: Any, schema_id: UUID) -> None:
    ids = [exports.label(schema_id, [], status="submitted") for _ in range(60)]
    start = db.utc_now().isoformat()
    tag_set_ids: list[str] = []
    with ThreadPoolExecutor(4) as threads:
        acceptances = [threads.submit(accept, exports, id_, LINGER) for id_ in ids]
        while not all(acceptance.done() for acceptance in acceptances):
            part, start = export_period(exports, start)
            tag_set_ids += part
        for acceptance in acceptances:
            acceptance.result()
    tag_set_ids += export_period(exports, start)[0]
    assert sorted(tag_set_ids) == sorted(ids)


def test_a_tag_set_that_is_created_late_is_in_the_next_period(
    exports: Any, schema_id: UUID
) -> None:
    start = db.utc_now()
    artifact_id = exports.workspace.artifact(schema_id)
    version = exports.sql("SELECT current_version_id FROM schemas WHERE id = :id", id=schema_id)
    tag_set_id = uuid7()

    def create(*steps: Any) -> None:
        with open_transaction(exports, *steps) as session:
            about = {"artifact_id": artifact_id, "schema_id": schema_id}
            session.add(TagSet(id=tag_set_id, schema_version_id=version[0][0], **about))
            session.flush()

    with pause_before_commit(create) as go:
        first, end = export_period(exports, start, "created")
        assert first == []
        go.set()
    assert export_period(exports, end, "created")[0] == [str(tag_set_id)]


def test_nobody_waits_for_an_export(exports: Any, schema_id: UUID) -> None:
    """A request for an export that is not committed yet holds nobody up, nor do long ones it."""
    one, two = (exports.label(schema_id, [], status="submitted") for _ in range(2))

    def ask(*steps: Any) -> None:
        with open_transaction(exports, *steps):
            watermarks.raise_to(None)

    with ExitStack() as stack:
        stack.enter_context(pause_before_commit(ask))
        stack.enter_context(pause_before_commit(accept, exports, one))
        accept(exports, two)
    assert exports.sql("SELECT count(*) FROM tag_sets WHERE status = 'accepted'")[0][0] == 2


def test_an_end_in_the_future_is_now(exports: Any, schema_id: UUID) -> None:
    day = timedelta(days=1)
    now = db.utc_now()

    def applied(**period: datetime) -> Any:
        body = {name: at.isoformat() for name, at in period.items()}
        answer = exports.api.post("/exports", {"format": "jsonl", "filter": body})
        return answer.json["data"]["filter"] if answer.status_code == 202 else answer.json["error"]

    def end(**period: datetime) -> datetime:
        name = next(iter(period)).partition("_")[0]
        return datetime.fromisoformat(applied(**period)[f"{name}_before"])

    for name in ("decided", "created"):
        past = end(**{f"{name}_after": now - 2 * day, f"{name}_before": now - day})
        assert past == now - day
        assert now <= end(**{f"{name}_before": now + day}) <= db.utc_now()
        assert now <= end(**{f"{name}_after": now - day}) <= db.utc_now()
        refused = applied(**{f"{name}_after": now + day})
        assert (refused["code"], refused["field"]) == ("validation_error", f"filter.{name}_after")
        refused = applied(**{f"{name}_after": now, f"{name}_before": now})
        assert refused["field"] == f"filter.{name}_before"
    everything = applied()
    assert everything["decided_before"] is everything["created_before"] is None


def test_a_watermark_of_a_wrong_clock_moves_no_time(exports: Any, schema_id: UUID) -> None:
    export_period(exports, db.utc_now())
    sql = "UPDATE watermarks SET at = now() + interval '1 day' WHERE organization_id = :org"
    exports.sql(sql, org=exports.org.id)
    tag_set_id = exports.label(schema_id, [])
    sql = "SELECT created_at < now() AND decided_at < now() FROM tag_sets WHERE id = :id"
    assert exports.sql(sql, id=tag_set_id)[0][0]
