"""Dying workers, the same event twice, many at once: nothing is lost, nothing is sent twice."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from app.delivery.notifications.jobs import OLD_CAUSES_CONDITION
from app.delivery.notifications.queries import collecting as queries
from app.delivery.notifications.queries import emails
from app.kit import container, db, events, purging
from app.kit.jobs import Job
from app.kit.jobs.handlers import HANDLERS
from tests.delivery.notifications.conftest import Inbox
from tests.factories import make_job
from tests.factories.queueing import run_concurrently
from tests.factories.statements import record_statements
from tests.factories.submitted import make_submitted_tag_sets
from tests.factories.waiting import wait_until
from tests.factories.workspace import Workspace

BLOCKED = "SELECT FROM pg_locks WHERE NOT granted AND :pid = ANY (pg_blocking_pids(pid))"
REJECTIONS = "SELECT id, data FROM outbox_events WHERE name = 'tag_set.rejected' ORDER BY id"


def _build_job(workspace: Workspace, event_id: UUID, **data: Any) -> Job:
    args = {"event_id": str(event_id), "data": data}
    return make_job(workspace.org.id, args)


def _build_rejection_jobs(inbox: Inbox, count: int) -> list[Job]:
    """The jobs of as many rejections."""
    workspace = inbox.workspace
    inbox.reject(make_submitted_tag_sets(workspace, count, "labeler", "admin"))
    rows = workspace.sql(REJECTIONS)
    return [_build_job(workspace, row.id, **row.data) for row in rows[-count:]]


def _handle(workspace: Workspace, jobs: list[Job]) -> None:
    with workspace.org.transaction():
        HANDLERS["notifications.tag_set_rejected"].function(jobs)


def test_the_statements_are_as_many_whatever_the_number(workspace: Workspace, inbox: Inbox) -> None:
    sent = []
    for count in (2, 100):
        jobs = _build_rejection_jobs(inbox, count)
        with record_statements(workspace.org.app) as statements:
            _handle(workspace, jobs)
        sent.append([one.split()[0:3] for one in statements])
    assert sent[0] == sent[1]
    assert len(sent[0]) <= 7, sent[0]


def test_emails_are_enqueued_in_as_many_statements_whatever_the_number(
    workspace: Workspace, inbox: Inbox
) -> None:
    inbox.enqueue_due_emails()
    sent = []
    for people in (1, 40):
        for number in range(people):
            workspace.org.add_user(f"p{people}-{number}", "labeler")
        names = [name for name in workspace.org.users if name.startswith(f"p{people}-")]
        inbox.reject(make_submitted_tag_sets(workspace, people, *names))
        rows = workspace.sql(REJECTIONS)
        _handle(workspace, [_build_job(workspace, row.id, **row.data) for row in rows])
        inbox.enqueue_due_emails()  # Windows of other tests may have ended in the meantime.
        inbox.end_windows()
        with record_statements(workspace.org.app) as statements:
            inbox.enqueue_due_emails()
        sent.append(len(statements))
    count = "SELECT count(*) AS n FROM jobs WHERE function = 'letters.send' AND organization_id"
    assert workspace.sql(f"{count} = :org", org=workspace.org.id)[0].n == 41
    assert sent[0] == sent[1]


def test_two_workers_at_once_open_one_notification(workspace: Workspace, inbox: Inbox) -> None:
    jobs = _build_rejection_jobs(inbox, 40)
    # Each event twice, as after a worker that was only slow.
    parts = (jobs[:20], jobs[20:], jobs[10:30], jobs[::-1])
    run_concurrently(*(partial(_handle, workspace, part) for part in parts))
    assert sorted((name, count) for name, _, count in inbox.list_notifications()) == [
        ("admin", 20),
        ("labeler", 20),
    ]


class _Killed(BaseException):
    """The process is gone: nothing of it runs any more."""


def _raise_killed(*_: object, **__: object) -> None:
    raise _Killed


@pytest.mark.parametrize(
    "at",
    [
        "acquire_advisory_lock",
        "record_causes",
        "list_members",
        "lock_open_notifications",
        "write_notifications",
    ],
)
def test_a_worker_that_is_killed_anywhere_is_made_up_for(
    workspace: Workspace, inbox: Inbox, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    jobs = _build_rejection_jobs(inbox, 6)
    _handle(workspace, jobs[:2])
    before = inbox.list_notifications()
    function = getattr(queries, at)

    def die(*args: Any, **more: Any) -> None:
        function(*args, **more)
        raise _Killed

    with monkeypatch.context() as patched:
        patched.setattr(queries, at, die)
        with pytest.raises(_Killed):
            _handle(workspace, jobs[2:])
    assert inbox.list_notifications() == before
    _handle(workspace, jobs[2:])
    _handle(workspace, jobs)
    assert sum(count for _, _, count in inbox.list_notifications()) == 6


@pytest.mark.parametrize("at", ["close", "enqueue", "commit"])
def test_an_email_is_neither_lost_nor_sent_twice_by_a_worker_that_is_killed(
    workspace: Workspace, inbox: Inbox, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    inbox.enqueue_due_emails()
    inbox.reject_new_tag_sets(3, "labeler")
    inbox.end_windows()
    with monkeypatch.context() as patched:
        if at == "close":
            patched.setattr(
                "app.delivery.notifications.service.mailing._build_emails", _raise_killed
            )
        elif at == "enqueue":
            patched.setattr("app.kit.jobs.enqueue_many", _raise_killed)
        else:
            patched.setattr(db, "checkpoint", _raise_killed)
        with pytest.raises(_Killed):
            inbox.enqueue_due_emails()
    for _ in range(2):
        inbox.send_due_emails()
    assert len(inbox.list_email_subjects("labeler")) == 1


def test_nothing_of_it_lives_in_redis(workspace: Workspace, inbox: Inbox) -> None:
    inbox.reject(make_submitted_tag_sets(workspace, 3, "labeler"))
    container.current().redis(timeout=5).flushdb()
    inbox.work()
    inbox.end_windows()
    container.current().redis(timeout=5).flushdb()
    inbox.send_due_emails()
    assert len(inbox.list_email_subjects("labeler")) == 1


def test_what_others_write_at_this_moment_waits_for_the_next_round(
    workspace: Workspace, inbox: Inbox
) -> None:
    inbox.reject_new_tag_sets(3, "labeler")
    inbox.end_windows()
    with workspace.org.app.app_context(), db.engine().connect() as other:
        other.execute(text("SET app.all_organizations = 'on'"))
        lock_query = "SELECT id FROM notifications WHERE organization_id = :org FOR NO KEY UPDATE"
        other.execute(text(lock_query), {"org": workspace.org.id})
        inbox.enqueue_due_emails()
        assert workspace.sql("SELECT FROM notifications WHERE open_until IS NOT NULL")
        other.rollback()
    inbox.send_due_emails()
    assert len(inbox.list_email_subjects("labeler")) == 1


def test_what_is_read_while_an_event_is_handled_takes_no_more(
    workspace: Workspace, inbox: Inbox
) -> None:
    first, second = _build_rejection_jobs(inbox, 4)[::2]
    _handle(workspace, [first])
    app = workspace.org.app
    with app.app_context(), db.engine().connect() as reader, ThreadPoolExecutor(1) as thread:
        reader.execute(text("SET app.all_organizations = 'on'"))
        read = "UPDATE notifications SET read_at = now() WHERE organization_id = :org"
        reader.execute(text(read), {"org": workspace.org.id})
        pid = reader.execute(text("SELECT pg_backend_pid()")).scalar_one()
        handled = thread.submit(_handle, workspace, [second])
        wait_until(lambda: handled.done() or workspace.sql(BLOCKED, pid=pid), "the handler")
        reader.commit()
        handled.result()
    assert [count for _, _, count in inbox.list_notifications()] == [1, 1]


def test_more_emails_than_one_batch_are_all_sent(
    workspace: Workspace,
    inbox: Inbox,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(emails, "MAX_DUE", 2)
    names = [f"p{number}" for number in range(5)]
    for name in names:
        workspace.org.add_user(name, "labeler")
    inbox.reject_new_tag_sets(5, *names)
    inbox.send_all_emails()
    assert [len(inbox.list_email_subjects(name)) for name in names] == [1] * 5


def test_causes_are_forgotten_when_no_job_can_tell_of_them_again(
    workspace: Workspace, inbox: Inbox
) -> None:
    jobs = _build_rejection_jobs(inbox, 3)
    _handle(workspace, jobs)
    workspace.sql(
        "UPDATE notification_causes SET created_at = now() - interval '10 days' WHERE cause = :one",
        one=UUID(jobs[0].args["event_id"]),
    )
    with workspace.org.transaction():
        purging.purge("notification_causes", OLD_CAUSES_CONDITION, db.checkpoint)
    left = {row.cause for row in workspace.sql("SELECT cause FROM notification_causes")}
    assert left == {UUID(job.args["event_id"]) for job in jobs[1:]}


def test_events_of_old_releases_are_read_too(workspace: Workspace, inbox: Inbox) -> None:
    """Without the members that came later."""
    data = {"artifact_ids": [str(workspace.artifact())], "user_ids": [], "team_ids": [], "count": 1}
    with workspace.org.transaction():
        events.emit("artifacts.assigned", {**data, "user_ids": [workspace.org.users["labeler"]]})
    inbox.work()
    assert inbox.list_notifications() == [("labeler", "invoice.txt was assigned to you", 1)]
