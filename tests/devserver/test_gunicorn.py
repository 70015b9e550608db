"""gunicorn with the project's configuration, over an application of three lines."""

import base64
import http.client
import json
import os
import signal
import socket

import pytest

from devserver.process import find_free_port
from tests.devserver.conftest import wait_for_end
from tests.factories.waiting import wait_until

APPLICATION = """
import os, time
def app(environ, start_response):
    if environ["PATH_INFO"] == "/slow":
        os.write(1, b"slow began\\n")
        time.sleep(1.0)
    scheme = environ["wsgi.url_scheme"]
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{os.getpid()} {os.getppid()} {scheme}".encode()]
"""


@pytest.fixture
def environment(tmp_path):
    (tmp_path / "stand_in.py").write_text(APPLICATION)
    return {
        "PYTHONPATH": str(tmp_path),
        "PORT": str(find_free_port()),
        "DATA_DIR": str(tmp_path / "data"),
        "DATABASE_URL": "postgresql://user@127.0.0.1:1/none",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "SECRET_KEY": "uYx3kQpw7ZrT9vBnM2sLd8FgHj4KeWc1",
        "ENCRYPTION_KEYS": base64.urlsafe_b64encode(bytes(range(32))).decode(),
    }


@pytest.fixture
def server(running, environment):
    started = running("-m", "gunicorn", "-c", "gunicorn.conf.py", "stand_in:app", env=environment)

    def answers():
        try:
            return ask(environment).split()
        except OSError:
            return None

    wait_until(answers)
    wait_until(lambda: len(started.descendants()) == 2)
    return started


def ask(environment, path="/", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", int(environment["PORT"]), timeout=10)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def test_workers_are_children_of_the_master_and_die_with_it(server, environment):
    worker, parent, _ = ask(environment).split()
    assert int(parent) == server.pid
    assert int(worker) in server.descendants()
    workers = server.descendants()
    server.end(signal.SIGKILL)
    wait_for_end(workers)


def test_a_stop_lets_a_running_request_end(server, environment):
    with socket.create_connection(("127.0.0.1", int(environment["PORT"])), timeout=10) as slow:
        slow.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        server.line(lambda line: line == "slow began")
        server.process.send_signal(signal.SIGTERM)
        assert b"200 OK" in slow.recv(4096)
    assert server.process.wait(60) == 0


def test_an_idle_connection_does_not_hold_up_a_stop(server, environment):
    with socket.create_connection(("127.0.0.1", int(environment["PORT"])), timeout=10) as idle:
        idle.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in idle.recv(4096)
        assert server.end(signal.SIGTERM, seconds=10) == 0


def test_a_forwarded_scheme_is_not_believed(server, environment):
    spoofed = {"X-Forwarded-Proto": "https", "X-Forwarded-Ssl": "on"}
    assert ask(environment, **spoofed).split()[2] == "http"


def test_oversized_request_heads_are_refused(server, environment):
    heads = {
        "long address": b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        "long header": b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"a" * 9000 + b"\r\n\r\n",
        "many headers": b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-Many: 1\r\n" * 101 + b"\r\n",
    }
    address = ("127.0.0.1", int(environment["PORT"]))
    for name, head in heads.items():
        with socket.create_connection(address, timeout=10) as client:
            client.sendall(head)
            status = int(client.recv(4096).split()[1])
        assert 400 <= status < 500, name


def test_unusable_settings_stop_it_with_a_message(running, environment):
    started = running(
        *("-m", "gunicorn", "-c", "gunicorn.conf.py", "stand_in:app"),
        env=environment | {"WEB_THREADS": "many"},
    )
    assert "WEB_THREADS must be a whole number" in started.line(lambda line: "WEB_THREADS" in line)
    assert started.process.wait(60) != 0
    assert os.listdir(environment["PYTHONPATH"]) == ["stand_in.py"]  # noqa: PTH208


def test_its_own_lines_are_the_applications_also_after_a_reload(server, environment):
    for _ in range(2):
        victim = ask(environment).split()[0]
        os.kill(int(victim), signal.SIGABRT)
        entry = json.loads(server.line(lambda line, pid=victim: f"(pid:{pid})" in line))
        assert entry["logger"] == "gunicorn.error"
        wait_until(lambda: len(server.descendants()) == 2)
        before = server.descendants()
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda old=before: not old & server.descendants())
        wait_until(lambda: len(server.descendants()) == 2)
