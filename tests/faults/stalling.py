"""A program whose connections send or read only one byte per second.

`python -m tests.faults.stalling PORT WAY COUNT [PATH [HEADER …]]`, where WAY is `head` or `body`
for the part that is sent slowly, or `reader` for slow reads of the response to GET PATH. A
connection that the server closes is opened again. The program prints "stalling" once all
connections are open, and exits when its standard input ends.
"""

import contextlib
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BEGINNINGS = {
    "head": b"GET / HTTP/1.1\r\nHost: x\r\nX-Stalled: ",
    "body": b"POST /api/v1/artifacts HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n",
}


@dataclass
class Staller:
    """A stalling connection, which first sends `beginning`. It sends slowly, unless `reads`."""

    port: int
    beginning: bytes
    reads: bool
    client: socket.socket = field(init=False)

    def open(self) -> None:
        self.client = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        self.client.sendall(self.beginning)
        if self.reads:
            self.client.recv(1)
        self.client.setblocking(False)

    def move(self) -> None:
        """Send or read a byte, or open the connection again."""
        try:
            if self.reads:
                is_open = self.client.recv(1) != b""
            else:
                is_open = self.client.send(b"x") == 1 and not self._has_response()
        except BlockingIOError:
            return
        except OSError:
            is_open = False
        if not is_open:
            self.client.close()
            with contextlib.suppress(OSError):
                self.open()

    def _has_response(self) -> bool:
        try:
            return len(self.client.recv(4096)) >= 0
        except BlockingIOError:
            return False


def main(port: str, way: str, count: str, path: str = "", *headers: str) -> None:
    beginning = _BEGINNINGS.get(way, b"")
    if way == "reader":
        lines = [f"GET {path} HTTP/1.1", "Host: x", *headers]
        beginning = ("\r\n".join(lines) + "\r\n\r\n").encode()
    stallers = [Staller(int(port), beginning, way == "reader") for _ in range(int(count))]
    for staller in stallers:
        staller.open()
    sys.stdout.write("stalling\n")
    sys.stdout.flush()
    while not select.select([sys.stdin], [], [], 0)[0]:
        due = time.monotonic() + 1.0
        for staller in stallers:
            staller.move()
        time.sleep(max(0.0, due - time.monotonic()))


@contextlib.contextmanager
def run_stalling_clients(port: int, way: str, count: int, *options: str) -> Iterator[None]:
    """Run `count` stalling clients in a separate process during the block."""
    command = [sys.executable, "-m", "tests.faults.stalling", str(port), way, str(count), *options]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "stalling\n"
        yield
    finally:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
