"""Test and browse connectors; a slow host delays nobody else."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from app.intake.connectors.service import probing
from app.kit import container, outbound_slots
from app.kit.ids import uuid7
from tests.engines.sources.hosts import drip, run_host
from tests.factories import Org
from tests.factories.orgs import get_data
from tests.factories.waiting import wait_until
from tests.intake.connectors.conftest import ADDRESS, Folder


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Return the port of a host that accepts connections and never answers."""
    with socket.create_server((ADDRESS, 0)) as server:
        yield server.getsockname()[1]


def _test_connector(folder: Folder, connector: dict[str, Any]) -> dict[str, Any]:
    return dict(get_data(folder.admin.post(f"/connectors/{connector['id']}/test")))


def test_a_source_that_answers(folder: Folder) -> None:
    folder.write("a.txt", "words")
    folder.write("sub/b.md", "words")
    tested = _test_connector(folder, folder.connect(include=["*.txt"]))
    assert (tested["ok"], tested["error"]) == (True, None)
    entries = [
        (e["path"], e["is_folder"], e["size_bytes"], e["included"]) for e in tested["entries"]
    ]
    assert entries == [("a.txt", False, 5, True), ("sub", True, None, False)]


@pytest.mark.parametrize(
    ("type_name", "settings", "kind"),
    [
        ("local", {"path": "missing"}, "not_found"),
        ("http", {"url": f"http://{ADDRESS}:9/"}, "unreachable"),
        ("http", {"url": "http://127.0.0.1:9/"}, "not_allowed"),
        ("ftp", {"host": ADDRESS, "port": 9, "username": "u", "password": "p"}, "unreachable"),
        ("ftp", {"host": "127.0.0.1", "username": "u", "password": "p"}, "not_allowed"),
        ("imap", {"host": "10.0.0.1", "username": "u", "password": "p"}, "not_allowed"),
        ("imap", {"host": "169.254.169.254", "username": "u", "password": "p"}, "not_allowed"),
    ],
)
def test_a_source_that_cannot_be_read(
    folder: Folder, type_name: str, settings: dict[str, Any], kind: str
) -> None:
    connector = folder.connect(type=type_name, settings=settings)
    tested = _test_connector(folder, connector)
    assert (tested["ok"], tested["error"]["kind"]) == (False, kind)
    assert tested["error"]["message"].endswith(".")
    browsed = folder.admin.get(f"/connectors/{connector['id']}/browse")
    assert browsed.status_code == 409
    assert browsed.json["error"]["details"]["kind"] == kind
    assert "field" not in browsed.json["error"]


def test_browsing_shows_what_a_crawl_would_read(folder: Folder) -> None:
    for path in ("sub/a.txt", "sub/b.md", "sub/deep/c.txt"):
        folder.write(path, "words")
    connector = folder.connect(exclude=["*.md"])
    path = f"/connectors/{connector['id']}/browse"

    def browse(**query: Any) -> list[tuple[str, bool]]:
        answer = folder.admin.get(path, query_string=query)
        return [(entry["name"], entry["included"]) for entry in get_data(answer)["entries"]]

    assert browse() == [("sub", False)]
    assert browse(path="sub") == [("a.txt", True), ("b.md", False), ("deep", False)]
    assert browse(path="sub", limit=1) == [("a.txt", True)]
    for outside in ("..", "../..", "/etc", "%2E%2E", "sub/../.."):
        refused = folder.admin.get(path, query_string={"path": outside})
        assert (refused.status_code, refused.json["error"]["field"]) == (409, "path")


def test_a_host_that_does_not_answer_is_given_up(
    folder: Folder, silent_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "WAIT_SECONDS", 0.1)
    connector = folder.connect(type="http", settings={"url": f"http://{ADDRESS}:{silent_port}/"})
    tested = _test_connector(folder, connector)
    assert (tested["ok"], tested["error"]["kind"]) == (False, "unreachable")
    again = folder.admin.post(f"/connectors/{connector['id']}/test")
    assert (again.status_code, again.json["error"]["code"]) == (503, "service_unavailable")
    assert again.headers["Retry-After"] == "5"
    assert again.json["error"]["message"].startswith("A connector is already being tested")


