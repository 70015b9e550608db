"""Mailboxes: messages in order of their arrival, and every failure of a host."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from app.engines.sources import limits
from app.engines.sources.model import HostErrorKind, ObjectMissing
from app.engines.sources.registry import TYPES
from tests.engines.sources.conftest import Open, OpenHost
from tests.engines.sources.hosts import drip, find_closed_port, run_host
from tests.engines.sources.imap_server import PASSWORD, USER, Mailbox, Server
from tests.engines.sources.reading import (
    browse,
    expect_error,
    get_versions,
    list_documents,
    list_paths,
    read,
)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.stop()


@pytest.fixture
def mailbox(server: Server, request: pytest.FixtureRequest) -> Iterator[Mailbox]:
    mailbox = Mailbox(server, f"Box-{abs(hash(request.node.name))}")
    yield mailbox
    mailbox.close()


@pytest.fixture
def open_source(open_host: OpenHost, server: Server) -> Open:
    account = {"username": USER, "password": PASSWORD}
    settings = {"host": "127.0.0.1", "port": server.port, "tls": False, **account}
    return lambda **changes: open_host(TYPES["imap"], {**settings, **changes})


def test_messages_are_listed_and_read(open_source: Open, mailbox: Mailbox) -> None:
    mails = [mailbox.add(number) for number in range(5)]
    source = open_source(folder=mailbox.name)
    objects = list_documents(source)
    assert [item.size for item in objects] == [len(mail) for mail in mails]
    assert [read(source, item.path) for item in objects] == mails
    assert list_paths(source, objects[1].path) == [item.path for item in objects[2:]]
    assert get_versions(source) == {item.path: item.version for item in objects}
    assert browse(source, limit=2) == [(item.path, False) for item in objects[:2]]
    assert not mailbox.is_seen()


def test_messages_of_two_folders_have_different_versions(
    open_source: Open, mailbox: Mailbox, server: Server
) -> None:
    """Folders that were created together can have the same UIDVALIDITY and the same UIDs."""
    other = Mailbox(server, f"{mailbox.name}-other")
    for each in (mailbox, other):
        each.add(1)
    first, second = (get_versions(open_source(folder=each.name)) for each in (mailbox, other))
    other.close()
    assert first.keys() == second.keys()
    (prefix, other_prefix) = (
        next(iter(versions.values())).split("-")[0] for versions in (first, second)
    )
    assert prefix != other_prefix


def test_new_messages_come_last_and_deleted_ones_are_missing(
    open_source: Open, mailbox: Mailbox
) -> None:
    mailbox.add(1)
    source = open_source(folder=mailbox.name)
    (first,) = list_paths(source)
    second = mailbox.add(2)
    added = list_paths(open_source(folder=mailbox.name), first)
    assert [read(open_source(folder=mailbox.name), path) for path in added] == [second]
    mailbox.delete(1)
    with pytest.raises(ObjectMissing), open_source(folder=mailbox.name).open(first) as chunks:
        list(chunks)


@pytest.mark.parametrize("path", ["", "0.eml", "x.eml", "../1.eml", "1.eml\r\nLOGOUT"])
def test_other_paths_are_no_messages(open_source: Open, path: str) -> None:
    with pytest.raises(ObjectMissing), open_source().open(path) as chunks:
        list(chunks)


def test_refused_credentials_are_explained(open_source: Open) -> None:
    for changes in ({"password": "wrong"}, {"username": "nobody"}):
        with expect_error(HostErrorKind.CREDENTIALS_REFUSED, "wrong", PASSWORD):
            open_source(**changes)


def test_a_missing_folder_is_explained(open_source: Open) -> None:
    with expect_error(HostErrorKind.NOT_FOUND):
        open_source(folder="Missing")


def test_hosts_that_do_not_answer_are_unreachable(
    open_source: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    with expect_error(HostErrorKind.UNREACHABLE):
        open_source(port=find_closed_port())
    monkeypatch.setattr(limits, "OPERATION_SECONDS", 0.3)
    host = run_host(lambda connection: drip(connection, b"*"))
    with host as port, expect_error(HostErrorKind.UNREACHABLE):
        open_source(port=port)


def test_hosts_that_are_not_allowed_are_refused(open_source: Open) -> None:
    with expect_error(HostErrorKind.NOT_ALLOWED):
        open_source(host="169.254.169.254")


def test_tls_is_demanded_by_default(open_source: Open) -> None:
    with expect_error(HostErrorKind.PROTOCOL, PASSWORD):
        open_source(tls=True)


def test_a_host_that_repeats_a_message_is_an_error(open_source: Open) -> None:
    answers = {
        b"CAPABILITY": b"* CAPABILITY IMAP4rev1\r\n",
        b"EXAMINE": b"* 1000000 EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n",
        b"FETCH": b"* 1 FETCH (UID 1 RFC822.SIZE 10)\r\n",
    }

    def script(connection: Any) -> None:
        connection.sendall(b"* OK ready\r\n")
        for line in islice(connection.makefile("rb"), 1000):
            tag, command = line.split()[:2]
            connection.sendall(answers.get(command, b"") + tag + b" OK done\r\n")

    with run_host(script) as port, expect_error(HostErrorKind.PROTOCOL):
        list_paths(open_source(port=port))


@pytest.mark.parametrize("empty_part", [b'""', b"NIL", b"{0}\r\n"])
def test_a_message_may_end_with_a_whole_part(
    open_source: Open, monkeypatch: pytest.MonkeyPatch, empty_part: bytes
) -> None:
    mail = b"From: a@b.example\r\n\r\nHello\r\n"
    monkeypatch.setattr(limits, "CHUNK_BYTES", len(mail))
    parts = {0: b"{%d}\r\n%b" % (len(mail), mail), len(mail): empty_part}
    answers = {
        b"CAPABILITY": b"* CAPABILITY IMAP4rev1\r\n",
        b"EXAMINE": b"* 1 EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n",
    }

    def script(connection: Any) -> None:
        connection.sendall(b"* OK ready\r\n")
        for line in islice(connection.makefile("rb"), 1000):
            tag, command = line.split()[:2]
            answer = answers.get(command, b"")
            if command == b"UID":
                offset = int(line.split(b"<")[1].split(b".")[0])
                answer = b"* 1 FETCH (UID 7 BODY[]<%d> %b)\r\n" % (offset, parts[offset])
            connection.sendall(answer + tag + b" OK done\r\n")

    with run_host(script) as port:
        assert read(open_source(port=port), "7.eml") == mail
