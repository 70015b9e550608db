import gzip
import socket
import struct
import threading
import time

import pytest

from app.kit.egress import Egress
from tests.factories.waiting import LONG, expect_to_end_soon
from tests.kit.egress.conftest import Peer, Receive, assert_times_out, post

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


@pytest.mark.parametrize(
    ("first", "dripped"),
    [
        (b"", b""),
        (b"", HEAD),
        (HEAD, b"X-More: and more\r\n"),
        (HEAD + b"Content-Length: 100000\r\n\r\n", b"x"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
def test_the_deadline_is_wall_clock_time(
    egress: Egress, receive: Receive, stopped: threading.Event, first: bytes, dripped: bytes
) -> None:
    receiver = receive(lambda peer: peer.drip_answer(first, dripped, stopped))
    started = time.monotonic()
    outcome = post(egress, receiver.url, total_timeout=0.5)
    assert 0.4 < time.monotonic() - started < LONG
    assert outcome.error_kind == "timeout"
    assert not outcome.is_complete_success
    assert 400 < outcome.duration_ms < LONG * 1000


def test_a_receiver_that_does_not_read_is_not_waited_for(
    egress: Egress, receive: Receive, stopped: threading.Event
) -> None:
    receiver = receive(lambda _: stopped.wait(20))
    assert_times_out(egress, receiver.url, bytes(64_000_000))


def test_no_time_at_all_is_a_timeout(egress: Egress, receive: Receive) -> None:
    assert post(egress, receive().url, total_timeout=0.0).error_kind == "timeout"


def test_only_the_beginning_of_a_large_body_is_read(egress: Egress, receive: Receive) -> None:
    sent = 0

    def script(peer: Peer) -> None:
        nonlocal sent
        while peer.request():
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            while sent < 1_000_000_000:
                peer.send(b"x" * 65_536)
                sent += 65_536

    receiver = receive(script)
    outcome = post(egress, receiver.url)
    assert outcome.is_complete_success
    assert outcome.body == b"x" * 16_384
    assert sent < 50_000_000
    assert post(egress, receiver.url, max_response_bytes=10).body == b"x" * 10
    assert receiver.connections == 2, "a connection with bytes left on it was used again"


@pytest.mark.parametrize("size", [0, 1, 16_383, 16_384, 16_385])
@pytest.mark.parametrize("chunked", [False, True])
def test_the_cap_is_exact(egress: Egress, receive: Receive, size: int, chunked: bool) -> None:
    body = bytes(size)
    if chunked:
        parts = [body[at : at + 1000] for at in range(0, size, 1000)]
        framed = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
        answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + framed + b"0\r\n\r\n"
    else:
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + body
    receiver = receive(lambda peer: peer.serve(answer))
    for _ in range(2):
        outcome = post(egress, receiver.url)
        assert outcome.is_complete_success
        assert outcome.body == body[:16_384]


def test_compressed_bodies_stay_compressed(egress: Egress, receive: Receive) -> None:
    bomb = gzip.compress(bytes(50_000_000))
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    receiver = receive(lambda peer: peer.serve(head + bomb))
    outcome = post(egress, receiver.url)
    assert outcome.body == bomb[:16_384]


@pytest.mark.parametrize(
    "endless",
    [
        b"X-Header: " + b"x" * 1000,
        b"X-Header: x\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 1000,
        b"Transfer-Encoding: chunked\r\n\r\n1;" + b"x" * 1000,
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"X-Trailer: x\r\n" * 100,
    ],
)
def test_endless_heads_and_frames_are_cut(egress: Egress, receive: Receive, endless: bytes) -> None:
    sent = 0

    def script(peer: Peer) -> None:
        nonlocal sent
        peer.request()
        prefix, framed, repeated = endless.partition(b"\r\n\r\n")
        if framed and repeated:
            peer.send(b"HTTP/1.1 200 OK\r\n" + prefix + framed)
        else:
            repeated = endless
            peer.send(b"" if endless.startswith(b"HTTP") else b"HTTP/1.1 200 OK\r\n")
        while sent < 200_000_000:
            peer.send(repeated * 50)
            sent += len(repeated) * 50

    receiver = receive(script)
    with expect_to_end_soon():
        outcome = post(egress, receiver.url)
    assert outcome.error_kind == "protocol"
    assert sent < 20_000_000


def reset(peer: Peer) -> None:
    peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.parametrize(
    "answer",
    [
        b"", b"\r\n\r\n", b"HTTP/1.1 20", b"HTTP/9.9 abc\r\n\r\n",
        b"\x00\xff" * 500, b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 99999 X\r\n\r\n",
        HEAD + b"Content-Length: 10\r\n\r\nabc", HEAD + b"Content-Length: 10\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n",
        HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    ],
)  # fmt: skip
@pytest.mark.parametrize("rudely", [False, True])
def test_broken_answers_are_protocol_errors(
    egress: Egress, receive: Receive, answer: bytes, rudely: bool
) -> None:
    def script(peer: Peer) -> None:
        peer.request()
        peer.send(answer)
        if rudely:
            reset(peer)

    receiver = receive(script)
    outcome = post(egress, receiver.url)
    assert outcome.error_kind == "protocol"
    assert outcome.error
    assert not outcome.is_complete_success
    assert len(receiver.requests) == 1, "a request on a new connection was repeated"


@pytest.mark.parametrize("rudely", [False, True])
def test_a_kept_connection_that_the_receiver_closed_is_replaced(
    egress: Egress, receive: Receive, rudely: bool
) -> None:
    def script(peer: Peer) -> None:
        peer.answer_once()  # then close the connection, as an idle server may do at this time
        if rudely:
            reset(peer)

    receiver = receive(script)
    assert post(egress, receiver.url).is_complete_success
    assert post(egress, receiver.url).is_complete_success
    assert (receiver.connections, len(receiver.requests)) == (2, 3)


def test_a_kept_connection_that_breaks_within_the_answer_is_not_replaced(
    egress: Egress, receive: Receive
) -> None:
    def script(peer: Peer) -> None:
        peer.answer_once()
        peer.send(b"HTTP/1.1 2")

    receiver = receive(script)
    assert post(egress, receiver.url).is_complete_success
    assert post(egress, receiver.url).error_kind == "protocol"
    assert len(receiver.requests) == 2


def test_a_kept_connection_that_stays_silent_is_not_tried_again(
    egress: Egress, receive: Receive, stopped: threading.Event
) -> None:
    def script(peer: Peer) -> None:
        peer.answer_once()
        stopped.wait(20)

    receiver = receive(script)
    assert post(egress, receiver.url).is_complete_success
    assert post(egress, receiver.url, total_timeout=0.3).error_kind == "timeout"
    assert len(receiver.requests) == 2
