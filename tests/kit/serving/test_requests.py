"""Requests in parts, pipelined requests, and both HTTP versions."""

import hashlib
import os
from collections import Counter
from pathlib import Path

import psutil
import pytest

from tests.kit.serving.conftest import Server, start_server

BODY = os.urandom(300_000)


def chunked(body: bytes, size: int) -> bytes:
    parts = [body[n : n + size] for n in range(0, len(body), size)]
    framed = b"".join(b"%x;ext=1\r\n%s\r\n" % (len(part), part) for part in parts)
    return framed + b"0\r\nX-Trailer: 1\r\n\r\n"


def post(body: bytes, *headers: bytes) -> bytes:
    head = b"\r\n".join([b"POST /echo?a=%20b HTTP/1.1", b"Host: x", *headers])
    return head + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body


@pytest.mark.parametrize("size", [1, 5, 3000])
def test_a_request_may_come_in_pieces(server: Server, size: int) -> None:
    data = post(BODY[:2000])
    with server.connect() as client:
        for n in range(0, len(data), size):
            client.send(data[n : n + size])
        answer = client.answer()
    assert (answer.status, answer.json["size"], answer.json["query"]) == (200, 2000, "a=%20b")
    assert answer.json["sha256"] == hashlib.sha256(BODY[:2000]).hexdigest()


@pytest.mark.parametrize("size", [0, 1, 65_536, 65_537, 300_000])
def test_bodies_of_any_size_arrive_whole(server: Server, size: int) -> None:
    head = b"POST /echo HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n"
    with server.connect() as client:
        for data in (
            post(BODY[:size]),
            head + b"\r\n" + chunked(BODY[:size], 7777),
            # Java's client offers HTTP/2 in this way.
            head + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n" + chunked(BODY[:size], 7777),
        ):
            answer = client.send(data).answer()
            assert (answer.status, answer.json["size"]) == (200, size)
            assert answer.json["sha256"] == hashlib.sha256(BODY[:size]).hexdigest()
            assert answer.headers["connection"] == "keep-alive"
    leftover_names = {path.name for path in (server.folder / "data").iterdir()} - {"metrics"}
    assert not leftover_names


def test_trailers_and_headers_with_underscores_are_no_headers(server: Server) -> None:
    head = b"POST /echo HTTP/1.1\r\nX_Real: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = server.exchange(head + chunked(b"abc", 3))
    assert answer.json["headers"] == ["HTTP_TRANSFER_ENCODING"]


