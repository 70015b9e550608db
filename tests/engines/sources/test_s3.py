"""S3 buckets: real signatures, long listings, hostile keys and every failure of a host."""

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
import requests
from moto.server import ThreadedMotoServer

from app.engines.sources import limits, object_store, s3
from app.engines.sources.model import HostErrorKind, ObjectMissing, Source
from app.engines.sources.registry import TYPES
from app.engines.sources.s3 import parse_listing
from tests.engines.sources.conftest import OpenHost
from tests.engines.sources.hosts import drip, find_closed_port, run_host
from tests.engines.sources.network import LoopbackNetwork, connect_freely
from tests.engines.sources.reading import (
    browse,
    expect_error,
    get_versions,
    list_documents,
    list_paths,
    read,
)

SECRET = "never-in-a-message"
LARGE = os.urandom(700_000)
FILES = {
    "inbox/2029/a.txt": b"letter a",
    "inbox/2029/b.txt": b"letter b",
    "inbox/2029/deep/c.txt": b"letter c",
    "inbox/large.bin": LARGE,
    "inbox/z 50%&+=?.txt": b"special",
    "inbox2/other.txt": b"another folder",
}
PATHS = ["2029/a.txt", "2029/b.txt", "2029/deep/c.txt", "large.bin", "z 50%&+=?.txt"]
Open = Callable[..., Source]


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, Any]]:
    """Start moto, which checks signatures and permissions once this fixture is set up."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    options = {"endpoint_url": url, "region_name": "us-east-1"}
    keys = {"aws_access_key_id": "setup", "aws_secret_access_key": "setup"}
    client = boto3.client("s3", **options, **keys)
    iam = boto3.client("iam", **options, **keys)
    client.create_bucket(Bucket="documents")
    client.create_bucket(Bucket="private")
    for key, body in FILES.items():
        client.put_object(Bucket="documents", Key=key, Body=body)
    allowed = ["arn:aws:s3:::documents", "arn:aws:s3:::documents/*", "arn:aws:s3:::missing"]
    policy = [{"Effect": "Allow", "Action": "s3:*", "Resource": allowed}]
    iam.create_user(UserName="reader")
    iam.put_user_policy(
        UserName="reader",
        PolicyName="read",
        PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": policy}),
    )
    key = iam.create_access_key(UserName="reader")["AccessKey"]
    requests.post(f"{url}/moto-api/reset-auth", data=b"0", timeout=10)
    settings = {
        "bucket": "documents",
        "prefix": "inbox",
        "endpoint_url": url,
        "access_key_id": key["AccessKeyId"],
        "secret_access_key": key["SecretAccessKey"],
    }
    yield settings
    requests.post(f"{url}/moto-api/reset-auth", data=b"Infinity", timeout=10)
    server.stop()


class Bucket:
    """Changes the content of the bucket that a source reads."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def put(self, key: str, body: bytes) -> None:
        with connect_freely():
            self._client.put_object(Bucket="documents", Key=key, Body=body)

    def delete(self, key: str) -> None:
        with connect_freely():
            self._client.delete_object(Bucket="documents", Key=key)


@pytest.fixture
def bucket(server: dict[str, Any]) -> Bucket:
    client = boto3.client(
        "s3",
        endpoint_url=server["endpoint_url"],
        region_name="us-east-1",
        aws_access_key_id=server["access_key_id"],
        aws_secret_access_key=server["secret_access_key"],
    )
    return Bucket(client)


@pytest.fixture
def open_source(server: dict[str, Any], open_host: OpenHost) -> Open:
    return lambda **changes: open_host(TYPES["s3"], {**server, **changes})


@pytest.mark.parametrize("page_keys", [1000, 2])
def test_documents_are_listed_in_order_and_read(
    open_source: Open,
    network: LoopbackNetwork,
    monkeypatch: pytest.MonkeyPatch,
    page_keys: int,
) -> None:
    monkeypatch.setattr(s3, "_PAGE_KEYS", page_keys)
    source = open_source()
    objects = list_documents(source)
    assert [one.path for one in objects] == PATHS
    assert [one.size for one in objects] == [8, 8, 8, len(LARGE), 7]
    assert all(one.modified_at is not None and one.modified_at.tzinfo for one in objects)
    assert [read(source, path) for path in PATHS] == [FILES[f"inbox/{path}"] for path in PATHS]
    assert network.connections


@pytest.mark.parametrize("position", range(len(PATHS)))
def test_a_listing_continues_after_a_path(open_source: Open, position: int) -> None:
    assert list_paths(open_source(), PATHS[position]) == PATHS[position + 1 :]


def test_a_listing_continues_after_a_long_name(open_source: Open, bucket: Bucket) -> None:
    names = [f"{'字' * 220}{end}" for end in "abc"]
    for name in names:
        bucket.put(f"long/{name}", b"letter")
    source = open_source(prefix="long")
    assert list_paths(source) == names
    assert list_paths(source, names[0]) == names[1:]
    for name in names:
        bucket.delete(f"long/{name}")


def test_the_whole_bucket_may_be_connected(open_source: Open) -> None:
    source = open_source(prefix="")
    assert list_paths(source) == sorted(FILES)
    assert browse(source) == [("inbox", True), ("inbox2", True)]


def test_a_folder_is_browsed_level_by_level(open_source: Open) -> None:
    source = open_source()
    assert browse(source) == [("2029", True), ("large.bin", False), ("z 50%&+=?.txt", False)]
    assert browse(source, "2029/deep") == [("2029/deep/c.txt", False)]
    assert browse(source, limit=1) == [("2029", True)]
    with expect_error(HostErrorKind.NOT_FOUND):
        source.browse("2030", 10)


