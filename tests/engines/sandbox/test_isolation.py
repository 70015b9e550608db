"""What a sandboxed process cannot see or do."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from app.engines.sandbox import confinement, landlock
from app.engines.sandbox.client import ForkServer
from app.engines.sandbox.confinement import UNPRIVILEGED_ID
from tests.engines.sandbox.calls import ENTRIES, KINDS, LIMITS, Calls
from tests.engines.sandbox.conftest import MakeServer
from tests.factories.sandboxes import list_fork_servers, list_launchers, list_sandboxed_processes

SECRET = "do-not-hand-this-on"
DENIED = {"error": "PermissionError"}
ENVIRONMENT = {
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONPATH",
    "PYTHONUTF8",
}
is_root = os.geteuid() == 0
_SECCOMP_MODES = Path("/proc/sys/kernel/seccomp/actions_avail")
needs_seccomp = pytest.mark.skipif(not _SECCOMP_MODES.exists(), reason="the kernel has none")
needs_landlock = pytest.mark.skipif(landlock.get_version() < 6, reason="the kernel is older")


def may_leave_network() -> bool:
    """Return whether the kernel lets a process of this user have a network of its own."""
    flags = 0x40000000 if is_root else 0x50000000
    code = f"import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare({flags}))"
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


needs_namespaces = pytest.mark.skipif(not may_leave_network(), reason="not permitted here")


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_limits(calls: Calls) -> None:
    limits = replace(LIMITS, memory_bytes=700 << 20, cpu_seconds=17)
    assert calls.probe(limits=limits)["limits"] == {
        "AS": [700 << 20, 700 << 20],
        "CORE": [0, 0],
        "CPU": [17, 18],
        "FSIZE": [0, 0],
        "NOFILE": [64, 64],
        "NPROC": [0, 0],
    }


def test_no_process_and_no_thread(calls: Calls) -> None:
    found = calls.probe()
    assert found["fork"] == found["spawn"] == {"error": "BlockingIOError"}
    assert found["thread"] == {"error": "OSError"}


@needs_seccomp
def test_threads_but_no_process(calls: Calls) -> None:
    found = calls.probe(limits=replace(LIMITS, may_start_threads=True))
    assert found["thread"] == "started"
    assert found["limits"]["NPROC"][1] in range(1, confinement.MAX_THREADS + 1)
    assert found["fork"] == found["spawn"] == found["execute"] == DENIED


def test_limits_have_the_names_that_the_previous_release_sends_and_expects(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that runs during an upgrade starts its next fork server from the new files."""
    requests = []
    send_request = ForkServer._send_request

    def record(server: ForkServer, request: bytes, descriptors: list[int]) -> None:
        requests.append(json.loads(request)["limits"])
        send_request(server, request, descriptors)

    monkeypatch.setattr(ForkServer, "_send_request", record)
    assert calls.run("echo", limits=replace(LIMITS, may_start_threads=True)) == [(b"A", b"{}")]
    sizes = {"memory_bytes": 1 << 30, "cpu_seconds": 60, "frame_bytes": 64 << 20}
    assert requests == [{**sizes, "wall_seconds": 120.0, "threads": True}]