def test_pipelined_requests_are_answered_in_their_order(server: Server) -> None:
    request_template = b"GET /echo/%d HTTP/1.1\r\nHost: x\r\n\r\n"
    with server.connect() as client:
        client.send(b"".join(request_template % n for n in range(20)))
        client.send(post(BODY[:20_000]) + request_template % 20 + b"GET /echo/21")
        paths = [client.answer().json["path"] for _ in range(22)]
        assert paths == [*(f"/echo/{n}" for n in range(20)), "/echo", "/echo/20"]
        client.send(b" HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.answer().json["path"] == "/echo/21"


def test_a_request_behind_a_chunked_one_ends_the_connection(server: Server) -> None:
    """The parser has consumed the bytes. Clients must repeat requests without a response anyway."""
    head = b"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    with server.connect() as client:
        client.send(head + chunked(b"abc", 3) + b"GET /echo HTTP/1.1\r\n\r\n")
        answer = client.answer()
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        assert client.is_closed()


@pytest.mark.parametrize(
    ("request_bytes", "connection"),
    [
        (b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n", "keep-alive"),
        (b"\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n", "keep-alive"),
        (b"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: Close\r\n\r\n", "close"),
        (
            b"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nConnection: TE\r\n\r\n",
            "close",
        ),
        (b"GET /echo HTTP/1.0\r\n\r\n", "close"),
        (b"GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "keep-alive"),
        (b"GET http://x/echo HTTP/1.1\r\nHost: x\r\n\r\n", "keep-alive"),
        (
            b"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
            "keep-alive",
        ),
    ],
)
def test_the_connection_stays_as_the_client_wants_it(
    server: Server, request_bytes: bytes, connection: str
) -> None:
    with server.connect() as client:
        answer = client.send(request_bytes).answer()
        assert (answer.status, answer.headers["connection"]) == (200, connection)
        assert answer.json["path"] == "/echo"
        if connection == "close":
            assert client.is_closed()
        else:
            assert client.send(request_bytes).answer().status == 200


def test_a_body_is_asked_for_when_the_client_waits_to_be_asked(server: Server) -> None:
    head, _, body = post(BODY, b"Expect: 100-continue").partition(b"\r\n\r\n")
    with server.connect() as client:
        assert client.send(head + b"\r\n\r\n").head()[0] == 100
        assert client.send(body).answer().json["size"] == len(BODY)
        with_body = post(b"abc", b"Expect: 100-continue")
        assert client.send(with_body).answer().json["size"] == 3


def test_a_head_request_has_no_body_in_its_answer(server: Server) -> None:
    with server.connect() as client:
        answer = client.send(b"HEAD /large/9 HTTP/1.1\r\nHost: x\r\n\r\n").answer(has_body=False)
        assert answer.headers["content-length"] == str(9 * 65_536)
        assert client.send(b"GET /echo HTTP/1.1\r\n\r\n").answer().status == 200


def test_a_response_without_a_length_comes_in_chunks(server: Server) -> None:
    with server.connect() as client:
        _, headers = client.send(b"GET /stream HTTP/1.1\r\nConnection: close\r\n\r\n").head()
        assert headers["transfer-encoding"] == "chunked"
        assert client.rest() == b"4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n"
    with server.connect() as client:
        _, headers = client.send(b"GET /stream HTTP/1.0\r\n\r\n").head()
        assert "transfer-encoding" not in headers
        assert client.rest() == b"one two"


def test_a_large_response_arrives_whole_however_it_is_read(server: Server) -> None:
    with server.connect() as client:
        _, headers = client.send(b"GET /large/300 HTTP/1.1\r\nHost: x\r\n\r\n").head()
        assert headers["content-length"] == str(300 * 65_536)
        client.skip(300 * 65_536, part=10_007)
        assert client.send(b"GET /echo HTTP/1.1\r\n\r\n").answer().status == 200


def test_a_client_that_leaves_ends_its_response(server: Server) -> None:
    before = len(server.get().json["closed"])
    with server.connect() as client:
        client.send(b"GET /large/3000 HTTP/1.1\r\nHost: x\r\n\r\n").head()
    server.until(lambda: len(server.get().json["closed"]) > before, "its parts are not closed")


def test_a_client_that_ends_its_side_is_answered(server: Server) -> None:
    with server.connect() as client:
        client.send(b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n").socket.shutdown(1)
        assert client.answer().status == 200
        assert client.is_closed()


def test_requests_that_take_long_do_not_use_up_their_clients_patience(server: Server) -> None:
    """More requests than threads, so that some wait longer than a slow client may take."""
    with server.open_clients(8, b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n") as clients:
        assert [client.answer().body for client in clients] == [b"slow"] * 8


def test_connections_are_shared_among_the_processes(tmp_path: Path) -> None:
    """Persistent connections are served by all processes, not by one of them."""
    with start_server(tmp_path, WEB_WORKERS="2") as server:
        pids: Counter[int] = Counter()
        master = psutil.Process(server.process.pid)
        server.until(lambda: len(master.children()) == 2, "both processes run")
        server.until(lambda: len(pids_at_work(server)) == 2, "both processes answer")
        for _ in range(5):
            pids.update(pids_at_work(server))
        assert min(pids.values()) >= 10


def pids_at_work(server: Server) -> Counter[int]:
    """Count the processes that respond on eight connections that are open at the same time."""
    with server.open_clients(8) as clients:
        for client in clients:
            client.send(b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n")
        return Counter(client.answer().json["pid"] for client in clients)


def test_a_client_that_sends_far_ahead_is_disconnected_after_its_response(server: Server) -> None:
    """The extra data would stay in memory for as long as the client does not read."""
    request_template = b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n"
    with server.connect() as client:
        client.send(request_template * 20_000)
        answer = client.answer()
        assert answer.status == 200
        while answer.headers["connection"] == "keep-alive":
            answer = client.answer()
        assert client.is_closed()
