"""S3 buckets: real signatures, long listings, hostile keys and every failure of a host."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from app.engines.sources import limits, s3
from app.engines.sources.model import HostErrorKind
from app.engines.sources.registry import TYPES
from app.engines.sources.s3 import parse_listing
from tests.engines.sources.conftest import Open, OpenHost
from tests.engines.sources.hosts import build_response, respond, run_web_host
from tests.engines.sources.reading import browse, expect_error, list_paths, read
from tests.engines.sources.s3_server import Server

SECRET = "never-in-a-message"
FILES = {"inbox/a.txt": b"letter", "inbox2/other.txt": b"another folder"}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    for key, body in FILES.items():
        server.put("documents", key, body)
    yield server
    server.stop()


@pytest.fixture
def open_source(server: Server, open_host: OpenHost) -> Open:
    settings = {"bucket": "documents", "prefix": "inbox", **server.settings}
    return lambda **changes: open_host(TYPES["s3"], {**settings, **changes})


def test_a_listing_continues_after_a_long_name(open_source: Open, server: Server) -> None:
    names = [f"{'字' * 220}{end}" for end in "abc"]
    for name in names:
        server.put("documents", f"long/{name}", b"letter")
    source = open_source(prefix="long")
    assert list_paths(source) == names
    assert list_paths(source, names[0]) == names[1:]
    for name in names:
        server.delete("documents", f"long/{name}")


def test_the_whole_bucket_may_be_connected(open_source: Open) -> None:
    source = open_source(prefix="")
    assert list_paths(source) == sorted(FILES)
    assert browse(source) == [("inbox", True), ("inbox2", True)]


def test_hostile_keys_are_listed_and_read(open_source: Open, server: Server) -> None:
    keys = ["\u202etxt.exe", "bell\x07", "%2E%2E", "é" * 300, "folder/", "+ +"]
    for key in keys:
        server.put("documents", f"hostile/{key}", key.encode())
    source = open_source(prefix="hostile")
    contents = [read(source, path) for path in list_paths(source)]
    assert sorted(contents) == sorted(key.encode() for key in keys if key != "folder/")
    assert all(path.isprintable() for path in list_paths(source))


def test_a_key_that_is_too_long_for_a_url_is_explained(open_source: Open, server: Server) -> None:
    server.put("documents", f"long/{'é' * 500}", b"content")
    source = open_source(prefix="long")
    with expect_error(HostErrorKind.NOT_ALLOWED) as caught, source.open(list_paths(source)[0]):
        pass
    assert "too long" in caught.value.message


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"access_key_id": "AKIAUNKNOWN"}, HostErrorKind.CREDENTIALS_REFUSED),
        ({"secret_access_key": SECRET}, HostErrorKind.CREDENTIALS_REFUSED),
        ({"bucket": "private"}, HostErrorKind.NOT_ALLOWED),
        ({"bucket": "missing"}, HostErrorKind.NOT_FOUND),
        ({"endpoint_url": "http://192.168.0.1"}, HostErrorKind.NOT_ALLOWED),
        ({"endpoint_url": "http://[::1"}, HostErrorKind.PROTOCOL),
    ],
)
def test_refusals_are_explained(
    open_source: Open, changes: dict[str, str], kind: HostErrorKind
) -> None:
    with expect_error(kind, SECRET):
        list_paths(open_source(**changes))


INVALID_LISTINGS = (
    b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
    b"<a><IsTruncated>true</IsTruncated></a>",
    b"<a><Contents><Size>x</Size></Contents></a>",
    b"<a><Contents><LastModified>0001-01-01T00:00:00+01:00</LastModified></Contents></a>",
)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        *((build_response("200 OK", body), HostErrorKind.PROTOCOL) for body in INVALID_LISTINGS),
        (build_response("200 OK", b"<a/>")[:-2], HostErrorKind.UNREACHABLE),
        (b"HTTP/1.1 200 OK\r\n\r\n<a/>", HostErrorKind.PROTOCOL),
        (
            build_response("301 Moved", b"", "x-amz-bucket-region: eu-central-1"),
            HostErrorKind.NOT_FOUND,
        ),
    ],
)
def test_hosts_that_are_no_object_stores_are_errors(
    open_source: Open, answer: bytes, kind: HostErrorKind
) -> None:
    with run_web_host(respond(answer)) as url, expect_error(kind):
        list_paths(open_source(endpoint_url=url))


@pytest.mark.parametrize(
    ("text", "modified_at"),
    [
        ("2026-03-14T09:26:53.589Z", datetime(2026, 3, 14, 9, 26, 53, 589000, UTC)),
        ("2026-03-14T09:26:53+05:30", datetime(2026, 3, 14, 3, 56, 53, tzinfo=UTC)),
        ("2026-03-14T09:26:53", datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)),
    ],
)
def test_times_are_converted_to_utc(text: str, modified_at: datetime) -> None:
    body = f"<a><Contents><Key>a</Key><LastModified>{text}</LastModified></Contents></a>"
    (stored,) = parse_listing(body.encode()).objects
    assert stored.modified_at is not None
    assert (stored.modified_at, stored.modified_at.tzinfo) == (modified_at, UTC)


def test_a_listing_that_repeats_itself_ends(open_source: Open) -> None:
    body = b"<a><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></a>"

    def script(connection: Any) -> None:
        while connection.recv(65536):
            connection.sendall(build_response("200 OK", body))

    with run_web_host(script) as url, expect_error(HostErrorKind.PROTOCOL):
        list_paths(open_source(endpoint_url=url))


def test_a_document_that_breaks_off_is_an_error(open_source: Open) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n" + bytes(700_000)
    with run_web_host(respond(answer)) as url:
        source = open_source(endpoint_url=url)
        with source.open("large.bin") as chunks, expect_error(HostErrorKind.UNREACHABLE):
            list(chunks)


def test_a_slow_answer_ends_by_its_deadline(
    open_source: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "READ_SECONDS", 0.3)
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n"
    with run_web_host(respond(head, drops=b"x")) as url:
        source = open_source(endpoint_url=url)
        with expect_error(HostErrorKind.UNREACHABLE), source.open("large.bin") as chunks:
            list(chunks)


@pytest.mark.parametrize(
    ("bucket", "region", "address"),
    [
        ("docs", "eu-west-1", "https://docs.s3.eu-west-1.amazonaws.com"),
        ("docs.example", "us-east-1", "https://s3.us-east-1.amazonaws.com/docs.example"),
        ("docs", "cn-north-1", "https://docs.s3.cn-north-1.amazonaws.com.cn"),
    ],
)
def test_buckets_of_aws_have_their_addresses(bucket: str, region: str, address: str) -> None:
    assert s3.build_bucket_url(bucket, region, None) == address
