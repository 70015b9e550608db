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
"""The tolerance for a busy machine, in addition to `GOAL_SECONDS`."""


@dataclass(frozen=True)
class TimedResponse:
    """A response; `began` is its request's monotonic time. `writes` is true for POST requests."""

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
    """Clients that send requests: half of them read a list, and half create documents.

    Documents are created with retries. `created` maps idempotency keys to the ids of documents.
    """

    def __init__(self, service: Service, threads: int = 8) -> None:
        self._service = service
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self.responses: list[TimedResponse] = []
        self.problems: list[str] = []
        self.created: dict[str, str] = {}
        runs = [self._write, self._read]
        self.latest: dict[int, TimedResponse] = {}
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

    def _run(self, number: int, act: Callable[[requests.Session], TimedResponse]) -> None:
        session = requests.Session()
        while not self._stop.is_set():
            try:
                response = act(session)
            except (requests.RequestException, KeyError, ValueError) as problem:
                self.problems.append(repr(problem))
                continue
            with self._lock:
                self.responses.append(response)
                if response.status < 300:
                    self.latest[number] = response
            # More requests would take processor time from the recovery.
            self._stop.wait(0.2)

    def _send(self, session: requests.Session, method: str, **kwargs: Any) -> TimedResponse:
        began = time.monotonic()
        headers = self._service.headers | kwargs.pop("headers", {})
        url = f"{self._service.base}/api/v1/artifacts"
        response = session.request(method, url, headers=headers, timeout=60, **kwargs)
        seconds = time.monotonic() - began
        retry_after = response.headers.get("Retry-After")
        return TimedResponse(
            method == "POST", began, seconds, response.status_code, response.json(), retry_after
        )

    def _read(self, session: requests.Session) -> TimedResponse:
        return self._send(session, "GET", params={"page_size": 10})

    def _write(self, session: requests.Session) -> TimedResponse:
        key = uuid4().hex
        body = {"name": "outage.txt", "text": f"written with the key {key}"}
        while True:
            response = self._send(session, "POST", json=body, headers={"Idempotency-Key": key})
            if response.status != 503:
                self.created[key] = response.body["data"]["id"]
                return response
            with self._lock:
                self.responses.append(response)
            time.sleep(0.2)

    def list_since(self, time: float) -> list[TimedResponse]:
        """Return the responses received after a time."""
        with self._lock:
            return [response for response in self.responses if response.ended > time]

    def count_refused_since(self, time: float) -> int:
        return sum(response.status == 503 for response in self.list_since(time))

    def all_succeed_since(self, time: float) -> bool:
        """Return whether each client has sent a successful request after a time."""
        with self._lock:
            began = [response.began for response in self.latest.values()]
        return len(began) == len(self._threads) and min(began) > time

    def await_success_since(self, time: float) -> None:
        """Wait until each client has sent a successful request after a time."""
        wait_until(lambda: self.all_succeed_since(time), "all clients to succeed again", 90)


def check_refusal(response: TimedResponse) -> None:
    """Check that a refusal states the reason and when to retry."""
    assert response.status == 503, response
    error = response.body["error"]
    assert error["code"] == "service_unavailable"
    assert error["details"]["reason"] == "database"
    assert response.retry_after is not None
    assert int(response.retry_after) > 0


def probe(service: Service, name: str) -> tuple[int, float]:
    """Return the status of a health endpoint and the response time in seconds."""
    began = time.monotonic()
    response = requests.get(f"{service.base}/health/{name}", timeout=60)
    return response.status_code, time.monotonic() - began


@contextmanager
def run_outage(
    clients: Clients, stop: Callable[[], None], resume: Callable[[], None]
) -> Iterator[float]:
    """Stop the database during the block, and yield the time of the stop.

    Checks the responses during the outage, and that all clients succeed afterwards.
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
    responses = [response for response in clients.list_since(began) if response.ended < ended]
    refused = [response for response in responses if response.status not in {200, 201}]
    assert len(refused) >= 40
    for response in refused:
        check_refusal(response)
    assert max(response.seconds for response in responses) < GOAL_SECONDS + SLACK_SECONDS
    assert not clients.problems


def check_health(service: Service, began: float) -> None:
    """Check that GET /health/ready soon returns 503, and that GET /health/live stays fast."""
    slowest, status = 0.0, 200
    while status == 200:
        live, seconds = probe(service, "live")
        assert live == 200
        slowest = max(slowest, seconds)
        status, _ = probe(service, "ready")
        assert time.monotonic() - began < GOAL_SECONDS + SLACK_SECONDS
    assert status == 503
    assert slowest < 2.0
