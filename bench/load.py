"""Generate load over a few plain sockets, with one request at a time on each connection."""

import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any
from urllib.parse import urlsplit

RequestBuilder = Callable[[int, int], bytes]
"""A function of (connection number, request number) that returns a request as bytes."""
ResponseHandler = Callable[[int, int, bytes], None]
"""A function of (connection number, request number, response body) that checks the response."""


@dataclass
class Result:
    """The duration of one round, and the time of each response, in seconds."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        """Return the number of responses per second."""
        return len(self.times) / self.seconds

    def get_quantile(self, share: float) -> float:
        """Return the quantile `share` (from 0 to 1) of the response times, in seconds."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def build_request(
    method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> bytes:
    """Build an HTTP/1.1 request, and return its bytes."""
    lines = [f"{method} {path} HTTP/1.1", "Host: bench", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def build_json_request(method: str, path: str, headers: Mapping[str, str], body: Any) -> bytes:
    """Build an HTTP/1.1 request with `body` as JSON, and return its bytes."""
    json_headers = {"Content-Type": "application/json", **headers}
    return build_request(method, path, json_headers, json.dumps(body).encode())


class Connection:
    """A keep-alive connection to the server at the URL `base`. `timeout` is in seconds."""

    def __init__(self, base: str, timeout: float = 60) -> None:
        parts = urlsplit(base)
        assert parts.hostname is not None
        assert parts.port is not None
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.unread = b""

    def send(self, data: bytes) -> tuple[int, bytes]:
        """Send a request; return the status and body of the response."""
        self.socket.sendall(data)
        while b"\r\n\r\n" not in self.unread:
            self._receive()
        head, _, body = self.unread.partition(b"\r\n\r\n")
        status = int(head[9:12])
        length = 0
        for line in head.split(b"\r\n")[1:]:
            if line[:15].lower() == b"content-length:":
                length = int(line[15:])
        while len(body) < length:
            self.unread = b""
            self._receive()
            body += self.unread
        self.unread = body[length:]
        return status, body[:length]

    def measure(self, data: bytes) -> tuple[float, bytes]:
        """Send a request; return the seconds until the response, and its body.

        Raises AssertionError if the status is not 200.
        """
        began = time.perf_counter()
        status, body = self.send(data)
        seconds = time.perf_counter() - began
        request_line = data.split(b"\r\n", 1)[0]
        assert status == 200, f"{request_line!r}: {status} {body[:300]!r}"
        return seconds, body

    def measure_bulk_action(self, data: bytes, count: int) -> float:
        """Send a request for a bulk action; return the seconds until the response.

        Raises AssertionError if the action did not succeed for exactly `count` records.
        """
        seconds, body = self.measure(data)
        assert json.loads(body)["data"]["succeeded"] == count, body[:300]
        return seconds

    def _receive(self) -> None:
        data = self.socket.recv(1 << 18)
        if not data:
            raise ConnectionError("the server closed the connection")
        self.unread += data


def run(
    base: str,
    make: RequestBuilder,
    *,
    connections: int = 8,
    seconds: float = 3.0,
    expect: int = 200,
    on_response: ResponseHandler | None = None,
) -> Result:
    """Send requests for `seconds` on each connection, and return their response times.

    Raises AssertionError if a status is not `expect`, and any error of a connection.
    """
    result, failures = Result(), []
    start = threading.Barrier(connections + 1)

    def send_requests(number: int) -> None:
        times = []
        try:
            connection = Connection(base)
            start.wait()
            until = time.perf_counter() + seconds
            count = 0
            while (began := time.perf_counter()) < until:
                status, body = connection.send(make(number, count))
                times.append(time.perf_counter() - began)
                assert status == expect, f"{status}: {body[:300]!r}"
                if on_response is not None:
                    on_response(number, count, body)
                count += 1
            connection.socket.close()
        except Exception as failure:  # noqa: BLE001 - raised again in the caller's thread
            failures.append(failure)
            start.abort()
        result.times.extend(times)

    threads = [threading.Thread(target=send_requests, args=(n,)) for n in range(connections)]
    for thread in threads:
        thread.start()
    start.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    result.seconds = time.perf_counter() - began
    if failures:
        raise failures[0]
    return result


def compare(
    ours: Callable[[], Result], floor: Callable[[], Result], rounds: int = 5
) -> tuple[Result, Result, float]:
    """Alternate rounds of `ours` and `floor`; return the median round of each and the median ratio.

    Rounds of the same rank are compared, because the rates vary: a few connections may all reach
    the same one of two workers.
    """
    ours(), floor()  # warm up
    pairs = [(ours(), floor()) for _ in range(rounds)]
    our_rounds, floor_rounds = (
        sorted(results, key=lambda result: result.per_second)
        for results in zip(*pairs, strict=True)
    )
    ratio = median(
        our_round.per_second / floor_round.per_second
        for our_round, floor_round in zip(our_rounds, floor_rounds, strict=True)
    )
    median_index = rounds // 2
    return our_rounds[median_index], floor_rounds[median_index], ratio
