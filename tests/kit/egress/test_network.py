"""Networks for engines that end after a time."""

import socket
import threading
import time
from ipaddress import ip_network

import pytest
import requests

from app.kit.egress import Egress, ExpiringNetwork, Policy
from tests.factories.waiting import LONG
from tests.kit.egress.conftest import INSIDE, Peer, Receive


def _build(seconds: float) -> ExpiringNetwork:
    policy = Policy(allowed_networks=(ip_network(f"{INSIDE}/32"),), allow_http=True)
    return ExpiringNetwork(Egress(policy), PermissionError, seconds)


@pytest.mark.parametrize("is_detached", [False, True])
def test_the_end_interrupts_an_operation(
    receive: Receive, stopped: threading.Event, *, is_detached: bool
) -> None:
    """A detached socket object represents TLS, which wraps the connection in another object."""
    receiver = receive(lambda peer: peer.drip(b"x", stopped))
    started = time.monotonic()
    with _build(0.3) as network:
        connection = network.connect(INSIDE, receiver.port, LONG)
        if is_detached:
            connection = socket.socket(fileno=connection.detach())
            connection.settimeout(LONG)
        with connection:
            while connection.recv(1):
                assert time.monotonic() - started < LONG
        with pytest.raises(TimeoutError):
            network.connect(INSIDE, receiver.port, LONG)


def test_the_end_interrupts_requests(receive: Receive, stopped: threading.Event) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
    receiver = receive(lambda peer: peer.drip_answer(head, b"x", stopped))
    with _build(0.5) as network:
        session = network.session(total_timeout=LONG, max_response_bytes=10_000_000)
        with pytest.raises(requests.RequestException):
            session.get(receiver.url)
        with pytest.raises(requests.RequestException):
            session.get(receiver.url)


def test_connections_close_when_the_network_is_left(receive: Receive) -> None:
    closed = threading.Event()

    def script(peer: Peer) -> None:
        assert peer.request() == b""
        closed.set()

    receiver = receive(script)
    with _build(LONG) as network:
        network.connect(INSIDE, receiver.port, LONG).close()
    assert closed.wait(LONG)
