"""S3, Google Cloud Storage and Azure Blob Storage: listings, hostile names, refusals."""

import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from app.engines.sources import azure, object_store, s3
from app.engines.sources.model import HostErrorKind, Source
from app.engines.sources.registry import TYPES
from tests.engines.sources import azure_server, gcs_server, s3_server
from tests.engines.sources.conftest import Open, OpenHost
from tests.engines.sources.hosts import build_response, find_closed_address, respond, run_web_host
from tests.engines.sources.large_keys import build_large_key
from tests.engines.sources.network import LoopbackNetwork, connect_freely
from tests.engines.sources.reading import (
    browse,
    expect_error,
    expect_missing,
    get_versions,
    list_documents,
    list_paths,
    read,
)

LARGE = os.urandom(700_000)
FILES = {
    "inbox/2029/a.txt": b"letter a",
    "inbox/2029/b.txt": b"letter b",
    "inbox/2029/deep/c.txt": b"letter c",
    "inbox/large.bin": LARGE,
    "inbox/z 50%&+=?#.txt": b"special",
    "inbox2/other.txt": b"another folder",
}
PATHS = ["2029/a.txt", "2029/b.txt", "2029/deep/c.txt", "large.bin", "z 50%&+=?#.txt"]


class Store(NamedTuple):
    """A running store with the containers `documents` and `private`."""

    server: s3_server.Server | gcs_server.Server | azure_server.Server
    type_name: str
    settings: dict[str, Any]

    def put(self, name: str, body: bytes) -> None:
        with connect_freely():
            self.server.put("documents", name, body)

    def delete(self, name: str) -> None:
        with connect_freely():
            self.server.delete("documents", name)


@pytest.fixture(scope="module")
def amazon() -> Iterator[Store]:
    server = s3_server.Server()
    yield Store(server, "s3", {"bucket": "documents", **server.settings})
    server.stop()


@pytest.fixture(scope="module")
def google() -> Iterator[Store]:
    server = gcs_server.Server("documents", "private")
    key = gcs_server.build_key()
    settings = {"bucket": "documents", "endpoint_url": server.url, "service_account": key}
    yield Store(server, "gcs", settings)
    server.stop()


@pytest.fixture(scope="module")
def microsoft() -> Iterator[Store]:
    server = azure_server.Server("documents", "private")
    account = {"account": azure_server.ACCOUNT, "account_key": azure_server.KEY}
    yield Store(server, "azure", {"container": "documents", "endpoint_url": server.url, **account})
    server.stop()


@pytest.fixture(scope="module", params=["amazon", "google", "microsoft"])
def store(request: pytest.FixtureRequest) -> Store:
    store: Store = request.getfixturevalue(request.param)
    for name, body in FILES.items():
        store.server.put("documents", name, body)
    return store


@pytest.fixture
def open_source(open_host: OpenHost) -> Open:
    def open_source(store: Store, **changes: Any) -> Source:
        return open_host(TYPES[store.type_name], {"prefix": "inbox", **store.settings, **changes})

    return open_source


@pytest.mark.parametrize("page_items", [1000, 2])
def test_documents_are_listed_in_order_and_read(
    open_source: Open,
    network: LoopbackNetwork,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    page_items: int,
) -> None:
    monkeypatch.setattr(s3, "_PAGE_KEYS", page_items)
    monkeypatch.setattr(azure, "_PAGE_ITEMS", page_items)
    if isinstance(store.server, gcs_server.Server):
        monkeypatch.setattr(store.server.handler, "page_items", page_items)
    source = open_source(store)
    objects = list_documents(source)
    assert [item.path for item in objects] == PATHS
    assert [item.size for item in objects] == [8, 8, 8, len(LARGE), 7]
    assert all(item.modified_at is not None and item.modified_at.tzinfo for item in objects)
    assert [read(source, path) for path in PATHS] == [FILES[f"inbox/{path}"] for path in PATHS]
    assert network.connections


@pytest.mark.parametrize("position", range(len(PATHS)))
def test_a_listing_continues_after_a_path(open_source: Open, store: Store, position: int) -> None:
    assert list_paths(open_source(store), PATHS[position]) == PATHS[position + 1 :]


def test_a_listing_continues_after_a_long_name(open_source: Open, google: Store) -> None:
    names = [f"{'字' * 225}{end}" for end in "abc"]
    for name in names:
        google.put(f"long/{name}", b"letter")
    source = open_source(google, prefix="long")
    assert list_paths(source) == names
    assert list_paths(source, names[0]) == names[1:]


