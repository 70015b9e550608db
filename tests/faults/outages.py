"""Clients that keep sending requests during an outage of the database."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self
from uuid import uuid4

import requests

from tests.factories.waiting import wait_until
from tests.faults.conftest import Service

GOAL_SECONDS = 5.0
SLACK_SECONDS = 10.0
"""Tolerance for a busy machine."""


@dataclass(frozen=True)
class Answered:
    """A response; `began` is the monotonic time of its request."""

    writes: bool
    began: float
    seconds: float
    status: int
    body: Any
    retry_after: str | None

    @property
    def ended(self) -> float:
        return self.began + self.seconds


class Clients:
    """Clients of which half read a list and half create documents, with retries.

    `created` maps idempotency keys to the ids of documents.
    """

    def __init__(self, service: Service, threads: int = 8) -> None:
        self._service = service
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self.answers: list[Answered] = []
        self.problems: list[str] = []
        self.created: dict[str, str] = {}
        runs = [self._write, self._read]
        self.latest: dict[int, Answered] = {}
        self._threads = [
            threading.Thread(target=self._run, args=(number, runs[number % 2]))
            for number in range(threads)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        wait_until(lambda: self.all_succeed_since(0.0), "all clients to succeed")
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop sending requests, and wait for the outstanding responses."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, number: int, act: Callable[[requests.Session], Answered]) -> None:
        session = requests.Session()
        while not self._stop.is_set():
            try:
                answer = act(session)
            except (requests.RequestException, KeyError, ValueError) as problem:
                self.problems.append(repr(problem))
                continue
            with self._lock:
                self.answers.append(answer)
                if answer.status < 300:
                    self.latest[number] = answer
            # More would take the processors from what they wait for.
            self._stop.wait(0.2)

    def _ask(self, session: requests.Session, method: str, **kwargs: Any) -> Answered:
        began = time.monotonic()
        headers = self._service.headers | kwargs.pop("headers", {})
        url = f"{self._service.base}/api/v1/artifacts"
        answer = session.request(method, url, headers=headers, timeout=60, **kwargs)
        seconds = time.monotonic() - began
        retry_after = answer.headers.get("Retry-After")
        return Answered(
            method == "POST", began, seconds, answer.status_code, answer.json(), retry_after
        )

    def _read(self, session: requests.Session) -> Answered:
        return self._ask(session, "GET", params={"page_size": 10})

    def _write(self, session: requests.Session) -> Answered:
        key = uuid4().hex
        body = {"name": "outage.txt", "text": f"written with the key {key}"}
        while True:
            answer = self._ask(session, "POST", json=body, headers={"Idempotency-Key": key})
            if answer.status != 503:
                self.created[key] = answer.body["data"]["id"]
                return answer
            with self._lock:
                self.answers.append(answer)
            time.sleep(0.2)

    def since(self, time: float) -> list[Answered]:
        """Return the responses received after a time."""
        with self._lock:
            return [answer for answer in self.answers if answer.ended > time]

    def count_refused_since(self, time: float) -> int:
        return sum(answer.status == 503 for answer in self.since(time))

    def all_succeed_since(self, time: float) -> bool:
        """Return whether each client has sent a successful request after a time."""
        with self._lock:
            began = [answer.began for answer in self.latest.values()]
        return len(began) == len(self._threads) and min(began) > time

    def await_success_since(self, time: float) -> None:
        """Wait until all clients succeed again."""
        wait_until(lambda: self.all_succeed_since(time), "all clients to succeed again", 90)


def check_refusal(answer: Answered) -> None:
    """Check that a refusal states the reason and when to retry."""
    assert answer.status == 503, answer
    error = answer.body["error"]
    assert error["code"] == "service_unavailable"
    assert error["details"]["reason"] == "database"
    assert answer.retry_after is not None
    assert int(answer.retry_after) > 0


def probe(service: Service, name: str) -> tuple[int, float]:
    """Return the status of a health endpoint and the seconds that it took."""
    began = time.monotonic()
    answer = requests.get(f"{service.base}/health/{name}", timeout=60)
    return answer.status_code, time.monotonic() - began


@contextmanager
def outage(
    clients: Clients, stop: Callable[[], None], resume: Callable[[], None]
) -> Iterator[float]:
    """Stop the database during the block, and yield the time of the stop.

    Checks the responses meanwhile, and that all clients succeed afterwards.
    """
    began = time.monotonic()
    stop()
    try:
        yield began
        wait_until(lambda: clients.count_refused_since(began) >= 40, "refusals", 90)
    finally:
        ended = time.monotonic()
        resume()
    clients.await_success_since(ended)
    # Requests that the database completed just before the outage succeeded.
    answers = [answer for answer in clients.since(began) if answer.ended < ended]
    refused = [answer for answer in answers if answer.status not in {200, 201}]
    assert len(refused) >= 40
    for answer in refused:
        check_refusal(answer)
    assert max(answer.seconds for answer in answers) < GOAL_SECONDS + SLACK_SECONDS
    assert not clients.problems


def check_health(service: Service, began: float) -> None:
    """Check that readiness ends in time and liveness does not, however many requests wait."""
    slowest, status = 0.0, 200
    while status == 200:
        live, seconds = probe(service, "live")
        assert live == 200
        slowest = max(slowest, seconds)
        status, _ = probe(service, "ready")
        assert time.monotonic() - began < GOAL_SECONDS + SLACK_SECONDS
    assert status == 503
    assert slowest < 2.0
