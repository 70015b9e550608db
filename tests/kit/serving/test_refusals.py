"""Error responses that the server itself sends, in the envelope of the API contract."""

import pytest

from tests.kit.serving.conftest import Answer, Server

POST = b"POST /echo HTTP/1.1\r\nHost: x\r\n"
LENGTH, CODING = b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n"
CHUNKED = POST + CODING + b"\r\n"
MALFORMED = {
    "a length and a coding": POST + LENGTH + CODING + b"\r\n0\r\n\r\n",
    "a coding and a length": POST + CODING + LENGTH + b"\r\n0\r\n\r\n",
    "the same length twice": POST + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
    "two lengths": POST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "lengths in a list": POST + b"Content-Length: 3, 3\r\n\r\nabc",
    "a signed length": POST + b"Content-Length: +3\r\n\r\nabc",
    "a negative length": POST + b"Content-Length: -3\r\n\r\nabc",
    "an empty length": POST + b"Content-Length:\r\n\r\n",
    "an endless length": POST + b"Content-Length: 99999999999999999999999\r\n\r\n",
    "a folded header": b"GET /echo HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\n\r\n",
    "a line feed alone": b"GET /echo HTTP/1.1\r\nHost: x\nX-A: b\r\n\r\n",
    "line feeds only": b"GET /echo HTTP/1.1\nHost: x\n\n",
    "a carriage return alone": b"GET /echo HTTP/1.1\r\nHost: x\rX-A: b\r\n\r\n",
    "space before a colon": b"GET /echo HTTP/1.1\r\nHost : x\r\n\r\n",
    "space before the coding's colon": POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "gzip": POST + b"Transfer-Encoding: gzip\r\n\r\n",
    "gzip, chunked": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked twice": POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "two codings": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n",
    "two codings, chunked last": POST + b"Transfer-Encoding: gzip\r\n" + CODING + b"\r\n0\r\n\r\n",
    "an unknown coding": POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "identity": POST + b"Transfer-Encoding: identity\r\n\r\n",
    "chunks in HTTP/1.0": b"POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a size that is none": CHUNKED + b"zz\r\nabc\r\n0\r\n\r\n",
    "a size with a prefix": CHUNKED + b"0x3\r\nabc\r\n0\r\n\r\n",
    "a size that overflows": CHUNKED + b"ffffffffffffffffff\r\nabc\r\n0\r\n\r\n",
    "a chunk that is too long": CHUNKED + b"3\r\nabcdef\r\n0\r\n\r\n",
    "chunks with line feeds": CHUNKED + b"3\nabc\n0\n\n",
    "a length in a trailer": CHUNKED + b"3\r\nabc\r\n0\r\nContent-Length: 3\r\n\r\n",
    "two hosts": b"GET /echo HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    "a null byte": b"GET /echo HTTP/1.1\r\nHost: x\r\nX-A: a\x00b\r\n\r\n",
    "no header": b"GET /echo HTTP/1.1\r\nHost x\r\n\r\n",
    "an unknown method": b"FETCH /echo HTTP/1.1\r\nHost: x\r\n\r\n",
    "a tunnel": b"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n",
    "another version": b"GET /echo HTTP/2.0\r\nHost: x\r\n\r\n",
    "no version": b"GET /echo\r\nHost: x\r\n\r\n",
    "a target with a space": b"GET /e cho HTTP/1.1\r\nHost: x\r\n\r\n",
    "a target that is none": b"GET echo HTTP/1.1\r\nHost: x\r\n\r\n",
    "an unknown expectation": POST + b"Expect: tea\r\nContent-Length: 3\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xa7" * 64,
}  # fmt: skip


def check(answer: Answer, status: int, code: str) -> None:
    """Check the envelope, and the headers of every response."""
    assert (answer.status, answer.code) == (status, code)
    assert answer.headers["connection"] == "close"
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert answer.headers["x-request-id"]
    assert answer.headers["date"].endswith("GMT")


def refuse(server: Server, request_bytes: bytes, status: int, code: str) -> Answer:
    """Send a request, check that it is refused and the connection ends; return the answer."""
    with server.connect() as client:
        answer = client.send(request_bytes).answer()
        check(answer, status, code)
        assert client.is_closed()
    return answer


