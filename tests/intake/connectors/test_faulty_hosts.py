"""Hosts that break off, never end, or change while they are read: crawls end well."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import ThreadingHTTPServer
from threading import Thread
from time import sleep

import pytest

from app.engines.sources import limits
from app.intake.connectors.service.fetching import MAX_CONNECTIONS, MAX_FAILURES
from app.kit import container
from tests.factories.servers import QuietHandler
from tests.intake.conftest import counts
from tests.intake.connectors.conftest import Folder
from tests.intake.connectors.servers import HOST

Answer = Callable[["_Handler"], None]
LONG = b"half of the words " * 1000


pytestmark = pytest.mark.usefixtures("_allow_loopback")


@pytest.fixture(autouse=True)
def _shorten_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "READ_SECONDS", 1.0)


class _Handler(QuietHandler):
    """Answers with an index page, or as the test says for the path."""

    answers: dict[str, Answer]
    links: tuple[str, ...] = ()

    def do_GET(self) -> None:
        """Send the index page or a document."""
        name = self.path.strip("/")
        if name:
            with suppress(OSError):
                self.answers[name](self)
            return
        links = "".join(f'<a href="{name}">{name}</a>' for name in self.links or self.answers)
        self.send(links.encode(), content_type="text/html")

    def do_HEAD(self) -> None:
        """Say that each document is there, except those that are named by a status."""
        name = self.path.strip("/")
        if name.isdecimal():
            with suppress(OSError):
                self.answers[name](self)
            return
        self.send_response(200)
        self.send_header("ETag", f'"{self.path}"')
        self.end_headers()

    def send(self, body: bytes, *, length: int = 0, content_type: str = "text/plain") -> None:
        """Send a body, whose length is `length` if it is larger."""
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("ETag", f'"{self.path}"')
        self.send_header("Content-Length", str(max(length, len(body))))
        self.end_headers()
        self.wfile.write(body)


def _drop(handler: _Handler) -> None:
    handler.send(LONG, length=2 * len(LONG))
    handler.wfile.flush()
    handler.connection.close()


def _drip(handler: _Handler) -> None:
    handler.send(b"", length=1_000_000)
    while True:
        handler.wfile.write(b"x")
        handler.wfile.flush()
        sleep(0.05)


def _send_not_found(handler: _Handler) -> None:
    handler.send_error(404)


@contextmanager
def _serve(answers: dict[str, Answer], links: tuple[str, ...] = ()) -> Iterator[str]:
    handler = type("Handler", (_Handler,), {"answers": answers, "links": links})
    with ThreadingHTTPServer((HOST, 0), handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{HOST}:{server.server_port}/"
        server.shutdown()


def _send(words: str) -> Answer:
    return lambda handler: handler.send(words.encode())


@pytest.mark.parametrize(
    ("fault", "code"),
    [(_drop, "unreachable"), (_drip, "unreachable"), (_send_not_found, "not_found")],
    ids=["breaks_off", "never_ends", "gone"],
)
def test_a_document_that_fails_is_an_item_and_is_read_next_time(
    folder: Folder, fault: Answer, code: str
) -> None:
    answers = {"a.txt": _send("first words"), "b.txt": fault, "c.txt": _send("last words")}
    with _serve(answers) as url:
        connector = folder.connect(type="http", settings={"url": url})
        job = folder.crawl(connector)
        assert job["status"] == "completed_with_errors"
        assert job["counts"] == counts(found=3, created=2, failed=1)
        (failed,) = folder.items(job["id"], status="failed")
        assert (failed["uri"], failed["error"]["code"]) == ("b.txt", code)
        assert len(folder.files()) == folder.count() == 2
        answers["b.txt"] = _send("whole words")
        job = folder.crawl(connector)
        assert (job["status"], job["counts"]["created"]) == ("completed", 1)
    assert len(folder.files()) == folder.count() == 3


def _refuse(status: int) -> Answer:
    return lambda handler: handler.send_error(status)


def _redirect(handler: _Handler) -> None:
    handler.send_response(302)
    handler.send_header("Location", handler.path)
    handler.end_headers()


def test_documents_and_folders_that_the_host_refuses_do_not_end_the_crawl(folder: Folder) -> None:
    refused = {str(status): _refuse(status) for status in (400, 401, 403, 418, 500)}
    answers = {"a.txt": _send("first words"), **refused, "302": _redirect}
    answers |= {"z.txt": _send("last words"), "pdf": _send("no folder"), "locked": _refuse(401)}
    links = ("a.txt", *refused, "302", "z.txt", "pdf/", "locked/")
    with _serve(answers, links) as url:
        connector = folder.connect(type="http", settings={"url": url})
        job = folder.crawl(connector)
    assert job["status"] == "completed_with_errors"
    assert job["counts"] == counts(found=8, created=2, failed=6)
    failed = folder.items(job["id"], status="failed")
    assert {item["uri"]: item["error"]["code"] for item in failed} == {
        "302": "protocol",
        "400": "protocol",
        "401": "not_allowed",
        "403": "not_allowed",
        "418": "protocol",
        "500": "unreachable",
    }


def test_a_host_that_is_down_ends_the_crawl_after_three_documents(folder: Folder) -> None:
    answers = {f"{number}.txt": _refuse(503) for number in range(20)}
    with _serve(answers) as url:
        connector = folder.connect(type="http", settings={"url": url})
        job = folder.crawl(connector)
    assert (job["status"], job["error"]["code"]) == ("failed", "unreachable")
    assert job["counts"] == counts()


def _count(answer: Answer, requests: list[str]) -> Answer:
    """Add the path of each request to `requests`, and answer it."""

    def count(handler: _Handler) -> None:
        requests.append(handler.path)
        answer(handler)

    return count


def test_a_host_that_is_down_is_asked_for_no_further_documents(folder: Folder) -> None:
    requests: list[str] = []
    answers = {f"{number}.txt": _count(_refuse(503), requests) for number in range(16)}
    with _serve(answers) as url:
        job = folder.crawl(folder.connect(type="http", settings={"url": url}))
    assert (job["status"], job["error"]["code"]) == ("failed", "unreachable")
    # Other downloads were in progress when the third one failed.
    assert len(requests) < MAX_FAILURES + MAX_CONNECTIONS


def test_credentials_that_the_host_refuses_are_not_sent_again(folder: Folder) -> None:
    requests: list[str] = []
    answers = {f"{number}.txt": _count(_refuse(401), requests) for number in range(16)}
    with _serve(answers) as url:
        urls = [url + name for name in answers]
        settings = {"urls": urls, "username": "reader", "password": "wrong"}
        job = folder.crawl(folder.connect(type="http", settings=settings))
    assert (job["status"], job["error"]["code"]) == ("failed", "credentials_refused")
    assert len(requests) <= MAX_CONNECTIONS


def test_a_document_that_changes_between_listing_and_reading(folder: Folder) -> None:
    target = folder.write("b.txt", "old words")
    folder.write("a.txt", "first words")
    connector = folder.connect()
    original = container.current().storage.stage

    def stage(*args: int) -> object:
        target.write_text("new and longer words")
        return original(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(container.current().storage, "stage", stage)
        first = folder.crawl(connector)
    again = folder.crawl(connector)
    assert first["status"] == "completed"
    assert again["counts"] == counts(found=2, duplicate=1, skipped=1)
    texts = {item["uri"]: item["artifact_id"] for item in folder.items(first["id"])}
    text = folder.api.get(f"/artifacts/{texts['b.txt']}/text").json["data"]["text"]
    assert text == "new and longer words"
    assert len(folder.files()) == folder.count() == 2
