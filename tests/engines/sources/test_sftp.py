"""SFTP servers: listings, keys, hostile names and every failure of a host."""

import asyncio
import os
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from paramiko import Message, Transport
from paramiko.common import MSG_CHANNEL_EXTENDED_DATA, MSG_EXT_INFO
from paramiko.sftp import SFTPError
from paramiko.sftp_attr import SFTPAttributes

from app.engines.sources import limits
from app.engines.sources.model import HostErrorKind, ObjectMissing
from app.engines.sources.registry import TYPES
from app.engines.sources.sftp_attributes import read_attributes
from tests.engines.sources import sftp_server
from tests.engines.sources.conftest import Open, OpenHost
from tests.engines.sources.hosts import CuttingProxy, drip, find_closed_port, run_host
from tests.engines.sources.network import LoopbackNetwork
from tests.engines.sources.reading import (
    browse,
    expect_error,
    expect_missing,
    get_versions,
    list_documents,
    list_paths,
    read,
    write_files,
)
from tests.engines.sources.sftp_server import PASSWORD as SECRET
from tests.engines.sources.sftp_server import Server

LARGE = os.urandom(3_000_001)
_UNKNOWN_MESSAGE = 191
FILES = {
    "2029/a.txt": b"letter a",
    "2029/deep/c.txt": b"letter c",
    "b.txt": b"letter b",
    "empty.txt": b"",
    "large.bin": LARGE,
}
PATHS = list(FILES)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("sftp"))
    yield server
    server.stop()


@pytest.fixture
def folder(server: Server, tmp_path: Path) -> Path:
    """Return a new folder on the server for one test."""
    folder = server.folder / tmp_path.name
    write_files(folder, FILES)
    return folder


@pytest.fixture
def open_source(server: Server, folder: Path, open_host: OpenHost) -> Open:
    settings = server.build_settings(f"/{folder.name}")
    return lambda **changes: open_host(TYPES["sftp"], {**settings, **changes})


def test_documents_are_listed_and_read(open_source: Open, network: LoopbackNetwork) -> None:
    source = open_source()
    objects = list_documents(source)
    assert [item.path for item in objects] == PATHS
    assert [item.size for item in objects] == [8, 8, 8, 0, len(LARGE)]
    assert all(item.modified_at is not None for item in objects)
    assert {path: read(source, path) for path in PATHS} == FILES
    assert list_paths(source, PATHS[1]) == PATHS[2:]
    assert len(network.connections) == 1


class _Untyped(asyncssh.SFTPServer):
    """Sends the types of entries only in lines of text."""

    async def scandir(self, path: bytes) -> AsyncIterator[asyncssh.SFTPName]:
        async for entry in super().scandir(path):
            is_folder = stat.S_ISDIR(entry.attrs.permissions or 0)
            entry.longname = b"drwxr-xr-x" if is_folder else b"-rw-r--r--"
            entry.attrs.permissions = None
            yield entry

    def lstat(self, path: bytes) -> asyncssh.SFTPAttrs:
        del path
        return asyncssh.SFTPAttrs(size=8)


def test_entries_without_types_are_listed_and_read(open_source: Open, folder: Path) -> None:
    server = Server(folder, _Untyped)
    source = open_source(**server.build_settings())
    assert list_paths(source) == PATHS
    assert read(source, "b.txt") == b"letter b"
    source.close()
    server.stop()


@pytest.mark.parametrize("count", [2, 2**32 - 1])
def test_extended_attributes_are_skipped(count: int) -> None:
    flags = SFTPAttributes.FLAG_SIZE | SFTPAttributes.FLAG_UIDGID | SFTPAttributes.FLAG_EXTENDED
    message = Message()
    message.add_int(flags)
    message.add_int64(7)
    for number in (1000, 1000, count):
        message.add_int(number)
    for text in ("a", "b", "c", "d", "next"):
        message.add_string(text)
    message.rewind()
    if count > 2:
        with pytest.raises(SFTPError):
            read_attributes(message)
    else:
        assert read_attributes(message) == (0, 7, None)
        assert message.get_string() == b"next"


def test_documents_are_read_while_they_are_listed(open_source: Open) -> None:
    source = open_source()
    is_whole = [len(read(source, item.path)) == item.size for item in list_documents(source)]
    assert is_whole == [True] * 5


