"""FTP servers, with and without TLS: pyftpdlib serves a folder."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from pyftpdlib.filesystems import AbstractedFS
from pyftpdlib.handlers import FTPHandler, TLS_FTPHandler

from app.engines.sources import ftp, limits
from app.engines.sources.ftp_lines import parse_list_line
from app.engines.sources.model import HostError, HostErrorKind, SourceObject
from app.engines.sources.registry import TYPES
from tests.engines.sources.conftest import Open, OpenHost
from tests.engines.sources.ftp_server import PASSWORD as SECRET
from tests.engines.sources.ftp_server import Server
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

LARGE = os.urandom(600_001)
FILES = {"2029/a.txt": b"letter a", "2029/deep/c.txt": b"letter c", "b.txt": b"letter b"}
PATHS = [*FILES, "empty.txt", "large.bin"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_files(tmp_path, {**FILES, "empty.txt": b"", "large.bin": LARGE})
    return tmp_path


@pytest.fixture
def plain(folder: Path) -> Iterator[Server]:
    server = Server(folder, FTPHandler)
    yield server
    server.stop()


@pytest.fixture
def secure(folder: Path, authority: trustme.CA, tmp_path_factory: Any) -> Iterator[Server]:
    pem = tmp_path_factory.mktemp("ftp") / "server.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(pem))
    members = {"tls_control_required": True, "tls_data_required": True, "certfile": str(pem)}
    server = Server(folder, TLS_FTPHandler, **members)
    yield server
    server.stop()


@pytest.fixture
def open_source(open_host: OpenHost) -> Open:
    settings = {"host": "127.0.0.1", "username": "reader", "password": SECRET, "tls": False}
    return lambda port, **changes: open_host(TYPES["ftp"], {**settings, "port": port, **changes})


def test_documents_are_listed_and_read(open_source: Open, plain: Server) -> None:
    source = open_source(plain.port)
    objects = list_documents(source)
    assert [item.path for item in objects] == PATHS
    assert [item.size for item in objects] == [8, 8, 8, 0, len(LARGE)]
    assert [read(source, path) for path in PATHS] == [*FILES.values(), b"", LARGE]
    assert list_paths(source, PATHS[1]) == PATHS[2:]
    assert get_versions(source) == {item.path: item.version for item in objects}


class _OldHandler(FTPHandler):
    """A server without MLSD, whose listings have no exact times."""

    requests: list[str] = []

    def ftp_FEAT(self, line: str) -> None:
        del line
        self.respond("211 none")

    def ftp_MDTM(self, path: str) -> str | None:
        self.requests.append(Path(path).name)
        result: str | None = super().ftp_MDTM(path)
        return result


class _OnlyNames:
    def __init__(self, *names: str) -> None:
        self._names = names

    def is_included(self, path: str) -> bool:
        return path.endswith(self._names)

    def may_contain(self, folder: str) -> bool:
        return bool(folder)


def test_a_server_without_mlsd_is_asked_for_the_time_of_each_listed_document(
    open_source: Open, folder: Path, plain: Server
) -> None:
    requests: list[str] = []
    server = Server(folder, _OldHandler, requests=requests)
    source = open_source(server.port)
    listing = source.list_objects(path_filter=_OnlyNames("a.txt", "b.txt"))
    assert next(item for item in listing if isinstance(item, SourceObject)).path == PATHS[0]
    assert requests == ["a.txt"]
    assert {item.path for item in listing if isinstance(item, SourceObject)} == {"b.txt"}
    assert requests == ["a.txt", "b.txt"]
    assert get_versions(source) == get_versions(open_source(plain.port))
    requests.clear()
    assert browse(source, limit=2) == [("2029", True), ("b.txt", False)]
    assert requests == ["b.txt"]
    source.close()
    server.stop()


class _NamesWithSpaces(AbstractedFS):
    """Shows owners and groups as a server in a Windows domain does."""

    def get_user_by_uid(self, uid: int) -> str:
        return "Jane Doe"

    def get_group_by_gid(self, gid: int) -> str:
        return "Domain Users"


def test_names_of_owners_and_groups_may_contain_spaces(open_source: Open, folder: Path) -> None:
    server = Server(folder, _OldHandler, requests=[], abstracted_fs=_NamesWithSpaces)
    source = open_source(server.port)
    assert list_paths(source) == PATHS
    source.close()
    server.stop()


@pytest.mark.parametrize(
    ("line", "name", "size"),
    [
        ("-rw-r--r-- 1 1000 1000 512 Jan 01 12:00 a.txt", "a.txt", 512),
        ("-rw-r--r--   1 owner 512 Jan  1  2023 7 Feb 02 11:00 b", "7 Feb 02 11:00 b", 512),
        ("-rw-r--r--+ 2 CORP\\jane doe CORP\\domain users 0 Mar 14 09:26  c", " c", 0),
        ("-rw-r--r-- 1 ftp ftp 512 2026-11-29 10:00 d 1.txt", "d 1.txt", 512),
        ("-rw-r--r-- 1 ftp ftp 512 2026-11-29 10:00:07 e.txt", "e.txt", 512),
        ("11-29-26  10:00AM                  512 f.txt", "f.txt", 512),
        ("2026-11-29  10:00                  512 g 2.txt", "g 2.txt", 512),
        ("2026-11-29  10:00 AM               512 h.txt", "h.txt", 512),
    ],
)
def test_columns_of_listings(line: str, name: str, size: int) -> None:
    assert parse_list_line(line) == (name, False, f"{size}-None", size, None)


class _OtherFormat(_OldHandler):
    """Lists folders in the format of another operating system."""

    lines: tuple[bytes, ...]

    def ftp_LIST(self, path: str) -> str:
        self.push_dtp_data(b"".join(line + b"\r\n" for line in self.lines), cmd="LIST")
        return path


_ENTRY = b"A.TXT;1  3/4  29-NOV-2026 10:00  [SYSTEM]  (RWED,RE,,)"


@pytest.mark.parametrize("lines", [(_ENTRY,), (b"total 1", _ENTRY)])
def test_listings_in_unknown_formats_are_errors(
    open_source: Open, folder: Path, lines: tuple[bytes, ...]
) -> None:
    server = Server(folder, _OtherFormat, requests=[], lines=lines)
    with expect_error(HostErrorKind.PROTOCOL, SECRET):
        list_paths(open_source(server.port))
    server.stop()


@pytest.mark.parametrize(
    "lines",
    [
        (),
        (b"total 0",),
        (b"drwxr-xr-x 2 ftp ftp 4096 Nov 29 10:00 .", b"drwxr-xr-x 2 ftp ftp 4096 Nov 29 10:00 .."),
        (b"lrwxrwxrwx 1 ftp ftp 5 Nov 29 10:00 a -> b.txt", b"crw-rw---- 1 ftp ftp 1, 3 Nov 29 n"),
    ],
)
def test_folders_without_documents_are_empty(
    open_source: Open, folder: Path, lines: tuple[bytes, ...]
) -> None:
    server = Server(folder, _OtherFormat, requests=[], lines=lines)
    assert list_paths(open_source(server.port)) == []
    server.stop()


def test_lines_that_are_too_long_are_skipped(
    open_source: Open, plain: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / f"{'x' * 200}.txt").write_bytes(b"long")
    assert len(list_paths(open_source(plain.port))) == len(PATHS) + 1
    monkeypatch.setattr(ftp, "_MAX_LINE_BYTES", 200)
    assert list_paths(open_source(plain.port)) == PATHS


def test_documents_are_read_over_tls(
    open_source: Open, secure: Server, authority: trustme.CA
) -> None:
    certificate = authority.cert_pem.bytes().decode()
    source = open_source(secure.port, tls=True, ca_certificate=certificate)
    assert list_paths(source) == PATHS
    assert read(source, "large.bin") == LARGE


def test_unknown_authorities_and_missing_tls_are_explained(
    open_source: Open, secure: Server, plain: Server
) -> None:
    for server, part in ((secure, "certificate"), (plain, "TLS")):
        with expect_error(HostErrorKind.PROTOCOL, SECRET) as caught:
            open_source(server.port, tls=True)
        assert part in caught.value.message


def test_a_folder_is_browsed_level_by_level(open_source: Open, plain: Server) -> None:
    source = open_source(plain.port)
    assert browse(source, limit=2) == [("2029", True), ("b.txt", False)]
    assert browse(source, "2029") == [("2029/a.txt", False), ("2029/deep", True)]
    with expect_error(HostErrorKind.NOT_FOUND):
        source.browse("2030", 10)


def test_refused_credentials_are_explained(open_source: Open, plain: Server) -> None:
    for changes in ({"password": "wrong"}, {"username": "nobody"}):
        with expect_error(HostErrorKind.CREDENTIALS_REFUSED, "wrong", SECRET):
            open_source(plain.port, **changes)


def test_a_change_has_another_version(open_source: Open, plain: Server, folder: Path) -> None:
    source = open_source(plain.port)
    before = get_versions(source)
    (folder / "b.txt").write_bytes(b"another letter b")
    after = get_versions(source)
    assert {path for path in after if after[path] != before[path]} == {"b.txt"}
    (folder / "b.txt").unlink()
    expect_missing(source, "b.txt")


@pytest.mark.parametrize("path", ["", "../x", "%2E%2E/x", "a%0D%0ADELE b.txt", "none", "\ud800"])
def test_other_paths_are_no_documents(open_source: Open, plain: Server, path: str) -> None:
    expect_missing(open_source(plain.port), path)


def test_a_document_that_breaks_off_is_an_error(
    open_source: Open, plain: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "huge.bin").write_bytes(LARGE * 20)
    source = open_source(plain.port)
    with source.open("huge.bin") as chunks:
        next(chunks)
        plain.stop()
        with expect_error(HostErrorKind.UNREACHABLE):
            list(chunks)


def test_data_connections_go_to_the_same_host(open_source: Open, network: LoopbackNetwork) -> None:
    """The address that a server sends for data connections is ignored."""

    def script(connection: socket.socket) -> None:
        answers = {
            b"EPSV": b"500 no\r\n",
            b"PASV": b"227 (10,0,0,1,0,9)\r\n",
            b"PWD": b'257 "/"\r\n',
            b"FEAT": b"211 no\r\n",
        }
        connection.sendall(b"220 x\r\n")
        for line in connection.makefile("rb"):
            command = line.split()[0].upper()
            connection.sendall(answers.get(command, b"230 x\r\n"))

    with run_host(script) as port, pytest.raises(HostError):
        list_paths(open_source(port))
    assert {host for host, _ in network.connections} == {"127.0.0.1"}


def test_hosts_that_do_not_answer_are_unreachable(
    open_source: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    with expect_error(HostErrorKind.UNREACHABLE):
        open_source(find_closed_port())
    monkeypatch.setattr(limits, "OPERATION_SECONDS", 0.3)
    host = run_host(lambda connection: drip(connection, b"2"))
    with host as port, expect_error(HostErrorKind.UNREACHABLE):
        open_source(port)


def test_hosts_that_are_not_allowed_are_refused(open_source: Open) -> None:
    with expect_error(HostErrorKind.NOT_ALLOWED):
        open_source(21, host="192.168.0.1")


def test_a_lost_connection_is_opened_again(open_source: Open, plain: Server) -> None:
    proxy = CuttingProxy(plain.port)
    with run_host(proxy) as port:
        source = open_source(port)
        proxy.cut()
        with pytest.raises(HostError):
            list_paths(source)
        source.close()
        assert list_paths(source) == PATHS