def test_a_folder_is_browsed_level_by_level(open_source: Open, store: Store) -> None:
    source = open_source(store)
    assert browse(source) == [("2029", True), ("large.bin", False), ("z 50%&+=?#.txt", False)]
    assert browse(source, "2029/deep") == [("2029/deep/c.txt", False)]
    assert browse(source, limit=1) == [("2029", True)]
    with expect_error(HostErrorKind.NOT_FOUND):
        source.browse("2030", 10)


def test_a_change_has_another_version(open_source: Open, store: Store) -> None:
    store.put("changes/a.txt", b"before")
    source = open_source(store, prefix="changes")
    before = get_versions(source)
    store.put("changes/a.txt", b"change")
    assert get_versions(source) != before
    assert read(source, "a.txt") == b"change"
    store.delete("changes/a.txt")
    expect_missing(source, "a.txt")


def test_hostile_names_are_listed_and_read(open_source: Open, store: Store) -> None:
    names = ["\u202etxt.exe", "%2E%2E", "é" * 100, "+ +", "ä/ö ü.txt"]
    for name in names:
        store.put(f"hostile/{name}", name.encode())
    source = open_source(store, prefix="hostile")
    contents = [read(source, path) for path in list_paths(source)]
    assert sorted(contents) == sorted(name.encode() for name in names)
    assert all(path.isprintable() for path in list_paths(source))


@pytest.mark.parametrize("path", ["", "\ud800"])
def test_paths_of_no_document(open_source: Open, store: Store, path: str) -> None:
    expect_missing(open_source(store), path)


@pytest.mark.parametrize(
    "path",
    [
        *("../inbox2/other.txt", "%2E%2E/inbox2/other.txt", "2029/../../inbox2/other.txt"),
        *("..\\inbox2\\other.txt", "..%2Finbox2%2Fother.txt", "2029/./a.txt", "2029/.."),
    ],
)
def test_paths_do_not_leave_the_folder(
    open_source: Open, store: Store, network: LoopbackNetwork, path: str
) -> None:
    """No request is sent, because the host may resolve `..` although it should not."""
    with expect_error(HostErrorKind.NOT_ALLOWED), open_source(store).open(path):
        pass
    assert not network.connections


def _build_key(private_key: str) -> str:
    return json.dumps({"client_email": "a@b", "private_key": private_key})


OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = gcs_server.build_key(OTHER)
PUBLIC_KEY = OTHER.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
).decode()  # fmt: skip
OTHER_CURVE = ec.generate_private_key(ec.SECP256K1()).private_bytes(
    serialization.Encoding.PEM,
    serialization.PrivateFormat.PKCS8,
    serialization.NoEncryption(),
).decode()  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"service_account": OTHER_KEY}, HostErrorKind.CREDENTIALS_REFUSED),
        ({"service_account": "{}"}, HostErrorKind.CREDENTIALS_REFUSED),
        ({"service_account": "[1"}, HostErrorKind.CREDENTIALS_REFUSED),
        ({"service_account": _build_key("none")}, HostErrorKind.CREDENTIALS_REFUSED),
        ({"service_account": _build_key(PUBLIC_KEY)}, HostErrorKind.CREDENTIALS_REFUSED),
        ({"service_account": _build_key(OTHER_CURVE)}, HostErrorKind.CREDENTIALS_REFUSED),
        ({"bucket": "private"}, HostErrorKind.NOT_ALLOWED),
        ({"bucket": "missing"}, HostErrorKind.NOT_FOUND),
        ({"endpoint_url": "http://192.168.0.1"}, HostErrorKind.NOT_ALLOWED),
        ({"endpoint_url": "http://[::1"}, HostErrorKind.PROTOCOL),
    ],
)
def test_refusals_of_google_are_explained(
    open_source: Open, google: Store, changes: dict[str, str], kind: HostErrorKind
) -> None:
    with expect_error(kind, *changes.values()):
        list_paths(open_source(google, **changes))


def test_a_large_key_of_a_service_account_is_refused_before_a_request(
    open_source: Open, google: Store
) -> None:
    with expect_error(HostErrorKind.CREDENTIALS_REFUSED):
        open_source(google, service_account=gcs_server.build_key(build_large_key()))


