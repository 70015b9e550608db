"""SFTP servers: complete files only, refusals, and every failure of a host."""

import errno
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import asyncssh
import pytest

from app.engines.destinations import limits
from app.engines.destinations.registry import TYPES
from app.engines.destinations.sftp import SftpDestination
from app.engines.sources import limits as source_limits
from app.engines.sources.model import HostErrorKind
from tests.engines.destinations.files import (
    build_damaged_file,
    build_file,
    build_short_file,
    build_unreadable_file,
    expect_exception,
    fail_to_send,
    ignore,
    shorten_deadline,
    stop_delivery,
)
from tests.engines.destinations.proxies import UploadProxy
from tests.engines.sources.conftest import OpenHost
from tests.engines.sources.hosts import find_closed_port, run_host
from tests.engines.sources.network import LoopbackNetwork
from tests.engines.sources.reading import expect_error
from tests.engines.sources.sftp_server import PASSWORD as SECRET
from tests.engines.sources.sftp_server import Server
from tests.factories.waiting import LONG, expect_to_end_soon

CONTENT = os.urandom(3_000_001)
Open = Callable[..., SftpDestination]


class FaultySftp(asyncssh.SFTPServer):
    """Raises the exception in `faults` for an operation."""

    faults: ClassVar[dict[str, Exception]] = {}

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> Any:
        self._fail("open")
        return super().open(path, pflags, attrs)

    def write(self, file_obj: Any, offset: int, data: bytes) -> Any:
        if offset > 1_000_000:
            self._fail("write")
        return super().write(file_obj, offset, data)

    def close(self, file_obj: Any) -> Any:
        super().close(file_obj)
        self._fail("close")

    def posix_rename(self, oldpath: bytes, newpath: bytes) -> Any:
        self._fail("posix_rename")
        return super().posix_rename(oldpath, newpath)

    def _fail(self, operation: str) -> None:
        if error := self.faults.get(operation):
            raise error


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("sftp"), FaultySftp)
    yield server
    server.stop()


@pytest.fixture
def faults() -> Iterator[dict[str, Exception]]:
    FaultySftp.faults.clear()
    yield FaultySftp.faults
    FaultySftp.faults.clear()


@pytest.fixture
def folder(server: Server, tmp_path: Path) -> Path:
    """Return a new folder on the server for one test."""
    folder = server.folder / tmp_path.name
    folder.mkdir()
    return folder


@pytest.fixture
def open_destination(server: Server, folder: Path, open_host: OpenHost) -> Open:
    settings = server.build_settings(f"/{folder.name}")
    return lambda **changes: open_host(TYPES["sftp"], {**settings, **changes})