def test_a_slow_host_of_another_organization_delays_nobody(
    folder: Folder, other_org: Org, silent_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"http://{ADDRESS}:{silent_port}/"
    body = {"name": "Slow", "type": "http", "settings": {"url": url}}
    api = other_org.api("admin")
    slow = api.post("/connectors", json=body).json["data"]["id"]
    monkeypatch.setattr(probing, "WAIT_SECONDS", 0.1)
    assert api.post(f"/connectors/{slow}/test").json["data"]["ok"] is False
    monkeypatch.setattr(probing, "WAIT_SECONDS", 60.0)
    assert _test_connector(folder, folder.connect())["ok"] is True


def test_probes_are_limited(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "MAX_PROBES", 0)
    refused = folder.admin.post(f"/connectors/{folder.connect()['id']}/test")
    assert refused.status_code == 503, refused.json
    assert refused.json["error"]["message"].startswith("Too many connectors")


@pytest.fixture
def run_probe() -> Callable[[], None]:
    """Return a function that waits until no probe runs."""

    def wait() -> None:
        for thread in threading.enumerate():
            if thread.name == "connector-probe":
                thread.join(30)

    return wait


def test_an_unexpected_answer_is_reported_and_frees_the_place(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, run_probe: Callable[[], None]
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("a defect")

    connector = folder.connect()
    with monkeypatch.context() as patched:
        patched.setattr(probing, "open_source", fail)
        assert _test_connector(folder, connector)["error"]["kind"] == "protocol"
    run_probe()
    assert _test_connector(folder, connector)["ok"] is True


def test_slow_hosts_hold_at_most_half_of_the_threads(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbound_slots, "SLOT_TIMEOUT", 0.01)
    connector = folder.connect()
    with ExitStack() as slow:
        for _ in range(container.settings().web_threads // 2):
            slow.enter_context(outbound_slots.hold_slot(uuid7()))
        refused = folder.admin.post(f"/connectors/{connector['id']}/test")
        assert (refused.status_code, refused.json["error"]["code"]) == (503, "service_unavailable")
    assert _test_connector(folder, connector)["ok"] is True


def _list_endlessly(connection: socket.socket) -> None:
    """Answer each request with another page of a listing, without documents."""
    number = 0
    while connection.recv(65536):
        number += 1
        body = f"""<a><IsTruncated>true</IsTruncated>
            <NextContinuationToken>t{number}</NextContinuationToken>
            <Contents><Key>{number}/</Key><Size>0</Size></Contents></a>""".encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)


ACCOUNT = {"username": "reader", "password": "secret", "tls": False}
BUCKET = {"bucket": "papers", "access_key_id": "key", "secret_access_key": "secret"}


def test_patterns_that_take_long_end_a_probe(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write("a.txt", "words")
    connector = folder.connect(include=["*.txt"])
    monkeypatch.setattr(probing, "MATCH_SECONDS", -1.0)
    assert _test_connector(folder, connector)["error"]["kind"] == "not_allowed"


@pytest.mark.usefixtures("_allow_loopback")
@pytest.mark.parametrize(("size", "shown"), [("7", 7), ("-7", None), ("9" * 30, None)])
def test_impossible_sizes_are_not_shown(folder: Folder, size: str, shown: int | None) -> None:
    body = f"<a><Contents><Key>a.txt</Key><Size>{size}</Size></Contents></a>"

    def list_one(connection: socket.socket) -> None:
        while connection.recv(65536):
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(f"{head}{body}".encode())

    with run_host(list_one) as port:
        settings = {**BUCKET, "endpoint_url": f"http://127.0.0.1:{port}"}
        tested = _test_connector(folder, folder.connect(type="s3", settings=settings))
    assert [entry["size_bytes"] for entry in tested["entries"]] == [shown]


@pytest.mark.usefixtures("_allow_loopback")
@pytest.mark.parametrize(
    ("type_name", "settings", "script"),
    [
        ("s3", BUCKET, _list_endlessly),
        ("ftp", ACCOUNT, lambda connection: connection.recv(1)),
        ("imap", ACCOUNT, lambda connection: drip(connection, b"*")),
    ],
)
def test_a_probe_that_does_not_end_is_ended(
    folder: Folder,
    monkeypatch: pytest.MonkeyPatch,
    type_name: str,
    settings: dict[str, Any],
    script: Callable[[socket.socket], None],
) -> None:
    monkeypatch.setattr(probing, "WAIT_SECONDS", 0.1)
    monkeypatch.setattr(probing, "PROBE_SECONDS", 1.0)
    with run_host(script) as port:
        place = {"host": "127.0.0.1", "port": port}
        if type_name == "s3":
            place = {"endpoint_url": f"http://127.0.0.1:{port}"}
        connector = folder.connect(type=type_name, settings={**settings, **place})
        assert _test_connector(folder, connector)["error"]["kind"] == "unreachable"
        wait_until(
            lambda: folder.org.id not in probing._probing_organization_ids,
            "the probe to end",
            seconds=10,
        )


def test_a_thread_that_cannot_be_started_frees_the_place(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "connector-probe":
            raise RuntimeError("can't start new thread")
        start(thread)

    connector = folder.connect()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        refused = folder.admin.post(f"/connectors/{connector['id']}/test")
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert _test_connector(folder, connector)["ok"] is True