@pytest.mark.parametrize("request_bytes", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_requests_are_refused_and_the_connection_ends(
    server: Server, request_bytes: bytes
) -> None:
    answer = refuse(server, request_bytes, 400, "validation_error")
    assert answer.json["error"]["field"] == "request"


@pytest.mark.parametrize("request_bytes", MALFORMED.values(), ids=MALFORMED.keys())
def test_they_are_refused_too_when_they_come_in_single_bytes(
    server: Server, request_bytes: bytes
) -> None:
    with server.connect() as client:
        for n in range(len(request_bytes)):
            try:
                client.send(request_bytes[n : n + 1])
            except (ConnectionResetError, BrokenPipeError):
                break
        check(client.answer(), 400, "validation_error")


@pytest.mark.parametrize(
    ("request_bytes", "status", "code"),
    [
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414, "uri_too_long"),
        (b"GET /" + b"a" * 70_000, 414, "uri_too_long"),
        (b"GET / HTTP/1.1\r\nX-A: " + b"a" * 9000 + b"\r\n\r\n", 431, "headers_too_large"),
        (b"GET / HTTP/1.1\r\n" + b"X-A: 1\r\n" * 101 + b"\r\n", 431, "headers_too_large"),
        (b"GET / HTTP/1.1\r\nX-A: " + b"a" * 70_000, 431, "headers_too_large"),
        (POST + b"Content-Length: 4194305\r\n\r\n", 413, "payload_too_large"),
        (CHUNKED + b"400001\r\n" + b"x" * 0x400001, 413, "payload_too_large"),
    ],
)
def test_what_is_too_large_is_refused_early(
    server: Server, request_bytes: bytes, status: int, code: str
) -> None:
    answer = refuse(server, request_bytes, status, code)
    if status == 413:
        assert answer.json["error"]["details"] == {"limit": 4 * 1024 * 1024}


def test_an_expected_refusal_comes_instead_of_a_continuation(server: Server) -> None:
    head = POST + b"Expect: 100-continue\r\nContent-Length: 999999999\r\n\r\n"
    check(server.exchange(head), 413, "payload_too_large")


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /echo HT",
        POST + b"Content-Length: 10\r\n\r\nabc",
        CHUNKED + b"5\r\nabc",
        CHUNKED + b"3\r\nabc\r\n",
        CHUNKED + b"3\r\nabc\r\n0\r\nX-A: b\r\n",
    ],
)
def test_a_request_that_ends_too_early_is_refused(server: Server, request_bytes: bytes) -> None:
    with server.connect() as client:
        client.send(request_bytes).socket.shutdown(1)
        check(client.answer(), 400, "validation_error")


@pytest.mark.parametrize(
    "request_bytes",
    [b"GET /ec", POST + b"Content-Length: 10\r\n\r\nabc", CHUNKED + b"5\r\nabc"],
)
def test_a_request_that_comes_too_slowly_is_refused(server: Server, request_bytes: bytes) -> None:
    refuse(server, request_bytes, 408, "request_timeout")


def test_a_connection_without_a_request_is_closed_without_an_answer(server: Server) -> None:
    with server.connect() as client:
        assert client.is_closed()


def test_a_refusal_echoes_the_request_id_and_may_be_read_by_allowed_origins(
    server: Server,
) -> None:
    head = POST + b"X-Request-ID: abc-1\r\nOrigin: https://app.example.com\r\n"
    answer = server.exchange(head + b"Transfer-Encoding: gzip\r\n\r\n")
    assert answer.headers["x-request-id"] == "abc-1"
    assert answer.headers["access-control-allow-origin"] == "https://app.example.com"


def test_other_origins_may_not_read_it(server: Server) -> None:
    head = POST + b"Origin: https://evil.example.com\r\nTransfer-Encoding: gzip\r\n\r\n"
    assert "access-control-allow-origin" not in server.exchange(head).headers


@pytest.mark.parametrize("at", ["start", "0"], ids=["the application", "before the first byte"])
def test_a_failure_before_any_byte_was_sent_is_an_internal_error(server: Server, at: str) -> None:
    request = f"GET /broken/{at} HTTP/1.1\r\nHost: x\r\n\r\n"
    check(server.exchange(request.encode()), 500, "internal_error")


@pytest.mark.parametrize("at", ["50", "early"])
def test_a_response_that_fails_later_ends_the_connection(server: Server, at: str) -> None:
    with server.connect() as client:
        client.send(f"GET /broken/{at} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        status, headers = client.head()
        assert (status, headers["content-length"]) == (200, str(200 * 65_536))
        assert len(client.rest()) < 200 * 65_536


def test_nothing_of_this_is_logged_with_a_traceback_but_failures_of_the_application(
    server: Server,
) -> None:
    server.exchange(CHUNKED + b"zz\r\n")
    server.until(lambda: "request.refused" in server.log.read_text(), "nothing was logged")
    log = server.log.read_text()
    expected = ("the application failed", "the storage failed", "were produced")
    traces = [line for line in log.splitlines() if "Traceback" in line]
    assert all(any(text in line for text in expected) for line in traces)
