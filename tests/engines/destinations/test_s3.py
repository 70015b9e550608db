"""S3 buckets: whole files, parts, refusals, and every failure of a host."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app.engines.destinations import limits
from app.engines.destinations.registry import TYPES
from app.engines.destinations.s3 import S3Destination, _compute_part_sizes
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
from tests.engines.sources.hosts import build_response, find_closed_address, respond, run_web_host
from tests.engines.sources.network import LoopbackNetwork, connect_freely
from tests.engines.sources.reading import expect_error
from tests.engines.sources.s3_server import Server
from tests.factories.waiting import expect_to_end_soon

SECRET = "never-in-a-message"
CONTENT = os.urandom(700_000)
MEBIBYTE = 1024**2
LARGE = os.urandom(12 * MEBIBYTE + 1)
Open = Callable[..., S3Destination]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.stop()


class Bucket:
    """Reads the content of the bucket that a destination writes to."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def read(self, key: str) -> tuple[bytes, str]:
        with connect_freely():
            stored = self._client.get_object(Bucket="exports", Key=key)
            return stored["Body"].read(), stored["ContentType"]

    def list_keys(self, prefix: str) -> list[str]:
        with connect_freely():
            page = self._client.list_objects_v2(Bucket="exports", Prefix=prefix)
        return [item["Key"] for item in page.get("Contents", [])]

    def count_uploads(self) -> int:
        with connect_freely():
            page = self._client.list_multipart_uploads(Bucket="exports")
        return len(page.get("Uploads", []))


@pytest.fixture
def bucket(server: Server) -> Bucket:
    return Bucket(server.client)


