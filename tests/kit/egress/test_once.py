"""Requests that must not be sent twice, and successful responses without their body."""

import socket
import threading
from typing import Any

import pytest

from app.kit.egress import Egress, RequestOutcome, sockets
from tests.factories.waiting import LONG
from tests.kit.egress.conftest import Peer, Receive


def post(egress: Egress, url: str, **options: Any) -> RequestOutcome:
    return egress.request("POST", url, body=b"{}", repeatable=False, total_timeout=LONG, **options)


def test_a_request_that_a_closing_receiver_has_read_is_not_repeated(
    egress: Egress, receive: Receive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "MAX_IDLE_SECONDS", LONG)
    receiver = receive(Peer.answer_once)
    assert post(egress, receiver.url).is_complete_success
    assert not post(egress, receiver.url).is_complete_success
    assert (receiver.connections, len(receiver.requests)) == (1, 2)


def test_a_connection_that_was_idle_is_not_used(
    egress: Egress, receive: Receive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "MAX_IDLE_SECONDS", -1.0)
    receiver = receive(Peer.answer_once)
    assert [post(egress, receiver.url).is_complete_success for _ in range(3)] == [True] * 3
    assert (receiver.connections, len(receiver.requests)) == (3, 3)


def test_a_connection_that_was_used_just_now_is_kept(
    egress: Egress, receive: Receive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "MAX_IDLE_SECONDS", LONG)
    receiver = receive()
    assert [post(egress, receiver.url).is_complete_success for _ in range(3)] == [True] * 3
    assert receiver.connections == 1


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
        b"HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
    ],
)
@pytest.mark.parametrize("how", ["silent", "endless", "broken", "malformed"])
def test_a_success_needs_no_body(
    egress: Egress, receive: Receive, stopped: threading.Event, head: bytes, how: str
) -> None:
    def script(peer: Peer) -> None:
        peer.request()
        peer.send(head)
        if how == "silent":
            stopped.wait(20)
        elif how == "endless":
            peer.drip(b"1\r\nx\r\n", stopped)
        elif how == "malformed":
            peer.send(b"zz\r\n\x00\r\n")
            peer.socket.shutdown(socket.SHUT_RDWR)

    receiver = receive(script)
    outcome = post(egress, receiver.url, success_body_seconds=0.2)
    assert outcome.is_success
    assert outcome.status_code in (200, 202)
    assert outcome.duration_ms < LONG * 1000 / 2
    assert len(receiver.requests) == 1


def test_the_time_for_a_success_is_not_that_of_others(
    egress: Egress, receive: Receive, stopped: threading.Event
) -> None:
    def script(peer: Peer) -> None:
        peer.request()
        peer.send(b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\n")
        stopped.wait(0.5)
        peer.send(b"down")

    receiver = receive(script)
    outcome = post(egress, receiver.url, success_body_seconds=0.1)
    assert (outcome.status_code, outcome.body, outcome.is_success) == (500, b"down", False)