def test_a_change_has_another_version(open_source: Open, bucket: Bucket) -> None:
    bucket.put("changes/a.txt", b"before")
    source = open_source(prefix="changes")
    before = get_versions(source)
    bucket.put("changes/a.txt", b"change")
    assert get_versions(source) != before
    assert read(source, "a.txt") == b"change"
    bucket.delete("changes/a.txt")
    with pytest.raises(ObjectMissing), source.open("a.txt"):
        pass


def test_hostile_keys_are_listed_and_read(open_source: Open, bucket: Bucket) -> None:
    keys = ["\u202etxt.exe", "bell\x07", "%2E%2E", "é" * 300, "folder/", "+ +"]
    for key in keys:
        bucket.put(f"hostile/{key}", key.encode())
    source = open_source(prefix="hostile")
    contents = [read(source, path) for path in list_paths(source)]
    assert sorted(contents) == sorted(key.encode() for key in keys if key != "folder/")
    assert all(path.isprintable() for path in list_paths(source))


def test_a_key_that_is_too_long_for_a_url_is_explained(open_source: Open, bucket: Bucket) -> None:
    bucket.put(f"long/{'é' * 500}", b"content")
    source = open_source(prefix="long")
    with expect_error(HostErrorKind.NOT_ALLOWED) as caught, source.open(list_paths(source)[0]):
        pass
    assert "too long" in caught.value.message


@pytest.mark.parametrize("path", ["", "\ud800"])
def test_paths_of_no_document(open_source: Open, path: str) -> None:
    with pytest.raises(ObjectMissing), open_source().open(path):
        pass


@pytest.mark.parametrize(
    "path",
    [
        *("../inbox2/other.txt", "%2E%2E/inbox2/other.txt", "2029/../../inbox2/other.txt"),
        *("..\\inbox2\\other.txt", "..%2Finbox2%2Fother.txt", "2029/./a.txt", "2029/.."),
    ],
)
def test_paths_do_not_leave_the_folder(
    open_source: Open, network: LoopbackNetwork, path: str
) -> None:
    """No request is sent, because the host may resolve `..` although it should not."""
    with expect_error(HostErrorKind.NOT_ALLOWED), open_source().open(path):
        pass
    assert not network.connections


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


def test_a_host_that_does_not_listen_is_unreachable(open_source: Open) -> None:
    source = open_source(endpoint_url=f"http://127.0.0.1:{find_closed_port()}")
    with expect_error(HostErrorKind.UNREACHABLE):
        list_paths(source)


def _answer(status: str, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (_answer("200 OK", b"<html>"), HostErrorKind.PROTOCOL),
        (_answer("200 OK", b"<a/>")[:-2], HostErrorKind.UNREACHABLE),
        (
            _answer("200 OK", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"),
            HostErrorKind.PROTOCOL,
        ),
        (
            _answer("200 OK", b"<a><IsTruncated>true</IsTruncated></a>"),
            HostErrorKind.PROTOCOL,
        ),
        (
            _answer("200 OK", b"<a><Contents><Size>x</Size></Contents></a>"),
            HostErrorKind.PROTOCOL,
        ),
        (
            _answer(
                "200 OK",
                b"<a><Contents><LastModified>0001-01-01T00:00:00+01:00</LastModified></Contents></a>",
            ),
            HostErrorKind.PROTOCOL,
        ),
        (b"HTTP/1.1 200 OK\r\n\r\n<a/>", HostErrorKind.PROTOCOL),
        (_answer("503 Slow Down", b"slow"), HostErrorKind.UNREACHABLE),
        (_answer("301 Moved", b"", "Location: http://127.0.0.1:1/"), HostErrorKind.PROTOCOL),
        (
            _answer("301 Moved", b"", "x-amz-bucket-region: eu-central-1"),
            HostErrorKind.NOT_FOUND,
        ),
        (b"220 ftp.example.org ready\r\n", HostErrorKind.UNREACHABLE),
    ],
)
def test_hosts_that_are_no_object_stores_are_errors(
    open_source: Open, answer: bytes, kind: HostErrorKind
) -> None:
    def script(connection: Any) -> None:
        connection.recv(65536)
        connection.sendall(answer)

    with run_host(script) as port, expect_error(kind):
        list_paths(open_source(endpoint_url=f"http://127.0.0.1:{port}"))


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


def test_the_parts_of_a_listing_are_limited(
    open_source: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "_MAX_PARTS", 3)
    with expect_error(HostErrorKind.PROTOCOL):
        list_paths(open_source())


def test_a_listing_that_repeats_itself_ends(open_source: Open) -> None:
    body = b"<a><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></a>"

    def script(connection: Any) -> None:
        while connection.recv(65536):
            connection.sendall(_answer("200 OK", body))

    with run_host(script) as port, expect_error(HostErrorKind.PROTOCOL):
        list_paths(open_source(endpoint_url=f"http://127.0.0.1:{port}"))


def test_a_document_that_breaks_off_is_an_error(open_source: Open) -> None:
    def script(connection: Any) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n" + LARGE)

    with run_host(script) as port:
        source = open_source(endpoint_url=f"http://127.0.0.1:{port}")
        with source.open("large.bin") as chunks, expect_error(HostErrorKind.UNREACHABLE):
            list(chunks)


def test_a_slow_answer_ends_by_its_deadline(
    open_source: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "READ_SECONDS", 0.3)

    def script(connection: Any) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n")
        drip(connection, b"x")

    with run_host(script) as port:
        source = open_source(endpoint_url=f"http://127.0.0.1:{port}")
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