def test_a_document_need_not_be_read_to_its_end(
    open_source: Open, network: LoopbackNetwork
) -> None:
    source = open_source()
    with source.open("large.bin") as chunks:
        assert LARGE.startswith(next(chunks))
    assert read(source, "b.txt") == b"letter b"
    assert len(network.connections) == 1


def test_a_folder_is_browsed_level_by_level(open_source: Open) -> None:
    source = open_source()
    assert browse(source, limit=2) == [("2029", True), ("b.txt", False)]
    assert browse(source, "2029") == [("2029/a.txt", False), ("2029/deep", True)]
    with expect_error(HostErrorKind.NOT_FOUND):
        source.browse("2030", 10)


@pytest.mark.parametrize("form", ["openssh", "pkcs8-pem"])
@pytest.mark.parametrize("kind", ["ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-rsa"])
def test_a_private_key_signs_in(open_source: Open, server: Server, form: str, kind: str) -> None:
    options = {"key_size": 2048} if kind == "ssh-rsa" else {}
    server.key = asyncssh.generate_private_key(kind, **options)
    key = server.key.export_private_key(form).decode()
    source = open_source(password=None, private_key=key)
    assert read(source, "b.txt") == b"letter b"


def test_an_encrypted_private_key_signs_in(open_source: Open, server: Server) -> None:
    key = server.key.export_private_key("pkcs8-pem", passphrase="p" + SECRET).decode()
    source = open_source(password=None, private_key=key, passphrase="p" + SECRET)
    assert list_paths(source) == PATHS
    with expect_error(HostErrorKind.CREDENTIALS_REFUSED, "wrong"):
        open_source(password=None, private_key=key, passphrase="wrong")


def test_the_key_of_the_host_may_be_given_in_full(open_source: Open, server: Server) -> None:
    public = server.host_key.export_public_key().decode()
    assert list_paths(open_source(host_key=public)) == PATHS


@pytest.mark.parametrize(
    "changes",
    [{"password": "wrong"}, {"username": "nobody"}, {"private_key": "no key", "password": None}],
)
def test_refused_credentials_are_explained(open_source: Open, changes: dict[str, Any]) -> None:
    with expect_error(HostErrorKind.CREDENTIALS_REFUSED, "wrong", "no key"):
        open_source(**changes)


def test_another_key_of_the_host_is_refused_before_signing_in(
    open_source: Open, server: Server
) -> None:
    other = asyncssh.generate_private_key("ssh-ed25519")
    for host_key in (other.get_fingerprint(), other.export_public_key().decode()):
        with expect_error(HostErrorKind.NOT_ALLOWED) as caught:
            open_source(host_key=host_key)
        assert server.host_key.get_fingerprint() in caught.value.message


def test_a_change_has_another_version(open_source: Open, folder: Path) -> None:
    source = open_source()
    before = get_versions(source)
    (folder / "b.txt").write_bytes(b"another letter b")
    after = get_versions(source)
    assert {path for path in after if after[path] != before[path]} == {"b.txt"}
    assert read(source, "b.txt") == b"another letter b"
    (folder / "b.txt").unlink()
    expect_missing(source, "b.txt")


@pytest.mark.parametrize("size", [100, 4_000_000])
def test_a_change_while_reading_is_no_complete_document(
    open_source: Open, folder: Path, size: int
) -> None:
    with open_source().open("large.bin") as chunks:
        next(chunks)
        os.truncate(folder / "large.bin", size)
        with pytest.raises(ObjectMissing):
            list(chunks)


def test_hostile_names_are_listed_and_read(open_source: Open, folder: Path) -> None:
    names = [b"a\nb", b"\xff\xfe.txt", "\u202etxt.exe".encode(), b"%2E%2E", b"\\..\\x", b"n" * 255]
    for name in names:
        Path(os.fsdecode(os.fsencode(folder / "2029") + b"/" + name)).write_bytes(name)
    (folder / "link.txt").symlink_to("b.txt")
    os.mkfifo(folder / "pipe")
    source = open_source()
    paths = [path for path in list_paths(source) if path not in PATHS]
    assert sorted(read(source, path) for path in paths) == sorted(names)
    assert all(path.isprintable() for path in paths)


@pytest.mark.parametrize(
    "path", ["", "2029", "../x", "%2E%2E/x", "a%00", "link.txt", "none", "\ud800"]
)
def test_other_paths_are_no_documents(open_source: Open, folder: Path, path: str) -> None:
    (folder / "link.txt").symlink_to("b.txt")
    expect_missing(open_source(), path)


