"""Generate load with plain sockets: few connections, one request after the other on each."""

import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from urllib.parse import urlsplit

MakeRequest = Callable[[int, int], bytes]
"""A function from (connection, count) to the bytes of a request."""
Answer = Callable[[int, int, bytes], None]
"""A function of (connection, count, body) that checks an answer and raises if it is wrong."""


@dataclass
class Result:
    """The measurements of one round, in seconds."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        """Return the number of answers per second."""
        return len(self.times) / self.seconds

    def quantile(self, share: float) -> float:
        """Return a quantile of the answer times."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def request(
    method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> bytes:
    """Return the bytes of a request on a keep-alive connection."""
    lines = [f"{method} {path} HTTP/1.1", "Host: bench", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


class Connection:
    """A keep-alive connection."""

    def __init__(self, base: str) -> None:
        parts = urlsplit(base)
        assert parts.hostname is not None
        assert parts.port is not None
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def send(self, data: bytes) -> tuple[int, bytes]:
        """Send a request; return the status and body of its answer."""
        self.socket.sendall(data)
        while b"\r\n\r\n" not in self.rest:
            self._more()
        head, _, body = self.rest.partition(b"\r\n\r\n")
        status = int(head[9:12])
        length = 0
        for line in head.split(b"\r\n")[1:]:
            if line[:15].lower() == b"content-length:":
                length = int(line[15:])
        while len(body) < length:
            self.rest = b""
            self._more()
            body += self.rest
        self.rest = body[length:]
        return status, body[:length]

    def _more(self) -> None:
        data = self.socket.recv(1 << 18)
        if not data:
            raise ConnectionError("the server closed the connection")
        self.rest += data


def run(
    base: str,
    make: MakeRequest,
    *,
    connections: int = 8,
    seconds: float = 3.0,
    expect: int = 200,
    answer: Answer | None = None,
) -> Result:
    """Send requests for `seconds` on each connection; raise if an answer is unexpected."""
    result, failures = Result(), []
    start = threading.Barrier(connections + 1)

    def work(number: int) -> None:
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
                if answer is not None:
                    answer(number, count, body)
                count += 1
            connection.socket.close()
        except Exception as failure:  # noqa: BLE001 - raised again in the caller's thread
            failures.append(failure)
            start.abort()
        result.times.extend(times)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(connections)]
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
    """Alternate both; return the median round of each, and the median of the ratios per round.

    Few connections may all stick to one of two workers, so the rates of rounds have two peaks.
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
    middle = rounds // 2
    return our_rounds[middle], floor_rounds[middle], ratio
