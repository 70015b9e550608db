"""Parts of a listing: a crawl can stop after each, even if it selects few documents."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest

from app.engines.sources.model import ListingPosition, SourceObject
from app.intake.connectors.service import crawling, listing
from app.intake.connectors.service.globs import PathPatterns
from app.intake.connectors.service.listing import ListedPart, split_listing
from tests.factories.servers import QuietHandler, serve_http
from tests.intake.conftest import counts
from tests.intake.connectors.conftest import Folder
from tests.intake.connectors.servers import HOST

STORE = {"bucket": "papers", "access_key_id": "key", "secret_access_key": "secret"}


class _Clock:
    """A clock that a test moves forward."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    clock = _Clock()
    monkeypatch.setattr(listing, "monotonic", clock)
    return clock


def _split_listing(
    clock: _Clock, *items: tuple[float, str | None]
) -> list[tuple[list[str], str | None]]:
    """Split a listing that yields each path after a number of seconds; b.txt is excluded."""

    def list_objects() -> Iterator[SourceObject | ListingPosition]:
        for seconds, path in items:
            clock.now += seconds
            is_document = path is not None and path.endswith(".txt")
            yield SourceObject(path, "1") if is_document else ListingPosition(path)

    parts = split_listing(list_objects(), PathPatterns([], ["b.txt"]))
    return [([item.path for item in part.objects], part.cursor) for part in parts]


def test_a_part_ends_after_five_seconds(clock: _Clock) -> None:
    items = [(1.0, "a.txt"), (3.0, "b.txt"), (3.0, "c"), (4.9, "c/d.txt"), (0.2, "c/e")]
    assert _split_listing(clock, *items) == [(["a.txt"], "c"), (["c/d.txt"], "c/e")]


def test_a_part_ends_after_a_thousand_documents(clock: _Clock) -> None:
    documents = [(0.0, f"{number:04}.txt") for number in range(1500)]
    parts = _split_listing(clock, *documents, (0.0, "b.txt"))
    assert [(len(paths), cursor) for paths, cursor in parts] == [(1000, "0999.txt"), (500, "b.txt")]


def test_a_run_that_finds_its_position_slowly_makes_progress(clock: _Clock) -> None:
    items = [(60.0, "a"), (10.0, "b"), (40.0, "c"), (10.0, "d"), (1.0, "e")]
    assert _split_listing(clock, *items) == [([], None)] * 3 + [([], "d"), ([], "e")]


def test_a_listing_without_progress_is_interrupted(clock: _Clock) -> None:
    items = [(3.0, None), (3.0, None), (3.0, None), (3.0, None), (0.0, "a.txt"), (3.0, None)]
    assert _split_listing(clock, *items) == [([], None), ([], None), (["a.txt"], "a.txt")]
    assert list(split_listing([], PathPatterns([], []))) == []
    part = ListedPart([], "a")
    assert list(split_listing([ListingPosition("a")], PathPatterns([], []))) == [part]


def _end_parts_early(patch: pytest.MonkeyPatch) -> None:
    """End a part with each object of a listing, except the first one."""
    patch.setattr(listing, "monotonic", count(0.0, 10.0).__next__)


def test_a_crawl_that_selects_few_documents_continues_where_it_stopped(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    _end_parts_early(monkeypatch)
    for number in range(6):
        folder.write(f"{number}.md", "words")
    folder.write("9.txt", "other words")
    connector = folder.connect(include=["*.txt"])
    job = folder.request(connector)
    folder.run(crawling.run_crawl, job["id"], checkpoints=5)
    assert folder.read(connector)["cursor"] == "2.md"
    folder.work()
    done = folder.get(job["id"])
    assert (done["status"], done["counts"]) == ("completed", counts(found=1, created=1))


@contextmanager
def _serve_folders(cancel: Any) -> Iterator[tuple[str, list[str]]]:
    """Serve a bucket with one folder on each page, and call `cancel` for the fifth page."""
    requests: list[str] = []

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            requests.append(self.path)
            number = len(requests)
            if number == 5:
                cancel()
            body = f"""<a><IsTruncated>{"true" if number < 300 else "false"}</IsTruncated>
                <NextContinuationToken>t{number}</NextContinuationToken>
                <Contents><Key>{number:04}/</Key><Size>0</Size></Contents></a>""".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with serve_http(Handler, HOST) as port:
        yield f"http://{HOST}:{port}", requests


@pytest.mark.usefixtures("_allow_loopback")
@pytest.mark.parametrize("action", ["cancel", "delete"])
def test_a_crawl_that_finds_no_documents_is_cancelled_while_it_lists(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    _end_parts_early(monkeypatch)

    def cancel() -> None:
        if action == "cancel":
            folder.cancel(job)
        else:
            folder.request_in_thread("DELETE", f"/connectors/{connector['id']}", 204)

    with _serve_folders(cancel) as (url, requests):
        connector = folder.connect(type="s3", settings={**STORE, "endpoint_url": url})
        job = folder.request(connector)
        folder.work()
    assert folder.get(job["id"])["status"] == "cancelled"
    assert len(requests) < 10