def test_environment_and_folder(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", SECRET)
    found = calls.probe()
    assert set(found["environment"]) <= ENVIRONMENT
    assert found["environ file"] == DENIED
    assert found["folder"] == "/"


def test_only_libraries_and_engines_are_in_memory(make_server: MakeServer) -> None:
    documents = "app.engines.documents"
    server = make_server(preload=(f"{documents}.entries", ENTRIES))
    modules = set(Calls(server).probe()["modules"])
    ours = {".".join(name.split(".")[:3]) for name in modules if name.startswith("app.")}
    engines = {
        f"app.engines.{name}" for name in ("interpreter", "normalization", "plurals", "sandbox")
    }
    assert ours == {"app.engines", documents, *engines}
    assert f"{documents}.readers.pdf" in modules
    assert not modules & {"flask", "sqlalchemy", "psycopg2", "redis", "rq"}


def test_open_files_of_others_stay_closed(calls: Calls, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    with ExitStack() as stack:
        file = stack.enter_context(secret.open())
        os.set_inheritable(file.fileno(), True)
        for _ in range(2):  # whose sockets the server holds while it forks the next one
            process = calls.open("misbehave", how="hang", stack=stack)
            assert next(process.iterate_frames(KINDS)) == (b"T", b"before")
        descriptors = calls.probe(document=secret)["descriptors"]
    assert descriptors[:3] == [0, 1, 2]
    assert len(descriptors) == 5  # the results and the document


def test_the_requests_of_others_stay_closed_if_the_caller_has_many_files(
    calls: Calls, tmp_path: Path
) -> None:
    document = tmp_path / "document"
    document.write_bytes(b"content")
    with ExitStack() as stack:
        for _ in range(confinement.MAX_SERVER_OPEN_FILES):
            stack.enter_context(document.open())
        calls.server.start()  # the socket for requests gets a number above the server's limit
        descriptors = calls.probe(document=document)["descriptors"]
    assert descriptors[:3] == [0, 1, 2]
    assert len(descriptors) == 5  # the results and the document


def test_no_privileges(calls: Calls) -> None:
    found = calls.probe()
    assert found["no new privileges"] == 1
    assert found["death signal"] == 9
    assert found["dumpable"] == 0
    if is_root:
        assert found["ids"] == [UNPRIVILEGED_ID] * 6
    assert found["capabilities"] == [0] * 6


@needs_landlock
def test_no_files(calls: Calls) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        path = folder / "document of another tenant"
        path.write_text(SECRET)
        path.chmod(0o666)
        found = calls.probe(path=str(path))
        assert [found[name] for name in ("read", "list", "write", "create")] == [DENIED] * 4
        assert path.read_text() == SECRET
        assert [file.name for file in folder.iterdir()] == [path.name]


@needs_landlock
def test_no_other_process_can_be_signalled_or_traced(calls: Calls) -> None:
    found = calls.probe(caller=os.getpid())
    for what in ("signal caller", "signal server", "trace server", "trace caller"):
        assert found[what] == DENIED, what


@needs_namespaces
def test_no_network(calls: Calls, listener: int) -> None:
    found = calls.probe(port=listener)
    assert "error" in found["connect"]
    assert found["reach"] == {"error": "OSError"}
    assert found["interfaces"] == []


def test_random_numbers_differ(calls: Calls) -> None:
    assert calls.probe()["random"] != calls.probe()["random"]


def test_the_server_has_one_thread_and_its_own_session(calls: Calls) -> None:
    calls.run("echo")
    (launcher,), (server,) = list_launchers(), list_fork_servers()
    assert (launcher.num_threads(), server.num_threads()) == (1, 1)
    assert os.getsid(launcher.pid) == launcher.pid != os.getsid(0)


@pytest.mark.skipif(not is_root, reason="only root may look into the server's memory")
def test_the_server_holds_nothing_of_documents_or_of_the_caller(
    calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = [os.urandom(16).hex().encode() for _ in range(2)]
    monkeypatch.setenv("SECRET_KEY", marks[0].decode())
    document = tmp_path / "document"
    document.write_bytes(marks[1] * 100)
    assert calls.run("echo", document=document)[1] == (b"T", marks[1] * 100)
    (server,) = list_fork_servers()
    assert _count_in_memory(server.pid, b"app.engines.sandbox") > 0
    assert [_count_in_memory(server.pid, mark) for mark in marks] == [0, 0]
    (launcher,) = list_launchers()
    assert [_count_in_memory(launcher.pid, mark) for mark in marks] == [0, 0]


def _count_in_memory(pid: int, needle: bytes) -> int:
    count = 0
    with Path(f"/proc/{pid}/maps").open() as maps, Path(f"/proc/{pid}/mem").open("rb", 0) as memory:
        for line in maps:
            span, access, *_ = line.split()
            if access.startswith("rw"):
                start, end = (int(side, 16) for side in span.split("-"))
                memory.seek(start)
                count += memory.read(end - start).count(needle)
    return count


def test_a_process_left_alone_cannot_outlive_its_limits(calls: Calls) -> None:
    """The kernel ends what spins, whoever waits for it."""
    with ExitStack() as stack:
        limits = replace(LIMITS, cpu_seconds=1)
        process = calls.open("misbehave", how="spin", stack=stack, limits=limits)
        assert next(process.iterate_frames(KINDS)) == (b"T", b"before")
        (child,) = list_sandboxed_processes()
        assert psutil.wait_procs([child], timeout=60)[0]
