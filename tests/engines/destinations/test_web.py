"""Web servers: what they receive, how they answer, and every failure of a host."""

import base64
import hashlib
import os
import socket
import ssl
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import trustme

from app.engines.destinations import limits
from app.engines.destinations.model import OutgoingFile
from app.engines.destinations.registry import TYPES
from app.engines.destinations.web import WebDestination
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
from tests.engines.destinations.proxies import UploadProxy, discard_request, read_slowly
from tests.engines.sources.conftest import OpenHost
from tests.engines.sources.hosts import drip, find_closed_address, respond, run_host, run_web_host
from tests.engines.sources.network import LoopbackNetwork
from tests.engines.sources.reading import expect_error
from tests.factories.servers import QuickServer, QuietHandler
from tests.factories.waiting import expect_to_end_soon

SECRET = "never-in-a-message"
CONTENT = os.urandom(700_000)
LARGE = os.urandom(12 * 1024**2)
Open = Callable[..., WebDestination]


class Server(QuickServer):
    """Stores what it receives completely, with its headers, by the target of the request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.files: dict[str, bytes] = {}
        self.headers: dict[str, str] = {}
        self.authorization: str | None = None
        self.status = 201


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_PUT(self) -> None:
        server = self.server
        size = int(self.headers["Content-Length"])
        content = self.rfile.read(size)
        if len(content) < size:
            return
        server.headers = {name.lower(): value for name, value in self.headers.items()}
        status = server.status
        if server.authorization and self.headers["Authorization"] != server.authorization:
            status = 401
        if 200 <= status < 300:
            server.files[self.path] = content
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def open_destination(server: Server, open_host: OpenHost) -> Open:
    url = f"{server.url}/files/{{name}}"
    return lambda **settings: open_host(TYPES["http"], {"url": url, **settings})


@pytest.mark.parametrize("content", [CONTENT, b"", b"x"])
def test_a_file_is_delivered(
    open_destination: Open, server: Server, network: LoopbackNetwork, content: bytes
) -> None:
    sent: list[int] = []
    location = open_destination().send(build_file(content), sent.append)
    digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
    assert location == f"{server.url}/files/export.csv"
    assert server.files == {"/files/export.csv": content}
    assert server.headers["content-type"] == "text/csv"
    assert server.headers["content-length"] == str(len(content))
    assert server.headers["content-digest"] == f"sha-256=:{digest}:"
    assert "transfer-encoding" not in server.headers
    assert "authorization" not in server.headers
    assert "x-ms-blob-type" not in server.headers
    assert sent[-1] == len(content)
    assert network.connections


def test_a_shared_access_signature_of_azure_needs_a_blob_type(
    open_destination: Open, server: Server
) -> None:
    url = f"{server.url}/results/{{name}}?sv=2024-11-04&sp=cw&sig=hush%3D"
    open_destination(url=url).send(build_file(CONTENT), ignore)
    assert server.headers["x-ms-blob-type"] == "BlockBlob"


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("/in/{name}?sig=a%2Fb", "/in/%C3%84%2050%25%26%3F%23%7Bname%7D.csv?sig=a%2Fb"),
        ("/in?file={name}&x=1", "/in?file=%C3%84%2050%25%26%3F%23%7Bname%7D.csv&x=1"),
        ("/Ordner für alle/latest.csv", "/Ordner%20f%C3%BCr%20alle/latest.csv"),
    ],
)
def test_the_name_is_encoded_in_the_url(
    open_destination: Open, server: Server, url: str, target: str
) -> None:
    destination = open_destination(url=server.url + url)
    location = destination.send(build_file(CONTENT, "Ä 50%&?#{name}.csv"), ignore)
    assert server.files == {target: CONTENT}
    assert location == server.url + target.partition("?")[0]


def test_a_file_is_replaced(open_destination: Open, server: Server) -> None:
    destination = open_destination(url=f"{server.url}/latest")
    for content in (b"before", b"after"):
        destination.send(build_file(content), ignore)
        assert server.files == {"/latest": content}


@pytest.mark.parametrize(
    ("settings", "authorization"),
    [
        ({"token": SECRET}, f"Bearer {SECRET}"),
        (
            {"username": "Ä", "password": SECRET},
            "Basic " + base64.b64encode(f"Ä:{SECRET}".encode()).decode(),
        ),
    ],
)
def test_credentials_are_sent(
    open_destination: Open, server: Server, settings: dict[str, str], authorization: str
) -> None:
    server.authorization = authorization
    location = open_destination(**settings).send(build_file(CONTENT), ignore)
    assert SECRET not in location
    kind = HostErrorKind.CREDENTIALS_REFUSED
    server.authorization = "Bearer another"
    fail_to_send(open_destination(**settings), build_file(CONTENT), kind, SECRET)
    fail_to_send(open_destination(), build_file(CONTENT), kind)


@pytest.mark.parametrize(
    ("status", "kind", "text"),
    [
        (302, HostErrorKind.PROTOCOL, "redirects to another address (HTTP status 302)"),
        (400, HostErrorKind.PROTOCOL, "does not accept the file (HTTP status 400)"),
        (403, HostErrorKind.NOT_ALLOWED, "does not allow"),
        (404, HostErrorKind.NOT_FOUND, "folder in the URL does not exist"),
        (405, HostErrorKind.NOT_ALLOWED, "with PUT"),
        (409, HostErrorKind.NOT_FOUND, "check that its folder exists"),
        (413, HostErrorKind.NOT_ALLOWED, "larger than the host accepts"),
        (429, HostErrorKind.UNREACHABLE, "temporarily"),
        (503, HostErrorKind.UNREACHABLE, "temporarily"),
        (507, HostErrorKind.NOT_ALLOWED, "disk of the server is full"),
    ],
)
def test_refusals_are_explained(
    open_destination: Open, server: Server, status: int, kind: HostErrorKind, text: str
) -> None:
    server.status = status
    assert text in fail_to_send(open_destination(), build_file(CONTENT), kind, "elsewhere")


@pytest.mark.parametrize("url", ["http://{name}.example/", "http://[::1", "ftp://example.org/"])
def test_urls_that_are_not_valid_are_refused(open_destination: Open, url: str) -> None:
    with expect_error(HostErrorKind.PROTOCOL):
        open_destination(url=url)


@pytest.mark.parametrize("host", ["192.168.0.1", "169.254.169.254"])
def test_hosts_that_are_not_allowed_are_refused(open_destination: Open, host: str) -> None:
    destination = open_destination(url=f"http://{host}/{{name}}")
    fail_to_send(destination, build_file(CONTENT), HostErrorKind.NOT_ALLOWED, host)


def test_a_host_that_does_not_listen_is_unreachable(open_destination: Open) -> None:
    destination = open_destination(url=f"{find_closed_address()}/")
    fail_to_send(destination, build_file(CONTENT), HostErrorKind.UNREACHABLE)


@pytest.mark.parametrize("build", [build_damaged_file, build_short_file])
def test_a_damaged_file_is_not_delivered(
    open_destination: Open, server: Server, build: Callable[[bytes], Any]
) -> None:
    message = fail_to_send(open_destination(), build(CONTENT), HostErrorKind.PROTOCOL)
    assert "stored file is damaged" in message
    assert server.files == {}


def test_a_lost_connection_delivers_nothing(open_destination: Open, server: Server) -> None:
    proxy = UploadProxy(server.server_port)
    proxy.cut_after = 300_000
    with run_web_host(proxy) as url:
        destination = open_destination(url=f"{url}/{{name}}")
        fail_to_send(destination, build_file(CONTENT), HostErrorKind.UNREACHABLE)
        assert server.files == {}
        proxy.cut_after = None
        destination.send(build_file(CONTENT), ignore)
    assert server.files == {"/export.csv": CONTENT}


def test_an_exception_of_the_progress_ends_the_delivery(
    open_destination: Open, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PROGRESS_SECONDS", 0)
    stop_delivery(open_destination(), build_file(CONTENT), after=300_000)
    assert server.files == {}


@pytest.mark.parametrize("error", [TimeoutError("storage"), BrokenPipeError("storage")])
def test_an_exception_of_the_storage_ends_the_delivery(
    open_destination: Open, server: Server, error: Exception
) -> None:
    """This includes an exception that looks like a failure of the host."""
    with expect_to_end_soon(), expect_exception(error):
        open_destination().send(build_unreadable_file(CONTENT, error), ignore)
    assert server.files == {}


def test_progress_is_reported_at_most_once_a_second(open_destination: Open) -> None:
    sent: list[int] = []
    open_destination().send(build_file(CONTENT), sent.append)
    assert len(sent) < 10
    assert sent == sorted(sent)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", HostErrorKind.NOT_ALLOWED),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", HostErrorKind.PROTOCOL),
        (b"220 ftp.example.org\r\n", HostErrorKind.UNREACHABLE),
    ],
)
def test_an_answer_before_the_end_of_the_file_is_no_success(
    open_destination: Open, answer: bytes, kind: HostErrorKind
) -> None:
    with run_web_host(respond(answer)) as url:
        fail_to_send(open_destination(url=f"{url}/"), build_file(LARGE), kind)


def _accept_file(connection: socket.socket) -> None:
    discard_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


def test_an_endless_answer_is_not_read(open_destination: Open) -> None:
    def script(connection: socket.socket) -> None:
        discard_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        drip(connection, b"x")

    with run_web_host(script) as url:
        open_destination(url=f"{url}/").send(build_file(CONTENT), ignore)


def test_memory_does_not_grow_with_the_file(open_destination: Open) -> None:
    size, count = 256 * 1024, 400
    digest = hashlib.sha256()
    for _ in range(count):
        digest.update(bytes(size))
    file = OutgoingFile(
        name="large.bin",
        media_type="application/octet-stream",
        size=count * size,
        sha256=digest.hexdigest(),
        read=lambda: (bytes(size) for _ in range(count)),
    )

    with run_web_host(_accept_file) as url:
        destination = open_destination(url=f"{url}/")
        tracemalloc.start()
        destination.send(file, ignore)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < file.size / 10


@pytest.mark.parametrize("limit", ["deadline", "silence"])
def test_a_slow_host_ends_by_its_limits(
    open_destination: Open, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    if limit == "deadline":
        shorten_deadline(monkeypatch, 0.3)
    else:
        monkeypatch.setattr(source_limits, "IDLE_SECONDS", 0.3)
    with run_web_host(read_slowly) as url, expect_to_end_soon():
        destination = open_destination(url=f"{url}/")
        message = fail_to_send(destination, build_file(LARGE), HostErrorKind.UNREACHABLE)
    assert "in time" in message


@contextmanager
def run_tls_host(script: Callable[[socket.socket], None], tmp_path: Path) -> Iterator[Any]:
    """Run a host with TLS, and yield its URL and a network that trusts it."""
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)

    def serve(connection: socket.socket) -> None:
        with suppress(OSError), context.wrap_socket(connection, server_side=True) as secure:
            script(secure)

    with run_host(serve) as port:
        yield f"https://127.0.0.1:{port}/", LoopbackNetwork(str(tmp_path / "ca.pem"))


def test_a_file_is_delivered_over_tls(tmp_path: Path) -> None:
    with run_tls_host(_accept_file, tmp_path) as (url, network):
        destination = TYPES["http"].open({"url": url + "{name}"}, network)
        assert destination.send(build_file(LARGE), ignore) == f"{url}export.csv"


def test_a_connection_that_is_lost_over_tls_is_no_error_of_tls(tmp_path: Path) -> None:
    def script(connection: socket.socket) -> None:
        connection.recv(1024)
        socket.socket.shutdown(connection, socket.SHUT_RDWR)

    with run_tls_host(script, tmp_path) as (url, network):
        destination = TYPES["http"].open({"url": url}, network)
        fail_to_send(destination, build_file(LARGE), HostErrorKind.UNREACHABLE)


def test_an_unknown_certificate_is_explained(open_destination: Open, tmp_path: Path) -> None:
    with run_tls_host(_accept_file, tmp_path) as (url, _):
        destination = open_destination(url=url)
        message = fail_to_send(destination, build_file(CONTENT), HostErrorKind.PROTOCOL)
    assert "certificate of the host is not valid" in message


def test_a_slow_host_with_tls_ends_by_the_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten_deadline(monkeypatch, 1.0)
    with run_tls_host(read_slowly, tmp_path) as (url, network), expect_to_end_soon():
        destination = TYPES["http"].open({"url": url}, network)
        fail_to_send(destination, build_file(LARGE), HostErrorKind.UNREACHABLE)
