"""Web servers: index pages, lists of URLs, redirects, credentials and failures."""

import base64
import hashlib
import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from app.engines.sources import limits, links
from app.engines.sources.model import HostError, HostErrorKind, Source
from app.engines.sources.registry import TYPES
from tests.engines.sources.conftest import Open, OpenHost
from tests.engines.sources.hosts import find_closed_address, respond, run_web_host
from tests.engines.sources.reading import (
    browse,
    expect_error,
    expect_missing,
    get_versions,
    list_documents,
    list_paths,
    read,
)
from tests.factories.servers import QuickServer, QuietHandler

SECRET = "never-in-a-message"
LARGE = os.urandom(700_000)
INDEX = """<html><base href="/docs/"><a href="../">up</a><a href="?C=N;O=D">sort</a>
<a href="index.html">self</a><a href="b.txt">b</a><a href="/docs/b.txt#part">again</a>
<a href="2029/">folder</a><a href="%C3%84rger%2050%25.txt">name</a><a href="get?id=3">query</a>
<a href="2029/deep.txt">deeper</a><a href="gone.txt">gone</a><a href="large.bin">large</a>
<a href="http://127.0.0.1:1/docs/other.txt">other host</a><a href="mailto:a@example.org">mail</a>
<a href="..%2F..%2Fetc">outside</a><a href="%2E%2E">outside</a><a href="http://[">bad</a>
<a>none</a><a href="/docs2/c.txt">other folder</a><a href="%0D%0Ax: y">line break</a></html>"""


