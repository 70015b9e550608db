"""The real application behind the real server. The clients send raw bytes."""

from collections.abc import Iterator

import pytest
from flask import Flask

from tests.factories import Org, make_org
from tests.kit.serving.conftest import Answer, Client, Server, start_server
from tests.kit.serving.test_refusals import check, refuse

ARTIFACTS = "/api/v1/artifacts"
BODY = b'{"name": "a.txt", "text": "hello"}'
CHUNK = b"%x\r\n%s\r\n" % (len(BODY), BODY)


@pytest.fixture(scope="module")
def real_server(
    app: Flask, environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """Run `wsgi.py` with the PostgreSQL and Redis servers of the tests."""
    folder = tmp_path_factory.mktemp("application")
    settings = {**environ, "LOG_LEVEL": "INFO", "DATA_DIR": str(folder / "data")}
    with start_server(folder, ["wsgi:app"], "/health/live", **settings) as server:
        yield server
        log = server.log.read_text()
        assert "Traceback" not in log
        assert "internal_error" not in log


@pytest.fixture(scope="module")
def tenant(app: Flask) -> Org:
    """Return the organization whose labeler sends the requests."""
    return make_org(app)


def head(*headers: bytes, org: Org | None = None, method: str = "POST") -> bytes:
    """Return the head of a request for the list of documents, signed by the labeler of `org`."""
    lines = [f"{method} {ARTIFACTS} HTTP/1.1", "Host: x", "Content-Type: application/json"]
    if org is not None:
        token = org.api("labeler").token
        lines += [f"Authorization: Bearer {token}", f"X-Org-Slug: {org.slug}"]
    return b"\r\n".join([*(line.encode() for line in lines), *headers, b"", b""])


def count_artifacts(org: Org) -> int:
    answer = org.api("admin").get("/artifacts")
    return int(answer.json["meta"]["total"])


MALFORMED_BODIES = {
    "a size that is none": CHUNK + b"zz\r\nabc\r\n0\r\n\r\n",
    "a chunk longer than its size": b"3\r\n" + BODY + b"\r\n0\r\n\r\n",
    "a size that overflows": CHUNK + b"ffffffffffffffffff\r\nabc\r\n0\r\n\r\n",
    "line feeds alone": b"%x\n%s\n0\n\n" % (len(BODY), BODY),
    "no line break behind a chunk": b"%x\r\n%s0\r\n\r\n" % (len(BODY), BODY),
}


@pytest.mark.parametrize("body", MALFORMED_BODIES.values(), ids=MALFORMED_BODIES.keys())
def test_malformed_chunks_create_nothing(real_server: Server, tenant: Org, body: bytes) -> None:
    before = count_artifacts(tenant)
    request_bytes = head(b"Transfer-Encoding: chunked", org=tenant) + body
    refuse(real_server, request_bytes, 400, "validation_error")
    assert count_artifacts(tenant) == before


SHORT = {
    "chunks without an end": (b"Transfer-Encoding: chunked", CHUNK),
    "half a chunk": (b"Transfer-Encoding: chunked", CHUNK[:-9]),
    "half a size": (b"Transfer-Encoding: chunked", CHUNK + b"1"),
    "less than Content-Length": (b"Content-Length: %d" % (len(BODY) + 1), BODY),
}


@pytest.mark.parametrize(("framing", "body"), SHORT.values(), ids=SHORT.keys())
def test_a_body_that_ends_too_early_creates_nothing(
    real_server: Server, tenant: Org, framing: bytes, body: bytes
) -> None:
    before = count_artifacts(tenant)
    with real_server.connect() as client:
        client.send(head(framing, org=tenant) + body).socket.shutdown(1)
        check(client.answer(), 400, "validation_error")
        assert client.is_closed()
    assert count_artifacts(tenant) == before


def test_a_client_that_resets_the_connection_creates_nothing(
    real_server: Server, tenant: Org
) -> None:
    before = count_artifacts(tenant)
    for framing in (b"Transfer-Encoding: chunked", b"Content-Length: %d" % (len(CHUNK) + 1)):
        client = real_server.connect().send(head(framing, org=tenant) + CHUNK)
        client.socket.close()
    assert real_server.get("/health/live").status == 200
    assert count_artifacts(tenant) == before


@pytest.mark.parametrize(
    ("request_bytes", "status", "code"),
    [
        (b"GET /health/live\r\n\r\n", 400, "validation_error"),
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414, "uri_too_long"),
        (b"GET / HTTP/1.1\r\nX-A: " + b"a" * 9000 + b"\r\n\r\n", 431, "headers_too_large"),
        (head(b"Expect: tea", b"Content-Length: 3"), 400, "validation_error"),
        (head(b"Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n", 400, "validation_error"),
        (head(b"Content-Length: 99999999") + b"[", 413, "payload_too_large"),
        (head(b"Content-Length: 99999999", b"Expect: 100-continue"), 413, "payload_too_large"),
    ],
)  # fmt: skip
def test_the_server_refuses_with_the_envelope_and_closes(
    real_server: Server, request_bytes: bytes, status: int, code: str
) -> None:
    refuse(real_server, request_bytes, status, code)


def says_what_it_does(client: Client, answer: Answer) -> None:
    """Check that the connection stays open exactly if the response says so."""
    if answer.headers["connection"] == "close":
        assert client.is_closed()
    else:
        client.send(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.answer().status == 200


@pytest.mark.parametrize("method", ["POST", "PUT"])
@pytest.mark.parametrize("size", [10, 300_000, 6_000_000])
def test_an_early_refusal_says_whether_the_connection_goes_on(
    real_server: Server, method: str, size: int
) -> None:
    """Without credentials or with an unknown method, the application reads no body."""
    with real_server.connect() as client:
        client.send(head(b"Content-Length: %d" % size, method=method) + b"x" * size)
        answer = client.answer()
        assert answer.status == (401 if method == "POST" else 405)
        assert answer.headers["x-request-id"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        if answer.status == 401:
            assert answer.headers["www-authenticate"] == "Bearer"
            assert answer.code == "invalid_credentials"
        says_what_it_does(client, answer)


def test_an_operation_with_a_small_limit_says_whether_the_connection_goes_on(
    real_server: Server,
) -> None:
    lines = b"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    with real_server.connect() as client:
        client.send(lines + b"Content-Length: 1000000\r\n\r\n" + b" " * 1_000_000)
        answer = client.answer()
        assert (answer.status, answer.code) == (413, "payload_too_large")
        says_what_it_does(client, answer)


def test_well_formed_chunks_are_taken(real_server: Server, tenant: Org) -> None:
    before = count_artifacts(tenant)
    with real_server.connect() as client:
        client.send(head(b"Transfer-Encoding: chunked", org=tenant) + CHUNK + b"0\r\n\r\n")
        assert client.answer().status == 201
    assert count_artifacts(tenant) == before + 1
