"""The database circuit breaker: how it opens, what it refuses, and how it closes."""

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from sqlalchemy import Engine, create_engine, event, make_url, text
from sqlalchemy.exc import OperationalError

from app.kit import db
from app.kit.db_guard.guard import Guard
from app.kit.db_guard.probe import Probe, ProbeResult
from app.kit.jobs.faults import is_fault
from app.kit.settings_values import DATABASE_ROLE
from devserver.postgres import EmbeddedPostgres
from tests.factories.proxy import Proxy
from tests.factories.sessions import terminate_backend
from tests.factories.waiting import wait_until

IN_TIME = 15.0
"""A time limit in seconds. The goal is five seconds on an idle machine."""


@pytest.fixture
def proxy(postgres: EmbeddedPostgres) -> Iterator[Proxy]:
    with Proxy(("127.0.0.1", postgres.port)) as found:
        yield found


@pytest.fixture
def url(postgres: EmbeddedPostgres, proxy: Proxy) -> str:
    return make_url(postgres.admin_url).set(port=proxy.port).render_as_string(hide_password=False)


@pytest.fixture
def guard() -> Guard:
    return Guard()


@pytest.fixture
def engine(url: str, guard: Guard) -> Iterator[Engine]:
    options = db.build_engine_options(url, 4, DATABASE_ROLE)
    arguments = {**options["connect_args"], "connection_factory": guard.connection_factory}
    arguments["options"] = "-c statement_timeout=120s"
    found = create_engine(
        make_url(url).set(drivername="postgresql+psycopg2"), connect_args=arguments, pool_size=4
    )
    event.listen(found, "checkout", db.replace_dead_connection)
    yield found
    found.dispose()


def _one(engine: Engine) -> Any:
    with engine.connect() as connection:
        return connection.execute(text("SELECT 1")).scalar_one()


def _refused(engine: Engine) -> float:
    """Return the seconds until an OperationalError is raised."""
    began = time.monotonic()
    with pytest.raises(OperationalError):
        _one(engine)
    return time.monotonic() - began


def test_who_waits_is_woken_and_who_comes_is_refused_at_once(
    engine: Engine, guard: Guard, proxy: Proxy
) -> None:
    assert _one(engine) == 1
    proxy.stop_forwarding()
    with ThreadPoolExecutor(8) as pool:
        waited = list(pool.map(_refused, [engine] * 8))
    assert max(waited) < IN_TIME
    assert guard.is_open
    assert _refused(engine) < 1.0
    proxy.resume_forwarding()
    wait_until(lambda: not guard.is_open, "the circuit to close", 30)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(_one, [engine] * 8)) == [1] * 8


def test_an_empty_pool_opens_the_circuit_too(engine: Engine, guard: Guard, proxy: Proxy) -> None:
    proxy.stop_forwarding()
    assert _refused(engine) < IN_TIME
    assert guard.is_open
    assert _refused(engine) < 1.0
    proxy.resume_forwarding()
    wait_until(lambda: not guard.is_open, "the circuit to close", 30)
    assert _one(engine) == 1


def test_a_commit_and_a_copy_are_woken_too(engine: Engine, proxy: Proxy) -> None:
    with engine.connect() as connection:
        raw: Any = connection.connection
        with raw.cursor() as cursor, pytest.raises(psycopg2.Error) as broken:
            cursor.copy_expert(
                "COPY (SELECT generate_series(1, 100000000)) TO STDOUT", _Vanishing(proxy)
            )
        assert raw.dbapi_connection.closed
        assert is_fault(broken.value), "an export counts no attempt"
        connection.invalidate()
    proxy.resume_forwarding()
    wait_until(lambda: _answers(engine), "the database", 30)
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))
        proxy.stop_forwarding()
        with pytest.raises(OperationalError):
            connection.commit()
    proxy.resume_forwarding()


class _Vanishing:
    """A file whose first write makes the database unreachable."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy

    def write(self, data: bytes) -> None:
        self._proxy.stop_forwarding()


def _answers(engine: Engine) -> bool:
    try:
        return bool(_one(engine) == 1)
    except OperationalError:
        return False


def test_a_long_statement_is_left_alone_while_the_server_answers(
    engine: Engine, guard: Guard
) -> None:
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_sleep(5)"))
        assert connection.execute(text("SELECT 1")).scalar_one() == 1
    assert not guard.is_open


def test_a_refusal_is_an_answer(postgres: EmbeddedPostgres) -> None:
    wrong = make_url(postgres.admin_url).set(password="wrong").render_as_string(hide_password=False)
    assert Probe(wrong).run(10) is ProbeResult.ERROR
    assert Probe("host=127.0.0.1 port=1 user=x").run(10) is ProbeResult.ERROR


def test_a_probe_keeps_its_connection_and_replaces_a_closed_one(
    postgres: EmbeddedPostgres,
) -> None:
    probe = Probe(postgres.admin_url + "?application_name=probed")
    assert probe.run(10) is ProbeResult.OK
    with closing(psycopg2.connect(postgres.admin_url)) as admin, admin.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
            " WHERE application_name = 'probed'"
        )
        assert cursor.fetchall() == [(True,)]
    assert probe.run(10) is ProbeResult.OK
    probe.close()


def test_a_connection_that_the_server_closed_is_replaced_unnoticed(
    engine: Engine, postgres: EmbeddedPostgres
) -> None:
    with engine.connect() as first, engine.connect() as second:
        pids = [c.execute(text("SELECT pg_backend_pid()")).scalar_one() for c in (first, second)]
    for pid in pids:
        terminate_backend(postgres.admin_url, pid)
    with engine.connect() as first, engine.connect() as second:
        assert [c.execute(text("SELECT 1")).scalar_one() for c in (first, second)] == [1, 1]


def test_the_thread_ends_with_the_last_connection(engine: Engine, guard: Guard) -> None:
    def list_threads() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name == "database-guard"}

    # Threads of engines from other tests may end at any time.
    others = list_threads()
    assert _one(engine) == 1
    (own,) = list_threads() - others
    engine.dispose()
    wait_until(lambda: not own.is_alive(), "the guard's thread to end", 30)
    assert _one(engine) == 1


def test_a_connection_that_no_thread_can_watch_is_refused_until_one_can(
    engine: Engine, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(OperationalError, match="cannot start the thread"):
            _one(engine)
    assert _one(engine) == 1
    proxy.stop_forwarding()
    assert _refused(engine) < IN_TIME
    proxy.resume_forwarding()


def test_a_fork_starts_with_a_closed_circuit_and_leaves_the_parents_connections(
    engine: Engine, guard: Guard, proxy: Proxy
) -> None:
    assert _one(engine) == 1
    proxy.stop_forwarding()
    assert _refused(engine) < IN_TIME
    child = os.fork()
    if child == 0:
        os._exit(1 if guard.is_open else 0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert guard.is_open
    proxy.resume_forwarding()


def test_deadlines_of_the_url_win() -> None:
    found = db.get_timeouts("postgresql://u:p@h/d?connect_timeout=20&tcp_user_timeout=60000")
    assert "connect_timeout" not in found
    assert "tcp_user_timeout" not in found
    assert found["keepalives_idle"] > 0


def _descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_descriptors_are_given_back(engine: Engine) -> None:
    assert _one(engine) == 1
    engine.dispose()
    before = _descriptors()
    for _ in range(5):
        assert _one(engine) == 1
        engine.dispose()
    # The proxy runs in this process. It closes its end of a connection a little later.
    wait_until(lambda: _descriptors() <= before, "descriptors to be given back")