_ENDLESS_EXTENSIONS = (MSG_EXT_INFO, b"\xff\xff\xff\xff")
"""A message that claims four billion extensions."""


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        pytest.param(_ENDLESS_EXTENSIONS, HostErrorKind.UNREACHABLE, id="endless extensions"),
        pytest.param((_UNKNOWN_MESSAGE,), HostErrorKind.PROTOCOL, id="unknown message"),
    ],
)
def test_a_host_that_sends_a_faulty_message_before_users_sign_in_is_an_error(
    open_source: Open,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    message: tuple[Any, ...],
    kind: HostErrorKind,
) -> None:
    class Users(sftp_server.Users):
        def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
            self._connection = conn

        def begin_auth(self, username: str) -> bool:
            self._connection.send_packet(*message)
            return True

    monkeypatch.setattr(sftp_server, "Users", Users)
    server = Server(folder)
    with expect_error(kind):
        open_source(**server.build_settings())
    server.stop()


class _Undecided(sftp_server.Users):
    """Never decides whether a password is right, as if its directory of users did not respond."""

    async def validate_password(self, username: str, password: str) -> bool:  # type: ignore[override]
        await asyncio.Event().wait()
        return True


def test_a_host_that_does_not_check_the_password_in_time_is_unreachable(
    open_source: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sftp_server, "Users", _Undecided)
    server = Server(folder)
    original = Transport.auth_password

    def authenticate(transport: Transport, *values: Any) -> Any:
        transport.auth_timeout = 0.01
        return original(transport, *values)

    monkeypatch.setattr(Transport, "auth_password", authenticate)
    with expect_error(HostErrorKind.UNREACHABLE):
        open_source(**server.build_settings())
    server.stop()


class _Strict(asyncssh.SFTPServer):
    """Resolves no paths that do not exist."""

    def realpath(self, path: bytes) -> bytes:
        raise asyncssh.SFTPNoSuchFile(path.decode())


def test_a_folder_below_a_missing_one_is_explained(open_source: Open, folder: Path) -> None:
    server = Server(folder, _Strict)
    with expect_error(HostErrorKind.NOT_FOUND):
        open_source(**server.build_settings("/a/b"))
    server.stop()


class _Flood(asyncssh.SFTPServer):
    """Sends ten megabytes of errors, more than the window allows, with each response."""

    def lstat(self, path: bytes) -> asyncssh.SFTPAttrs:
        line = b"\0\0\0\1\0\0\x7d\0" + bytes(0x7D00)
        for _ in range(320):
            self.channel.send_packet(MSG_CHANNEL_EXTENDED_DATA, line)
        return super().lstat(path)


def test_a_host_that_ignores_the_window_is_an_error(open_source: Open, folder: Path) -> None:
    server = Server(folder, _Flood)
    source = open_source(**server.build_settings())
    with expect_error(HostErrorKind.UNREACHABLE):
        read(source, "b.txt")
    server.stop()


def test_a_missing_folder_is_explained(open_source: Open) -> None:
    source = open_source(path="/missing")
    with expect_error(HostErrorKind.NOT_FOUND):
        list_paths(source)


def test_hosts_that_are_not_allowed_are_refused(open_source: Open) -> None:
    with expect_error(HostErrorKind.NOT_ALLOWED):
        open_source(host="192.168.0.1")


def test_a_host_that_does_not_listen_is_unreachable(open_source: Open) -> None:
    with expect_error(HostErrorKind.UNREACHABLE):
        open_source(port=find_closed_port())


def test_a_document_that_breaks_off_is_an_error(open_source: Open, server: Server) -> None:
    proxy = CuttingProxy(server.port)
    with run_host(proxy) as port:
        source = open_source(port=port)
        assert read(source, "b.txt") == b"letter b"
        proxy.limit = 1_000_000
        with source.open("large.bin") as chunks, expect_error(HostErrorKind.UNREACHABLE):
            list(chunks)
        proxy.limit = None
        assert read(source, "large.bin") == LARGE


@pytest.mark.parametrize("greeting", [b"SSH-2.0-x\r\n", b"", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_a_slow_host_ends_by_its_deadline(
    open_source: Open, monkeypatch: pytest.MonkeyPatch, greeting: bytes
) -> None:
    monkeypatch.setattr(limits, "OPERATION_SECONDS", 0.3)

    def script(connection: Any) -> None:
        connection.sendall(greeting)
        drip(connection, b"\x00")

    with run_host(script) as port, expect_error(HostErrorKind.UNREACHABLE):
        open_source(port=port)
