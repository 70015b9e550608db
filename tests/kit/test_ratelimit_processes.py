"""Rate limits of applications in separate processes: shared counts, addresses and outages."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.kit import container
from devserver.binaries import find_valkey_binary

ROOT = Path(__file__).parents[2]
Send = Callable[..., list[tuple[int, float]]]
_addresses = (f"198.18.{n // 250}.{n % 250 + 1}" for n in count())


@pytest.fixture
def address() -> str:
    """Return a client address that no other test uses."""
    return next(_addresses)


@pytest.fixture(scope="module")
def program(app: Flask, environ: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Start the program that forks applications."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).parent / "limited_app.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environ, "PYTHONPATH": str(ROOT), "RATE_LIMITS": "on"},
    )
    with process:
        yield process


@pytest.fixture
def send(program: subprocess.Popen[str]) -> Iterator[Send]:
    """Return a function that sends login requests without fields to separate applications."""
    container.current().redis(timeout=5).flushall()

    def run(
        address: str, forwarded: list[str | None], *, processes: int = 1, **settings: str
    ) -> list[tuple[int, float]]:
        wanted = [
            {
                "path": "/auth/login",
                "address": address,
                "headers": {"X-Forwarded-For": by} if by is not None else {},
            }
            for by in forwarded
        ]
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.write(json.dumps([{"settings": settings, "requests": wanted}] * processes))
        program.stdin.write("\n")
        program.stdin.flush()
        return [tuple(answer) for one in json.loads(program.stdout.readline()) for answer in one]

    yield run
    container.current().redis(timeout=5).flushall()


def _statuses(answers: Any) -> list[int]:
    return sorted(status for status, _ in answers)


def test_two_processes_share_one_count(send: Send, address: str) -> None:
    answers = send(address, [None] * 8, processes=2)
    assert _statuses(answers) == [422] * 10 + [429] * 6


def test_addresses_behind_a_trusted_proxy_have_each_their_own(send: Send, address: str) -> None:
    clients: list[str | None] = ["203.0.113.1"] * 11 + ["203.0.113.2"]
    answers = [status for status, _ in send(address, clients, TRUSTED_PROXIES="1")]
    assert answers == [422] * 10 + [429, 422]


def test_only_what_the_trusted_proxy_wrote_is_believed(send: Send, address: str) -> None:
    forged: list[str | None] = [f"192.0.2.{n}, 203.0.113.9" for n in range(11)]
    answers = [status for status, _ in send(address, forged, TRUSTED_PROXIES="1")]
    assert answers == [422] * 10 + [429]


def test_without_a_proxy_the_header_is_not_believed(send: Send, address: str) -> None:
    forged: list[str | None] = [f"203.0.113.{n}" for n in range(11)]
    answers = [status for status, _ in send(address, forged)]
    assert answers == [422] * 10 + [429]


@pytest.fixture
def unix_url(tmp_path: Path) -> Iterator[str]:
    """Start a Valkey that listens on a Unix socket only, and return its URL."""
    path = tmp_path / "valkey.sock"
    options = ["--port", "0", "--unixsocket", str(path), "--save", "", "--dir", str(tmp_path)]
    with subprocess.Popen([find_valkey_binary(None), *options], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        while b"Ready to accept connections" not in server.stdout.readline():
            assert server.poll() is None
        yield f"unix://{path}"
        server.kill()


def test_a_store_behind_a_unix_socket_counts_as_well(
    send: Send, address: str, unix_url: str
) -> None:
    answers = send(address, [None] * 11, REDIS_URL=unix_url)
    assert [status for status, _ in answers] == [422] * 10 + [429]


@pytest.mark.parametrize("hangs", [False, True])
def test_nobody_waits_long_for_a_store_that_does_not_answer(
    send: Send, address: str, *, hangs: bool
) -> None:
    with socket.socket() as store:
        store.bind(("127.0.0.1", 0))
        if hangs:  # if it does not listen, whoever connects is refused
            store.listen()
        url = f"redis://127.0.0.1:{store.getsockname()[1]}/0"
        answers = send(address, [None] * 15, REDIS_URL=url)
    assert _statuses(answers) == [422] * 15
    # The first request waits for a quarter of a second if the store hangs. Then the store is not
    # used for a while, so the other requests do not wait.
    assert min(seconds for _, seconds in answers) < container.REDIS_TIMEOUT_SECONDS