@pytest.fixture
def open_destination(server: Server, open_host: OpenHost) -> Open:
    settings = {"bucket": "exports", "prefix": "/daily/", **server.settings}
    return lambda **changes: open_host(TYPES["s3"], {**settings, **changes})


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send large files in parts of 5 MiB, the minimum size that the store accepts."""
    monkeypatch.setattr(limits, "MAX_PUT_BYTES", 6 * MEBIBYTE)
    monkeypatch.setattr(limits, "MIN_PART_BYTES", 5 * MEBIBYTE)


@pytest.mark.parametrize("content", [CONTENT, b"", b"x"])
@pytest.mark.parametrize("prefix", ["/daily/", ""])
def test_a_file_is_delivered(
    open_destination: Open,
    bucket: Bucket,
    network: LoopbackNetwork,
    content: bytes,
    prefix: str,
) -> None:
    sent: list[int] = []
    file = build_file(content, "Ärger 50%&+=?.csv")
    location = open_destination(prefix=prefix).send(file, sent.append)
    key = f"{prefix.strip('/')}/{file.name}".lstrip("/")
    assert location == f"s3://exports/{key}"
    assert bucket.read(key) == (content, "text/csv")
    assert sent[-1] == len(content)
    assert network.connections


def test_a_file_is_replaced(open_destination: Open, bucket: Bucket) -> None:
    destination = open_destination(prefix="replaced")
    for content in (b"before", b"after"):
        destination.send(build_file(content), ignore)
        assert bucket.read("replaced/export.csv")[0] == content


@pytest.mark.usefixtures("parts")
def test_a_large_file_is_delivered_in_parts(open_destination: Open, bucket: Bucket) -> None:
    sent: list[int] = []
    location = open_destination(prefix="large").send(build_file(LARGE), sent.append)
    assert location == "s3://exports/large/export.csv"
    assert bucket.read("large/export.csv") == (LARGE, "text/csv")
    assert sent[-1] == len(LARGE)
    assert bucket.count_uploads() == 0


@pytest.mark.parametrize("size", [5 * 1024**3 + 1, 640 * 1024**3, 5 * 1024**4])
def test_files_are_divided_into_parts_that_s3_takes(size: int) -> None:
    sizes = _compute_part_sizes(size)
    assert sum(sizes) == size
    assert len(sizes) <= 10_000
    assert all(part >= 64 * MEBIBYTE for part in sizes[:-1])
    assert max(sizes) <= 5 * 1024**3


@pytest.mark.parametrize(
    ("changes", "kind", "text"),
    [
        *(
            (changes, HostErrorKind.CREDENTIALS_REFUSED, "rejected the access key")
            for changes in ({"access_key_id": "AKIAUNKNOWN"}, {"secret_access_key": SECRET})
        ),
        ({"bucket": "read-only"}, HostErrorKind.NOT_ALLOWED, "not allowed to write to"),
        ({"bucket": "private"}, HostErrorKind.NOT_ALLOWED, "not allowed to write to"),
        ({"bucket": "missing"}, HostErrorKind.NOT_FOUND, "bucket does not exist"),
        (
            {"endpoint_url": "http://192.168.0.1"},
            HostErrorKind.NOT_ALLOWED,
            "operator of this service",
        ),
        ({"prefix": "a/../b"}, HostErrorKind.NOT_ALLOWED, "segment `.` or `..`"),
        ({"prefix": "é" * 500}, HostErrorKind.NOT_ALLOWED, "too long"),
    ],
)
@pytest.mark.parametrize("content", [CONTENT, LARGE])
@pytest.mark.usefixtures("parts")
def test_refusals_are_explained(
    open_destination: Open,
    changes: dict[str, str],
    kind: HostErrorKind,
    text: str,
    content: bytes,
) -> None:
    destination = open_destination(**changes)
    assert text in fail_to_send(destination, build_file(content), kind, SECRET, "192.168")


def test_an_invalid_endpoint_is_explained(open_destination: Open) -> None:
    with expect_error(HostErrorKind.PROTOCOL):
        open_destination(endpoint_url="http://[::1")


@pytest.mark.parametrize("name", ["", "..", "a/b.csv", "a\nb.csv", "a\x00.csv", "n" * 201])
def test_names_that_hosts_could_misread_are_refused(
    open_destination: Open, network: LoopbackNetwork, name: str
) -> None:
    fail_to_send(open_destination(), build_file(b"x", name), HostErrorKind.NOT_ALLOWED)
    assert not network.connections


def test_a_host_that_does_not_listen_is_unreachable(open_destination: Open) -> None:
    destination = open_destination(endpoint_url=find_closed_address())
    fail_to_send(destination, build_file(CONTENT), HostErrorKind.UNREACHABLE)


@pytest.mark.parametrize(
    ("content", "flip_at"), [(CONTENT, 300_000), (LARGE, 3_000_000)], ids=["whole", "parts"]
)
@pytest.mark.usefixtures("parts")
def test_content_that_is_damaged_on_its_way_is_refused_by_the_store(
    open_destination: Open, server: Server, bucket: Bucket, content: bytes, flip_at: int
) -> None:
    open_destination(prefix="flipped").send(build_file(b"before"), ignore)
    proxy = UploadProxy(server.port)
    proxy.flip_at = flip_at
    with run_web_host(proxy) as url:
        destination = open_destination(prefix="flipped", endpoint_url=url)
        message = fail_to_send(destination, build_file(content), HostErrorKind.PROTOCOL)
    assert "damaged in transit" in message
    assert bucket.read("flipped/export.csv")[0] == b"before"
    assert bucket.count_uploads() == 0


@pytest.mark.parametrize("build", [build_damaged_file, build_short_file])
@pytest.mark.parametrize("content", [CONTENT, LARGE], ids=["whole", "parts"])
@pytest.mark.usefixtures("parts")
def test_a_damaged_file_is_not_delivered(
    open_destination: Open, bucket: Bucket, build: Callable[[bytes], Any], content: bytes
) -> None:
    destination = open_destination(prefix="damaged")
    message = fail_to_send(destination, build(content), HostErrorKind.PROTOCOL)
    assert "stored file is damaged" in message
    assert bucket.list_keys("damaged") == []
    assert bucket.count_uploads() == 0


@pytest.mark.parametrize(
    ("content", "cut_after"), [(CONTENT, 400_000), (LARGE, 2_000_000)], ids=["whole", "parts"]
)
@pytest.mark.usefixtures("parts")
def test_a_lost_connection_leaves_the_file_before(
    open_destination: Open, server: Server, bucket: Bucket, content: bytes, cut_after: int
) -> None:
    open_destination(prefix="cut").send(build_file(b"before"), ignore)
    proxy = UploadProxy(server.port)
    proxy.cut_after = cut_after
    with run_web_host(proxy) as url:
        destination = open_destination(prefix="cut", endpoint_url=url)
        fail_to_send(destination, build_file(content), HostErrorKind.UNREACHABLE)
        assert bucket.read("cut/export.csv")[0] == b"before"
        assert bucket.count_uploads() == 0
        proxy.cut_after = None
        destination.send(build_file(content), ignore)
    assert bucket.read("cut/export.csv")[0] == content


@pytest.mark.parametrize("content", [CONTENT, LARGE], ids=["whole", "parts"])
@pytest.mark.usefixtures("parts")
def test_an_exception_of_the_progress_ends_the_delivery(
    open_destination: Open, bucket: Bucket, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(limits, "PROGRESS_SECONDS", 0)
    stop_delivery(open_destination(prefix="stopped"), build_file(content), after=300_000)
    assert bucket.list_keys("stopped") == []
    assert bucket.count_uploads() == 0


@pytest.mark.parametrize("content", [CONTENT, LARGE], ids=["whole", "parts"])
@pytest.mark.usefixtures("parts")
def test_an_exception_of_the_storage_ends_the_delivery(
    open_destination: Open, bucket: Bucket, content: bytes
) -> None:
    """This includes an exception that looks like a lost connection to the host."""
    error = ConnectionResetError("the storage is gone")
    with expect_to_end_soon(), expect_exception(error):
        open_destination(prefix="unread").send(build_unreadable_file(content, error), ignore)
    assert bucket.list_keys("unread") == []


@pytest.mark.parametrize("content", [CONTENT, LARGE], ids=["whole", "parts"])
@pytest.mark.usefixtures("parts")
def test_a_slow_host_ends_by_the_deadline(
    open_destination: Open, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    shorten_deadline(monkeypatch, 0.3)
    monkeypatch.setattr(limits, "CLEANUP_SECONDS", 0.3)
    with run_web_host(read_slowly) as url, expect_to_end_soon():
        destination = open_destination(endpoint_url=url)
        fail_to_send(destination, build_file(content), HostErrorKind.UNREACHABLE)


def test_a_silent_host_ends_by_the_idle_limit(
    open_destination: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_limits, "IDLE_SECONDS", 0.3)
    with run_web_host(read_slowly) as url, expect_to_end_soon():
        destination = open_destination(endpoint_url=url)
        message = fail_to_send(destination, build_file(LARGE), HostErrorKind.UNREACHABLE)
    assert "in time" in message


def _build_error(status: str, code: str) -> bytes:
    return build_response(status, f"<Error><Code>{code}</Code></Error>".encode())


FULL = "disk of the server is full"


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        (build_response("507 Full", b""), HostErrorKind.NOT_ALLOWED, FULL),
        (_build_error("500 Full", "XMinioStorageFull"), HostErrorKind.NOT_ALLOWED, FULL),
        (
            _build_error("400 Large", "EntityTooLarge"),
            HostErrorKind.NOT_ALLOWED,
            "larger than the host accepts",
        ),
        (_build_error("503 Slow", "SlowDown"), HostErrorKind.UNREACHABLE, "temporarily"),
        (
            build_response("301 Moved", b"", "x-amz-bucket-region: eu-central-1"),
            HostErrorKind.NOT_FOUND,
            "region eu-central-1",
        ),
        (build_response("302 Moved", b"", "Location: /x"), HostErrorKind.PROTOCOL, "302"),
        (b"220 ftp.example.org\r\n", HostErrorKind.UNREACHABLE, "connection"),
    ],
)
def test_answers_of_other_hosts_are_explained(
    open_destination: Open, answer: bytes, kind: HostErrorKind, text: str
) -> None:
    with run_web_host(respond(answer)) as url:
        assert text in fail_to_send(open_destination(endpoint_url=url), build_file(b"x"), kind)


_CREATED = build_response("200 OK", b"<a><UploadId>u</UploadId></a>")
_TAKEN = build_response("200 OK", b"", "ETag: x")


@pytest.mark.parametrize(
    "answers",
    [
        [build_response("200 OK", b"<html>")],
        [build_response("200 OK", b"<a></a>")],
        [_CREATED, build_response("200 OK", b"")],
        [_CREATED, _TAKEN, _TAKEN, _TAKEN, _build_error("200 OK", "InternalError")],
        [_CREATED, _TAKEN, _TAKEN, _TAKEN, build_response("200 OK", b"<!DOCTYPE a><a/>")],
    ],
)
@pytest.mark.usefixtures("parts")
def test_an_upload_that_the_host_does_not_put_together_is_an_error(
    open_destination: Open, answers: list[bytes]
) -> None:
    pending = list(answers)
    methods: list[bytes] = []

    def script(connection: Any) -> None:
        methods.append(discard_request(connection).split(b" ")[0])
        connection.sendall(pending.pop(0) if pending else build_response("204 No Content", b""))

    with run_web_host(script) as url:
        destination = open_destination(endpoint_url=url)
        fail_to_send(destination, build_file(LARGE), HostErrorKind.PROTOCOL)
    assert (methods[-1] == b"DELETE") == (len(answers) > 1)
