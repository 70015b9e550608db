"""What the time of an answer tells: nothing. And what a flood of log-ins does to others: little."""

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from threading import Lock
from typing import Any

import pytest
from flask import Flask

from app.identity.auth import attempts
from app.kit import secrets
from tests.factories import Org
from tests.identity.auth.conftest import Person, address

pytestmark = pytest.mark.usefixtures("service_hasher")

ROUNDS = 60
FLOOD = 600
THREADS = 4
"""What WEB_THREADS is unless an operator says otherwise."""


@pytest.fixture
def no_login_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every attempt through; each is counted all the same."""
    monkeypatch.setattr(attempts, "check_wait", lambda _subject: False)


@pytest.mark.usefixtures("no_login_wait")
def test_an_unknown_address_takes_the_time_of_a_wrong_password(person: Person) -> None:
    api = person.device()

    def measure(email: str) -> float:
        started = time.perf_counter()
        answer = api.post("/auth/login", {"email": email, "password": "not this one at all"})
        elapsed = time.perf_counter() - started
        assert answer.status_code == 401
        return elapsed

    measure(address())
    # By turns, so that whatever else the machine does falls on both alike.
    pairs = [(measure(person.email), measure(address())) for _ in range(ROUNDS)]
    known, unknown = zip(*pairs, strict=True)
    # Mann and Whitney's U, as the chance that a known address takes longer than an unknown one: a
    # half if they are alike. Sampling alone moves it by 0.05 (one standard deviation); a hash left
    # out would make it 0 or 1.
    larger = sum(k > u for k, u in product(known, unknown)) / ROUNDS**2
    assert 0.25 < larger < 0.75


@pytest.mark.usefixtures("no_login_wait")
def test_a_flood_of_log_ins_leaves_threads_and_memory_to_others(
    app: Flask, org: Org, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way, most, lock = 0, 0, Lock()
    verify = secrets._hasher.verify

    class Watched:
        def verify(self, *args: Any) -> bool:
            nonlocal under_way, most
            with lock:
                under_way += 1
                most = max(most, under_way)
            try:
                return verify(*args)
            finally:
                with lock:
                    under_way -= 1

        hash = secrets._hasher.hash

    monkeypatch.setattr(secrets, "_hasher", Watched())
    monkeypatch.setattr(secrets, "hashing_slots", secrets.HashingSlots())
    secrets.limit_hashing_threads(THREADS)

    def log_in(_: int) -> int:
        body = {"email": person.email, "password": "not this one at all"}
        return int(person.device().post("/auth/login", body).status_code)

    def look() -> float:
        assert org.api("viewer").get("/auth/session").status_code == 200
        return time.perf_counter()

    started = time.perf_counter()
    assert {log_in(n) for n in range(10)} == {401}
    seconds_per_login = (time.perf_counter() - started) / 10
    # A worker of gunicorn serves like this: so many threads, one queue.
    with ThreadPoolExecutor(THREADS) as worker:
        started = time.perf_counter()
        flood = [worker.submit(log_in, n) for n in range(FLOOD)]
        waited = worker.submit(look).result(60) - started
        answers = [future.result() for future in flood]
    assert set(answers) == {401, 503}
    assert answers.count(401) > 2 * THREADS
    # Had each of them been hashed, two at a time, the queue would have taken this long.
    assert waited < FLOOD * seconds_per_login / secrets.MAX_CONCURRENT_HASHES
    assert most <= secrets.MAX_CONCURRENT_HASHES