def read_folder(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("content", [CONTENT, b"", b"x"])
def test_a_file_is_delivered(
    open_destination: Open,
    server: Server,
    folder: Path,
    network: LoopbackNetwork,
    content: bytes,
) -> None:
    sent: list[int] = []
    destination = open_destination()
    location = destination.send(build_file(content, "Ärger 50%.csv"), sent.append)
    destination.send(build_file(b"other", "other.csv"), ignore)
    assert location == f"sftp://127.0.0.1:{server.port}/{folder.name}/Ärger 50%.csv"
    assert read_folder(folder) == {"Ärger 50%.csv": content, "other.csv": b"other"}
    assert sent[-1] == len(content)
    assert len(network.connections) == 1


@pytest.mark.parametrize(
    "errors",
    [{}, {"posix_rename": asyncssh.SFTPOpUnsupported("not here")}],
    ids=["with_the_extension", "without_the_extension"],
)
def test_a_file_is_replaced(
    open_destination: Open, folder: Path, faults: dict[str, Exception], errors: dict[str, Exception]
) -> None:
    faults.update(errors)
    destination = open_destination()
    for content in (CONTENT, b"after"):
        destination.send(build_file(content), ignore)
        assert read_folder(folder) == {"export.csv": content}


def test_the_part_of_an_earlier_attempt_is_overwritten(
    open_destination: Open, folder: Path
) -> None:
    file = build_file(CONTENT)
    part = folder / f".export.csv.{file.sha256[:16]}.part"
    part.write_bytes(CONTENT[:1_000_000])
    open_destination().send(file, ignore)
    assert read_folder(folder) == {"export.csv": CONTENT}


def test_a_part_of_another_size_is_not_renamed(open_destination: Open, folder: Path) -> None:
    file = build_file(CONTENT)
    part = folder / f".export.csv.{file.sha256[:16]}.part"
    part.write_bytes(CONTENT + b"more")
    destination = open_destination()
    message = fail_to_send(destination, file, HostErrorKind.PROTOCOL)
    assert "a different number of bytes" in message
    assert read_folder(folder) == {}
    destination.send(file, ignore)
    assert read_folder(folder) == {"export.csv": CONTENT}


def test_two_attempts_at_the_same_time_leave_one_complete_file(
    open_destination: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second attempt starts and ends while the first attempt is halfway."""
    monkeypatch.setattr(limits, "PROGRESS_SECONDS", 0)
    file = build_file(CONTENT)
    first, second = open_destination(), open_destination()
    pending = [second]

    def send_again(sent: int) -> None:
        if sent > 1_000_000 and pending:
            pending.pop().send(file, ignore)
            assert read_folder(folder) == {"export.csv": CONTENT}

    fail_to_send(first, file, HostErrorKind.UNREACHABLE, on_progress=send_again)
    assert read_folder(folder) == {"export.csv": CONTENT}


def test_an_attempt_does_not_harm_what_another_one_has_written(
    open_destination: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second attempt starts while the first attempt is halfway, and ends after it."""
    monkeypatch.setattr(limits, "PROGRESS_SECONDS", 0)
    file = build_file(CONTENT)
    first, second = open_destination(), open_destination()
    has_begun, may_continue = threading.Event(), threading.Event()

    def wait(sent: int) -> None:
        has_begun.set()
        may_continue.wait(LONG)

    with ThreadPoolExecutor(1) as pool:
        attempts: list[Future[str]] = []

        def send_again(sent: int) -> None:
            if sent > 1_000_000 and not attempts:
                attempts.append(pool.submit(second.send, file, wait))
                assert has_begun.wait(LONG)

        try:
            first.send(file, send_again)
            delivered = read_folder(folder)
        finally:
            may_continue.set()
        with expect_error(HostErrorKind.UNREACHABLE):
            attempts[0].result(LONG)
    assert delivered == {"export.csv": CONTENT}
    assert read_folder(folder) == {"export.csv": CONTENT}


@pytest.mark.parametrize("changes", [{"password": "wrong"}, {"username": "nobody"}])
def test_refused_credentials_are_explained(open_destination: Open, changes: Any) -> None:
    with expect_error(HostErrorKind.CREDENTIALS_REFUSED, "wrong", SECRET):
        open_destination(**changes)


def test_another_key_of_the_host_is_refused(open_destination: Open, server: Server) -> None:
    other = asyncssh.generate_private_key("ssh-ed25519")
    with expect_error(HostErrorKind.NOT_ALLOWED) as caught:
        open_destination(host_key=other.get_fingerprint())
    assert server.host_key.get_fingerprint() in caught.value.message


def test_hosts_that_are_not_allowed_are_refused(open_destination: Open) -> None:
    with expect_error(HostErrorKind.NOT_ALLOWED):
        open_destination(host="192.168.0.1")


def test_a_host_that_does_not_listen_is_unreachable(open_destination: Open) -> None:
    with expect_error(HostErrorKind.UNREACHABLE):
        open_destination(port=find_closed_port())


def test_a_missing_folder_is_explained(open_destination: Open) -> None:
    destination = open_destination(path="/missing")
    message = fail_to_send(destination, build_file(CONTENT), HostErrorKind.NOT_FOUND)
    assert message == "The folder does not exist."


@pytest.mark.parametrize(
    ("operation", "error", "text"),
    [
        ("open", asyncssh.SFTPPermissionDenied("no"), "not allowed to write"),
        ("write", OSError(errno.ENOSPC, "No space left on device"), "disk of the server is full"),
        ("write", OSError(errno.EDQUOT, "Disk quota exceeded"), "disk of the server is full"),
        ("write", asyncssh.SFTPFailure("Failure"), "Its disk may be full"),
        ("close", OSError(errno.ENOSPC, "No space left on device"), "disk of the server is full"),
        ("posix_rename", asyncssh.SFTPPermissionDenied("no"), "not allowed to write"),
    ],
)
def test_refusals_leave_the_file_before(
    open_destination: Open,
    folder: Path,
    faults: dict[str, Exception],
    operation: str,
    error: Exception,
    text: str,
) -> None:
    destination = open_destination()
    destination.send(build_file(b"before"), ignore)
    faults[operation] = error
    message = fail_to_send(destination, build_file(CONTENT), HostErrorKind.NOT_ALLOWED)
    assert text in message
    assert read_folder(folder) == {"export.csv": b"before"}
    faults.clear()
    destination.send(build_file(CONTENT), ignore)
    assert read_folder(folder) == {"export.csv": CONTENT}


def test_a_folder_with_the_name_of_the_file_stays(open_destination: Open, folder: Path) -> None:
    (folder / "export.csv").mkdir()
    message = fail_to_send(open_destination(), build_file(CONTENT), HostErrorKind.NOT_ALLOWED)
    assert "a folder with the same name" in message
    assert (folder / "export.csv").is_dir()
    assert read_folder(folder) == {}


@pytest.mark.parametrize("build", [build_damaged_file, build_short_file])
def test_a_damaged_file_is_not_delivered(
    open_destination: Open, folder: Path, build: Callable[[bytes], Any]
) -> None:
    message = fail_to_send(open_destination(), build(CONTENT), HostErrorKind.PROTOCOL)
    assert "stored file is damaged" in message
    assert read_folder(folder) == {}


def test_a_lost_connection_leaves_the_file_before(
    open_destination: Open, server: Server, folder: Path
) -> None:
    proxy = UploadProxy(server.port)
    with run_host(proxy) as port:
        destination = open_destination(port=port)
        destination.send(build_file(b"before"), ignore)
        proxy.cut_after = 1_000_000
        fail_to_send(destination, build_file(CONTENT), HostErrorKind.UNREACHABLE)
        assert read_folder(folder)["export.csv"] == b"before"
        proxy.cut_after = None
        destination.send(build_file(CONTENT), ignore)
    assert read_folder(folder) == {"export.csv": CONTENT}


def test_an_exception_of_the_progress_ends_the_delivery(
    open_destination: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PROGRESS_SECONDS", 0)
    stop_delivery(open_destination(), build_file(CONTENT), after=1_000_000)
    assert read_folder(folder) == {}


def test_an_exception_of_the_storage_ends_the_delivery(
    open_destination: Open, folder: Path
) -> None:
    error = FileNotFoundError("the storage is gone")
    with expect_exception(error):
        open_destination().send(build_unreadable_file(CONTENT, error), ignore)
    assert read_folder(folder) == {}


@pytest.mark.parametrize("limit", ["deadline", "silence"])
def test_a_slow_host_ends_by_its_limits(
    open_destination: Open,
    server: Server,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
) -> None:
    proxy = UploadProxy(server.port)
    proxy.stall_after = 1_000_000
    if limit == "silence":
        monkeypatch.setattr(source_limits, "IDLE_SECONDS", 2.0)
    with run_host(proxy) as port, expect_to_end_soon():
        destination = open_destination(port=port)
        if limit == "deadline":
            shorten_deadline(monkeypatch, 1.0)
            monkeypatch.setattr(limits, "CLEANUP_SECONDS", 0.3)
        fail_to_send(destination, build_file(CONTENT), HostErrorKind.UNREACHABLE)
    assert "export.csv" not in read_folder(folder)
