"""A stub application, and workers with limits that tests can reach."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.kit.serving.limits import ClientLimits
from app.kit.serving.worker import BufferingWorker
from app.kit.settings import Settings

PART = b"x" * 65_536
closed: list[str] = []


class QuickWorker(BufferingWorker):
    """A worker with short timeouts and few connections."""

    def build_limits(self, settings: Settings) -> ClientLimits:
        seconds = float(os.environ.get("STAND_IN_SECONDS", "1"))
        return replace(
            super().build_limits(settings),
            connections=int(os.environ.get("STAND_IN_CONNECTIONS", "500")),
            body_bytes=4 * 1024 * 1024,
            head_seconds=seconds,
            body_seconds=seconds,
            response_seconds=seconds,
            linger_seconds=1.0,
        )


def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    return ROUTES[environ["PATH_INFO"].split("/")[1]](environ, start_response)


def echo(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Respond with a description of the request."""
    digest = hashlib.sha256()
    size = 0
    while part := environ["wsgi.input"].read(50_000):
        digest.update(part)
        size += len(part)
    answer = {
        "method": environ["REQUEST_METHOD"],
        "path": environ["PATH_INFO"],
        "query": environ["QUERY_STRING"],
        "size": size,
        "sha256": digest.hexdigest(),
        "headers": sorted(name for name in environ if name.startswith("HTTP_")),
        "closed": list(closed),
        "pid": os.getpid(),
    }
    body = json.dumps(answer).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response("200 OK", headers)
    return [body]


class Parts(Iterator[bytes]):
    """Yields `count` parts of 64 KiB, may fail on the way, and records that it was closed."""

    def __init__(self, count: int, fails_at: int | None = None) -> None:
        self._left = iter(range(count))
        self._fails_at = fails_at

    def __next__(self) -> bytes:
        if next(self._left) == self._fails_at:
            raise OSError("the storage failed")
        return PART

    def close(self) -> None:
        closed.append("parts")


def large(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Respond with parts of 64 KiB and a Content-Length."""
    count = int(environ["PATH_INFO"].split("/")[2])
    start_response("200 OK", [("Content-Length", str(count * len(PART)))])
    return Parts(count)


def stream(_: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Respond with parts without a Content-Length."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return iter([b"one ", b"", b"two"])


def broken(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Fail at the part that the path names, or end too early."""
    at = environ["PATH_INFO"].split("/")[2]
    if at == "start":
        raise RuntimeError("the application failed")
    start_response("200 OK", [("Content-Length", str(200 * len(PART)))])
    return Parts(100) if at == "early" else Parts(200, fails_at=int(at))


def slow(_: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Respond after half a second."""
    time.sleep(0.5)
    start_response("200 OK", [("Content-Length", "4")])
    return [b"slow"]


def stuck(_: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Respond once the file STAND_IN_GATE exists."""
    gate = Path(os.environ["STAND_IN_GATE"])
    while not gate.exists():
        time.sleep(0.02)
    return slow(_, start_response)


ROUTES = {
    "echo": echo,
    "health": echo,
    "stuck": stuck,
    "large": large,
    "stream": stream,
    "broken": broken,
    "slow": slow,
}