READ_ONLY = azure_server.build_signature(read=True)
EXPIRED = azure_server.build_signature(hours=-1, read=True, list=True)
WRONG_KEY = "d3Jvbmcga2V5IG9mIGFuIGFjY291bnQ="


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"account_key": WRONG_KEY}, HostErrorKind.CREDENTIALS_REFUSED),
        ({"account_key": "A"}, HostErrorKind.CREDENTIALS_REFUSED),
        ({"account_key": None, "sas_token": READ_ONLY}, HostErrorKind.NOT_ALLOWED),
        ({"account_key": None, "sas_token": EXPIRED}, HostErrorKind.CREDENTIALS_REFUSED),
        ({"account_key": None, "sas_token": "sig=#"}, HostErrorKind.CREDENTIALS_REFUSED),
        ({"container": "missing"}, HostErrorKind.NOT_FOUND),
        ({"endpoint_url": "http://192.168.0.1"}, HostErrorKind.NOT_ALLOWED),
    ],
)
def test_refusals_of_azure_are_explained(
    open_source: Open, microsoft: Store, changes: dict[str, str], kind: HostErrorKind
) -> None:
    with expect_error(kind, WRONG_KEY, READ_ONLY, EXPIRED):
        list_paths(open_source(microsoft, **changes))


def test_a_signature_may_replace_the_key(open_source: Open, microsoft: Store) -> None:
    microsoft.put("signed/a.txt", b"letter")
    signature = "?" + azure_server.build_signature(read=True, list=True)
    source = open_source(microsoft, prefix="signed", account_key=None, sas_token=signature)
    assert read(source, *list_paths(source)) == b"letter"


def test_a_host_that_does_not_listen_is_unreachable(open_source: Open, store: Store) -> None:
    source = open_source(store, endpoint_url=find_closed_address())
    with expect_error(HostErrorKind.UNREACHABLE):
        list_paths(source)


# Characters that no database stores, and a time that does not exist in UTC.
_ITEM = b'{"name": "a", "generation": "1\\u0000", "size": "1", "updated": "2029-01-01T00:00:00Z"}'
_OLD = b'{"name": "a", "generation": "1", "size": "1", "updated": "0001-01-01T00:00:00+09:00"}'
_SIZE = b"<Properties><Content-Length>x</Content-Length></Properties>"
_BLOB = b"<Blobs><Blob><Name>a</Name>" + _SIZE + b"</Blob></Blobs>"
_INVALID_LISTINGS = (
    b"<html>",
    b"[]",
    b'{"items": [{"name": 7}]}',
    b'{"items": [%s]}' % _ITEM,
    b'{"items": [%s]}' % _OLD,
    b"<!DOCTYPE a [<!ENTITY b 'c'>]><EnumerationResults>&b;</EnumerationResults>",
    b"<EnumerationResults>" + _BLOB + b"</Blob></Blobs></EnumerationResults>",
)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        *((build_response("200 OK", body), HostErrorKind.PROTOCOL) for body in _INVALID_LISTINGS),
        (build_response("503 Slow Down", b"slow"), HostErrorKind.UNREACHABLE),
        (build_response("301 Moved", b"", "Location: http://127.0.0.1:1/"), HostErrorKind.PROTOCOL),
        (b"220 ftp.example.org ready\r\n", HostErrorKind.UNREACHABLE),
    ],
)
def test_hosts_that_are_no_object_stores_are_errors(
    open_source: Open, store: Store, answer: bytes, kind: HostErrorKind
) -> None:
    with run_web_host(respond(answer)) as url, expect_error(kind):
        list_paths(open_source(store, endpoint_url=url))


def test_the_parts_of_a_listing_are_limited(
    open_source: Open, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "_MAX_PARTS", 3)
    with expect_error(HostErrorKind.PROTOCOL):
        list_paths(open_source(store))


def test_a_refused_key_of_azure_is_distinguished_from_a_missing_permission(
    open_source: Open, microsoft: Store
) -> None:
    header = "x-ms-error-code: AuthenticationFailed"
    host = run_web_host(respond(build_response("403 Forbidden", b"<Error/>", header)))
    with host as url, expect_error(HostErrorKind.CREDENTIALS_REFUSED):
        list_paths(open_source(microsoft, endpoint_url=url))


def test_an_archived_blob_does_not_end_a_crawl(open_source: Open, microsoft: Store) -> None:
    answer = build_response("409 Conflict", b"", "x-ms-error-code: BlobArchived")
    with run_web_host(respond(answer)) as url:
        source = open_source(microsoft, endpoint_url=url)
        with expect_error(HostErrorKind.NOT_ALLOWED) as caught, source.open("a.txt"):
            pass
    assert "archive tier" in caught.value.message
