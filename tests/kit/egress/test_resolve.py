"""Lookups of host names, whose name servers may never respond."""

import socket
from threading import BoundedSemaphore, Event, Thread
from typing import Any

import pytest

from app.delivery.webhooks.dispatcher import THREAD_COUNT
from app.kit.egress import Policy
from app.kit.egress import resolve as resolve_module
from app.kit.egress.resolve import ResolutionFailed, resolve

LOOKUPS_LEFT_BEHIND = 3
"""The lookups that a thread can leave behind, because the system takes three times as long."""


def test_lookups_that_hang_leave_room_for_others(
    names: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    names["fast.example"] = ["8.8.8.8"]
    ended = Event()
    real = socket.getaddrinfo

    def getaddrinfo(host: str, *args: Any, **options: Any) -> Any:
        if host.startswith("slow"):
            assert ended.wait(60)
            raise socket.gaierror
        return real(host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    try:
        for number in range(THREAD_COUNT * LOOKUPS_LEFT_BEHIND):
            with pytest.raises(ResolutionFailed) as failure:
                resolve(Policy(), f"slow-{number}.example", 443, 0.0)
            assert failure.value.timed_out
        (endpoint,) = resolve(Policy(), "fast.example", 443, 30.0)
    finally:
        ended.set()
    assert endpoint.address == ("8.8.8.8", 443)


def test_a_thread_that_cannot_be_started_frees_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolve_module, "_lookup_semaphore", BoundedSemaphore(1))

    def refuse(thread: Thread) -> None:
        raise RuntimeError(f"can't start {thread.name}")

    with monkeypatch.context() as patched:
        patched.setattr(Thread, "start", refuse)
        for _ in range(2):
            with pytest.raises(ResolutionFailed) as failure:
                resolve(Policy(), "some.example", 443, 0.1)
            assert failure.value.timed_out
    assert resolve_module._lookup_semaphore.acquire(blocking=False)
