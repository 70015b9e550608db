"""Fill the pipe of standard output and standard error, and check that the service works."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil
import pytest
import requests

from tests.factories.processes import has_ended
from tests.factories.waiting import wait_until
from tests.faults.conftest import Service, run_service

pytestmark = pytest.mark.xdist_group("faults")


class Pipe:
    """A pipe whose reader can be stopped; `text` is what it has read."""

    def __init__(self) -> None:
        self._reading, self.writing = os.pipe()
        os.set_blocking(self._reading, False)
        self.text = b""
        self._may_read = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        while not self._closed.wait(0.02):
            with self._may_read, suppress(BlockingIOError):
                self.text += os.read(self._reading, 1 << 20)

    @contextmanager
    def block_reader(self) -> Iterator[None]:
        """Fill the pipe completely, and do not read from it during the block."""
        with self._may_read:
            descriptor = os.open(f"/proc/self/fd/{self.writing}", os.O_WRONLY | os.O_NONBLOCK)
            for size in (4096, 1):
                with suppress(BlockingIOError):
                    while True:
                        os.write(descriptor, b"\n" * size)
            os.close(descriptor)
            yield

    def close(self) -> None:
        self._closed.set()
        self._thread.join()
        os.close(self._reading)
        os.close(self.writing)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    pipe = Pipe()
    yield pipe
    pipe.close()


def _list_supervised(service: Service, *words: str) -> list[psutil.Process]:
    """Return the children of the supervisor whose command lines contain all words."""
    supervised = []
    for process in service.processes(*words):
        with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
            if process.ppid() == service.process.pid:
                supervised.append(process)
    return supervised


def test_the_service_works_while_nobody_reads_its_output(pipe: Pipe) -> None:
    with run_service(output=pipe.writing) as service:
        with pipe.block_reader():
            # More requests than the API has threads; each request writes a line.
            for _ in range(40):
                assert requests.get(f"{service.base}/health/live", timeout=30).status_code == 200
                assert service.call("GET", "/artifacts").status_code == 200
            # A job, whose worker writes lines.
            service.upload_and_wait(b"read while nobody reads the log")
            # The supervisor, which reports exits and restarts.
            for word in ("worker.py", "gunicorn"):
                _kill(service, word)
            wait_until(lambda: _is_ready(service), "the API to be ready again")
            last = service.upload_and_wait(b"and once more after the restart")
        wait_until(lambda: b"workers is running again" in pipe.text, "the supervisor's lines")
        wait_until(lambda: last.encode() in pipe.text, "the lines of the requests")
    assert service.process.returncode == 0


def _kill(service: Service, word: str) -> None:
    (old,) = _list_supervised(service, word)
    old.kill()
    wait_until(
        lambda: has_ended(old) and bool(_list_supervised(service, word)),
        "a new process to replace it",
    )


def _is_ready(service: Service) -> bool:
    with suppress(requests.RequestException):
        return requests.get(f"{service.base}/health/ready", timeout=2).ok
    return False
