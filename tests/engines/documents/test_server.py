"""The fork server of the document engine."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.engines.documents import Limits, Page, parse, parse_stream, render
from app.engines.documents.processes import start_server, stop_server
from app.engines.sandbox.model import SandboxUnavailable
from tests.engines.documents import samples
from tests.factories.processes import send_signal
from tests.factories.sandboxes import list_fork_servers, list_launchers, list_sandboxed_processes
from tests.factories.waiting import wait_until

PDF = "application/pdf"
ROOT = Path(__file__).resolve().parents[3]


def test_a_server_that_was_killed_is_replaced(long_pdf: Path) -> None:
    pages: list[Page] = []

    def kill(page: Page) -> None:
        pages.append(page)
        for server in list_fork_servers():
            send_signal(server, signal.SIGKILL)

    with pytest.raises(SandboxUnavailable):
        parse_stream(long_pdf, PDF, Limits(), kill)
    assert 0 < len(pages) < 60
    wait_until(lambda: not list_sandboxed_processes(), "the end of what the server had forked")
    assert len(parse(long_pdf, PDF).pages) == 60


def test_parsing_and_rendering_from_threads(tmp_path: Path) -> None:
    paths = [
        samples.stored(tmp_path, samples.pdf([[f"Document {n}"]]), f"{n}.pdf") for n in range(6)
    ]

    def work(number: int) -> tuple[str, bytes]:
        path = paths[number % 6]
        return parse(path, PDF).text, render(path, PDF, 1, width_px=100)

    images = [render(path, PDF, 1, width_px=100) for path in paths]
    assert len(set(images)) == 6
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(48)))
    assert found == [(f"Document {n % 6}", images[n % 6]) for n in range(48)]
    assert len(list_launchers()) == 1


def test_the_server_is_started_ahead_and_shared(tmp_path: Path) -> None:
    stop_server()
    start_server()
    wait_until(list_fork_servers, "the start of the server")
    path = samples.stored(tmp_path, b"words")
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if parse(path, "text/plain").text == "words" and not list_launchers() else 2)
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    before = list_launchers()
    start_server()
    assert parse(path, "text/plain").text == "words"
    assert list_launchers() == before


AS_WORKERS_DO = """
import os, signal, sys
from pathlib import Path
from app.engines.documents import parse
from app.engines.documents.processes import start_server
from tests.factories.processes import has_ended
from tests.factories.waiting import wait_until
from tests.factories.sandboxes import kill, list_fork_servers, list_launchers

start_server()
os.register_at_fork(before=start_server)
wait_until(list_fork_servers)
(first,), (server,) = list_launchers(), list_fork_servers()
kill(first)
wait_until(lambda: has_ended(server))
pid = os.fork()
if pid == 0:
    text = parse(Path(sys.argv[1]), "text/plain").text
    os._exit(0 if text == "words" and not list_launchers() else 2)
assert os.waitpid(pid, 0)[1] == 0
(second,) = list_launchers()
assert second != first
"""


def test_a_worker_replaces_a_killed_launcher_before_it_forks(tmp_path: Path) -> None:
    path = samples.stored(tmp_path, b"words")
    command = [sys.executable, "-c", AS_WORKERS_DO, str(path)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=120)