class Server(QuickServer):
    """Serves `pages`: status, headers and body by the target of a request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.requests: list[tuple[str, str, str | None]] = []
        self.pages: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.authorization: str | None = None
        self.fill()

    def fill(self) -> None:
        html = {"Content-Type": "text/html; charset=utf-8"}
        self.pages = {
            "/docs/": (200, html, INDEX.encode()),
            "/docs/index.html": (200, html, INDEX.encode()),
            "/docs/2029/": (200, html, b"<a href=deep.txt>d</a><a href=../>up</a>"),
            "/docs/2029/deep.txt": (200, {"ETag": '"d1"'}, b"deep"),
            "/docs/b.txt": (200, {"ETag": '"b1"'}, b"letter b"),
            "/docs/%C3%84rger%2050%25.txt": (
                200,
                {"Last-Modified": "Mon, 01 Jan 2029 10:00:00 GMT"},
                b"angry",
            ),
            "/docs/get?id=3": (200, {}, b"generated"),
            "/docs/large.bin": (200, {"ETag": '"l1"'}, LARGE),
            "/docs/%0D%0Ax:%20y": (200, {"ETag": '"n1"'}, b"line break"),
        }


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        server = self.server
        authorization = self.headers["Authorization"]
        server.requests.append((self.command, self.path, authorization))
        status, headers, body = server.pages.get(self.path, (404, {}, b""))
        if server.authorization and authorization != server.authorization:
            status, headers, body = 401, {}, b""
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.do_GET()


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Server, Server]]:
    servers = (Server(), Server())
    for server in servers:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield servers
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def server(servers: tuple[Server, Server]) -> Server:
    for server in servers:
        server.fill()
        server.requests.clear()
        server.authorization = None
    return servers[0]


@pytest.fixture
def open_source(server: Server, open_host: OpenHost) -> Open:
    def open_source(**settings: Any) -> Source:
        if "urls" not in settings:
            settings = {"url": f"{server.url}/docs/index.html", **settings}
        return open_host(TYPES["http"], settings)

    return open_source


PATHS = [
    "%0D%0Ax: y",
    "2029/deep.txt",
    "b.txt",
    "get?id=3",
    "large.bin",
    "Ärger 50%.txt",
]


def test_the_documents_of_an_index_page_are_listed_and_read(open_source: Open) -> None:
    source = open_source()
    objects = {item.path: item for item in list_documents(source)}
    assert list(objects) == PATHS
    assert objects["b.txt"].version == '"b1"'
    assert objects["b.txt"].size == 8
    assert objects["get?id=3"].version == hashlib.sha256(b"generated").hexdigest()
    changed_at = objects["Ärger 50%.txt"].modified_at
    assert changed_at is not None
    assert changed_at.isoformat() == "2029-01-01T10:00:00+00:00"
    contents = [b"line break", b"deep", b"letter b", b"generated", LARGE, b"angry"]
    assert [read(source, path) for path in PATHS] == contents


@pytest.mark.parametrize("position", range(len(PATHS)))
def test_a_listing_continues_after_a_path(open_source: Open, position: int) -> None:
    assert list_paths(open_source(), PATHS[position]) == PATHS[position + 1 :]


class _Excluding:
    def __init__(self, *paths: str) -> None:
        self.paths = paths

    def is_included(self, path: str) -> bool:
        return path not in self.paths

    def may_contain(self, folder: str) -> bool:
        return folder not in self.paths


def test_excluded_documents_and_folders_are_not_requested(
    open_source: Open, server: Server
) -> None:
    source = open_source()
    objects = list_documents(source, path_filter=_Excluding("2029", "b.txt", "large.bin"))
    assert [item.path for item in objects] == [PATHS[0], PATHS[3], PATHS[5]]
    targets = {target for _, target, _ in server.requests}
    assert not targets & {"/docs/2029/", "/docs/2029/deep.txt", "/docs/b.txt", "/docs/large.bin"}


def test_a_folder_is_browsed_level_by_level(open_source: Open) -> None:
    source = open_source()
    assert ("2029", True) in browse(source)
    assert browse(source, "2029") == [("2029/deep.txt", False)]
    assert len(browse(source, limit=2)) == 2
    with expect_error(HostErrorKind.NOT_FOUND):
        source.browse("2030", 10)


def test_given_urls_are_listed_and_read(open_source: Open, servers: tuple[Server, Server]) -> None:
    urls = [f"{server.url}/docs/{name}" for server in servers for name in ("b.txt", "gone.txt")]
    source = open_source(urls=[*urls, f"{servers[0].url}/docs/get?id=3"])
    hosts = sorted(server.url.removeprefix("http://") for server in servers)
    assert browse(source) == [(host, True) for host in hosts]
    first = servers[0].url.removeprefix("http://")
    assert browse(source, f"{first}/docs")[0] == (f"{first}/docs/b.txt", False)
    paths = list_paths(source)
    assert len(paths) == 3
    assert f"{first}/docs/get" in paths
    assert read(source, f"{first}/docs/get") == b"generated"
    assert read(source, f"{first}/docs/b.txt") == b"letter b"
    expect_missing(source, f"{first}/docs/large.bin")


def test_the_queries_of_listed_urls_are_in_no_path(open_source: Open, server: Server) -> None:
    server.pages |= {f"/docs/get?id=3&sig={n}": (200, {}, f"{n}".encode()) for n in "ab"}
    names = ["b.txt", "get", "get?id=3&sig=a", "get?id=3&sig=b"]
    server.pages["/docs/get"] = (200, {}, b"none")
    source = open_source(urls=[f"{server.url}/docs/{name}" for name in names])
    paths = list_paths(source)
    assert not any("id=3" in path or "sig" in path for path in paths)
    assert sorted(read(source, path) for path in paths) == [b"a", b"b", b"letter b", b"none"]


def test_a_change_has_another_version(open_source: Open, server: Server) -> None:
    source = open_source()
    before = get_versions(source)
    server.pages["/docs/b.txt"] = (200, {"ETag": '"b2"'}, b"LETTER B")
    server.pages["/docs/get?id=3"] = (200, {}, b"generated again")
    after = get_versions(source)
    changed = {path for path in after if after[path] != before[path]}
    assert changed == {"b.txt", "get?id=3"}
    assert read(source, "b.txt") == b"LETTER B"
    del server.pages["/docs/b.txt"]
    expect_missing(source, "b.txt")
    assert "b.txt" not in list_paths(source)


@pytest.mark.parametrize(
    "path", ["", "../x", "%2E%2E/x", "2029/../../x", "2029/", "a\r\nb", "\ud800"]
)
def test_paths_do_not_leave_the_folder(open_source: Open, server: Server, path: str) -> None:
    expect_missing(open_source(), path)
    assert all(".." not in target for _, target, _ in server.requests)


@pytest.mark.parametrize(
    ("settings", "header"),
    [
        (
            {"username": "reader", "password": SECRET},
            "Basic " + base64.b64encode(f"reader:{SECRET}".encode()).decode(),
        ),
        ({"token": SECRET}, f"Bearer {SECRET}"),
    ],
)
def test_credentials_are_sent_to_their_host_only(
    open_source: Open, servers: tuple[Server, Server], settings: dict[str, str], header: str
) -> None:
    server, other = servers
    server.authorization = header
    server.pages["/docs/b.txt"] = (302, {"Location": f"{other.url}/docs/b.txt"}, b"")
    server.pages["/docs/large.bin"] = (307, {"Location": "2029/deep.txt"}, b"")
    source = open_source(**settings)
    assert read(source, "b.txt") == b"letter b"
    assert read(source, "large.bin") == b"deep"
    assert {sent for _, _, sent in server.requests} == {header}
    assert {sent for _, _, sent in other.requests} == {None}


def test_credentials_need_one_host(open_source: Open, servers: tuple[Server, Server]) -> None:
    urls = [f"{server.url}/docs/b.txt" for server in servers]
    with expect_error(HostErrorKind.NOT_ALLOWED, SECRET):
        open_source(urls=urls, token=SECRET)


def test_refused_credentials_are_explained(open_source: Open, server: Server) -> None:
    server.authorization = "Bearer other"
    with expect_error(HostErrorKind.CREDENTIALS_REFUSED, SECRET):
        list_paths(open_source(token=SECRET))


@pytest.mark.parametrize(
    ("location", "kind"),
    [
        ("/docs/b.txt", HostErrorKind.PROTOCOL),
        ("http://192.168.0.1/", HostErrorKind.NOT_ALLOWED),
        ("http://169.254.169.254/latest/", HostErrorKind.NOT_ALLOWED),
        ("file:///etc/passwd", HostErrorKind.PROTOCOL),
        ("http://user:word@127.0.0.1/", HostErrorKind.PROTOCOL),
        ("http://[", HostErrorKind.PROTOCOL),
    ],
)
def test_redirects_end_and_pass_the_guard(
    open_source: Open, server: Server, location: str, kind: HostErrorKind
) -> None:
    server.pages["/docs/b.txt"] = (302, {"Location": location}, b"")
    with expect_error(kind), open_source().open("b.txt"):
        pass
    assert len(server.requests) <= limits.MAX_REDIRECTS + 1


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ((403, {}, b""), HostErrorKind.NOT_ALLOWED),
        ((404, {}, b""), HostErrorKind.NOT_FOUND),
        ((503, {}, b""), HostErrorKind.UNREACHABLE),
        ((418, {}, b""), HostErrorKind.PROTOCOL),
        ((200, {"Content-Type": "text/plain"}, b"no page"), HostErrorKind.PROTOCOL),
        (
            (200, {"Content-Type": "text/html", "Content-Encoding": "gzip"}, b"x"),
            HostErrorKind.PROTOCOL,
        ),
    ],
)
def test_index_pages_that_cannot_be_read_are_explained(
    open_source: Open,
    server: Server,
    page: tuple[int, dict[str, str], bytes],
    kind: HostErrorKind,
) -> None:
    server.pages["/docs/index.html"] = page
    with expect_error(kind):
        list_paths(open_source())


@pytest.mark.parametrize(("limit", "value"), [("_MAX_LINKS", 2), ("_MAX_TOTAL_CHARS", 100)])
def test_the_links_of_a_page_are_limited(
    open_source: Open, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    assert list_paths(open_source()) == PATHS
    monkeypatch.setattr(links, limit, value)
    with expect_error(HostErrorKind.PROTOCOL):
        list_paths(open_source())


def test_a_document_that_is_not_allowed_stays_in_the_listing(
    open_source: Open, server: Server
) -> None:
    server.pages["/docs/b.txt"] = (403, {}, b"")
    source = open_source()
    assert list_paths(source) == PATHS
    with expect_error(HostErrorKind.NOT_ALLOWED), source.open("b.txt"):
        pass


def test_pages_that_are_no_html_have_no_links(open_source: Open, server: Server) -> None:
    for body in (b"", b" \n", b"\x00\xff", b"<" * 1000, b"<a href='" + b"x" * 9000 + b"'>"):
        server.pages["/docs/index.html"] = (200, {"Content-Type": "text/html; charset=x"}, body)
        assert list_paths(open_source()) == []


def test_a_host_that_does_not_listen_is_unreachable(open_source: Open) -> None:
    with expect_error(HostErrorKind.UNREACHABLE):
        list_paths(open_source(url=f"{find_closed_address()}/"))


@pytest.mark.parametrize("url", ["http://192.168.0.1/", "http://localhost.invalid/"])
def test_hosts_that_are_not_allowed_are_refused(open_source: Open, url: str) -> None:
    with pytest.raises(HostError):
        list_paths(open_source(url=url))


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n", HostErrorKind.UNREACHABLE),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n",
            HostErrorKind.UNREACHABLE,
        ),
        (b"HTTP/1.1 200 OK\r\n\r\n", HostErrorKind.PROTOCOL),
        (b"HTTP/1.0 200 OK\r\n\r\n", HostErrorKind.PROTOCOL),
    ],
)
def test_a_document_that_breaks_off_is_an_error(
    open_source: Open, head: bytes, kind: HostErrorKind
) -> None:
    with run_web_host(respond(head + LARGE)) as url:
        source = open_source(url=f"{url}/")
        with source.open("large.bin") as chunks, expect_error(kind):
            list(chunks)


def test_a_size_of_thousands_of_digits_is_unknown(open_source: Open) -> None:
    page = b'<a href="a.txt">a</a>'
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\n\r\n"

    def script(connection: Any) -> None:
        while request := connection.recv(65536):
            is_head = request.startswith(b"HEAD")
            size = b"Content-Length: " + b"9" * 5000
            answer = b'HTTP/1.1 200 OK\r\nETag: "1"\r\n' + size + b"\r\n\r\n"
            connection.sendall(answer if is_head else head.encode() + page)

    with run_web_host(script) as url:
        (document,) = list_documents(open_source(url=f"{url}/"))
    assert (document.path, document.size) == ("a.txt", None)


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n"])
def test_a_slow_answer_ends_by_its_deadline(
    open_source: Open, monkeypatch: pytest.MonkeyPatch, head: bytes
) -> None:
    monkeypatch.setattr(limits, "READ_SECONDS", 0.3)
    with run_web_host(respond(head, drops=b"H")) as url:
        source = open_source(url=f"{url}/")
        with expect_error(HostErrorKind.UNREACHABLE), source.open("large.bin") as chunks:
            list(chunks)
