"""A worker runs only the allowed functions, regardless of the messages in Redis."""

import os
import tempfile
from pathlib import Path
from threading import Event
from typing import Any

import orjson
import pytest
from flask import Flask
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from rq import Queue, Repeat, Worker
from rq.job import Job
from rq.serializers import JSONSerializer

from app.kit import container, temporary_folders
from app.kit.ids import uuid7
from app.kit.jobs.relay import DRAIN_FUNCTION
from app.kit.jobs.rq_workers import ForkingWorker, InProcessWorker, build_worker, is_permitted

ALLOWED = frozenset({DRAIN_FUNCTION, "posixpath.basename"})
FORBIDDEN = "os.mkdir"


@pytest.fixture
def queue(app: Flask) -> Queue:
    name = f"test-{uuid7().hex}"
    return Queue(name, connection=_connection(), serializer=JSONSerializer)


def _connection() -> Redis:
    return container.current().redis(timeout=5)


def _work(
    app: Flask, queue: Queue, kind: Any = InProcessWorker, functions: frozenset[str] = ALLOWED
) -> None:
    worker = build_worker(kind, app, [queue.name], functions, _connection(), Event())
    worker.work(burst=True, logging_level="WARNING")


@pytest.mark.parametrize("kind", [InProcessWorker, ForkingWorker])
def test_a_function_that_is_not_on_the_list_is_refused(
    app: Flask, queue: Queue, tmp_path: Path, kind: Any
) -> None:
    job = queue.enqueue(FORBIDDEN, str(tmp_path / "made"))
    _work(app, queue, kind)
    assert not (tmp_path / "made").exists()
    assert not Job.exists(job.id, connection=_connection())
    assert queue.count == 0
    assert _connection().lrange(queue.intermediate_queue_key, 0, -1) == []


@pytest.mark.parametrize("kind", [InProcessWorker, ForkingWorker])
def test_a_function_on_the_list_runs_and_leaves_nothing(
    app: Flask, queue: Queue, kind: Any
) -> None:
    job = queue.enqueue("posixpath.basename", "a/b", result_ttl=0)
    _work(app, queue, kind)
    assert not Job.exists(job.id, connection=_connection())
    assert len(queue.failed_job_registry) == 0


def test_a_worker_waits_for_its_fork_while_redis_is_down(
    app: Flask, queue: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = tmp_path / "end"
    os.mkfifo(end)
    queue.enqueue("builtins.exec", f"open({str(end)!r}).read()")

    def fail(_worker: Any, seconds: float, *_: Any, **__: Any) -> None:
        if seconds:
            end.write_text("the fork may end")
            raise RedisConnectionError

    monkeypatch.setattr(Worker, "set_current_job_working_time", fail)
    functions = frozenset({"builtins.exec"})
    worker = build_worker(ForkingWorker, app, [queue.name], functions, _connection(), Event())
    worker.job_monitoring_interval = 1
    worker.work(burst=True, logging_level="WARNING")
    assert worker.horse_pid == 0


def test_what_a_killed_fork_leaves_is_deleted_later(
    app: Flask, queue: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(temporary_folders, "_swept_at", [0.0])
    code = "import os, tempfile; os.mkdir(f'{tempfile.mkdtemp()}/x'); os.kill(os.getpid(), 9)"
    queue.enqueue("builtins.exec", code)
    _work(app, queue, ForkingWorker, frozenset({"builtins.exec"}))
    (folder,) = tmp_path.iterdir()
    assert list(folder.glob("*/x"))
    os.utime(folder, (1, 1))
    queue.enqueue("posixpath.basename", "a/b")
    _work(app, queue, ForkingWorker)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "extra",
    [
        {"on_success": FORBIDDEN},
        {"on_failure": FORBIDDEN},
        {"on_stopped": FORBIDDEN},
        {"kwargs": {"p": "x"}},
        {"repeat": Repeat(times=2)},
        {"webhooks": [{"url": "http://127.0.0.1/", "job_status": "finished"}]},
    ],
    ids=lambda extra: next(iter(extra)),
)
def test_a_message_that_asks_for_more_is_refused(queue: Queue, extra: dict[str, Any]) -> None:
    plain = queue.enqueue("posixpath.basename", args=("a/b",))
    loaded = Job.fetch(plain.id, connection=_connection(), serializer=JSONSerializer)
    assert is_permitted(loaded, ALLOWED)
    members = dict(extra)
    for name in ("on_success", "on_failure", "on_stopped"):
        if name in members:
            column = name.replace("on_", "") + "_callback_name"
            _connection().hset(plain.key, column, members.pop(name))
    if "webhooks" in members:
        _connection().hset(plain.key, "webhooks", orjson.dumps(members.pop("webhooks")))
    if members:
        plain = queue.enqueue("posixpath.basename", args=("a/b",), **members)
    loaded = Job.fetch(plain.id, connection=_connection(), serializer=JSONSerializer)
    assert not is_permitted(loaded, ALLOWED)


@pytest.mark.parametrize(
    "data", [b"", b"not json", b"[]", b'[["x"],null,[],{}]', b"\x80\x04K\x01."]
)
def test_a_message_of_another_form_is_refused(queue: Queue, data: bytes) -> None:
    job = queue.enqueue("posixpath.basename", "a/b")
    _connection().hset(job.key, "data", data)
    loaded = Job.fetch(job.id, connection=_connection(), serializer=JSONSerializer)
    assert not is_permitted(loaded, ALLOWED)


def test_no_command_over_redis_is_heard(app: Flask, queue: Queue) -> None:
    worker = build_worker(InProcessWorker, app, [queue.name], ALLOWED, _connection(), Event())
    worker.work(burst=True, logging_level="WARNING")
    assert worker.pubsub is None
    assert _connection().pubsub_channels("rq:pubsub:*") == []
