import gzip
import threading
from math import inf
from typing import Any

import pytest
import requests

from app.kit.egress import Egress, EgressRefused
from tests.factories.waiting import LONG, expect_to_end_soon
from tests.kit.egress.conftest import COOKIE, Peer, Receive


def test_a_session_reaches_what_the_door_reaches(egress: Egress, receive: Receive) -> None:
    receiver = receive()
    session = egress.session()
    assert session.get(receiver.url).text == "ok"
    assert session.post(receiver.url, json={"a": 1}).status_code == 200
    assert receiver.connections == 1
    assert b"Accept-Encoding: identity" in receiver.requests[0]


def test_a_session_is_refused_where_the_door_is_shut(egress: Egress, receive: Receive) -> None:
    receiver = receive(host="127.0.0.1")
    session = egress.session()
    for url in (receiver.url, "https://user:pw@127.0.0.2/", "http://169.254.169.254/latest"):
        with pytest.raises(EgressRefused):
            session.get(url)
    with pytest.raises(requests.exceptions.InvalidSchema):
        session.get("file:///etc/passwd")
    assert receiver.connections == 0


def test_a_session_ignores_proxies_it_is_given(egress: Egress, receive: Receive) -> None:
    receiver, proxy = receive(), receive(host="127.0.0.1")
    session = egress.session()
    session.proxies = {"http": proxy.url, "https": proxy.url}
    assert session.get(receiver.url).text == "ok"
    assert proxy.connections == 0


@pytest.mark.parametrize("follow", [True, False])
def test_a_session_follows_no_redirect(egress: Egress, receive: Receive, follow: bool) -> None:
    target = receive()
    receiver = receive(
        lambda peer: peer.serve(
            b"HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: " + target.url.encode() + b"\r\n\r\n"
        )
    )
    response = egress.session().get(receiver.url, allow_redirects=follow)
    assert response.status_code == 302
    assert target.connections == 0


def test_a_session_keeps_no_cookie(egress: Egress, receive: Receive) -> None:
    receiver = receive(lambda peer: peer.serve(COOKIE))
    session = egress.session()
    for _ in range(2):
        session.get(receiver.url)
    assert not any(b"cookie" in request.lower() for request in receiver.requests)


def test_a_name_without_address_is_a_connection_error(egress: Egress) -> None:
    with pytest.raises(requests.exceptions.ConnectionError):
        egress.session().get("https://absent.example/")


def test_a_sessions_deadline_holds_for_the_body_too(
    egress: Egress, receive: Receive, stopped: threading.Event
) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
    receiver = receive(lambda peer: peer.drip_answer(head, b"x", stopped))
    with expect_to_end_soon(), pytest.raises(requests.exceptions.RequestException):
        egress.session(total_timeout=0.5).get(receiver.url)


def test_a_session_takes_only_so_much(egress: Egress, receive: Receive) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n" + bytes(2_000_000)
    receiver = receive(lambda peer: peer.serve(answer))
    with pytest.raises(requests.exceptions.RequestException):
        egress.session(max_response_bytes=1_000_000).get(receiver.url)
    assert len(egress.session(max_response_bytes=2_000_000).get(receiver.url).content) == 2_000_000


def test_a_session_unpacks_nothing(egress: Egress, receive: Receive) -> None:
    bomb = gzip.compress(bytes(50_000_000))
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    receiver = receive(lambda peer: peer.serve(head + bomb))
    assert egress.session().get(receiver.url).content == bomb


def test_a_session_streams_without_limits_on_request(egress: Egress, receive: Receive) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n" + bytes(2_000_000)
    receiver = receive(lambda peer: peer.serve(answer))
    session = egress.session(total_timeout=inf, max_response_bytes=10**12)
    with session.get(receiver.url, stream=True) as response:
        assert sum(map(len, response.iter_content(65_536))) == 2_000_000


def _put(
    session: requests.Session, url: str, chunks: Any, size: int, timeout: Any = None
) -> requests.Response:
    """Send a body of known length from an iterator."""
    prepared = session.prepare_request(requests.Request("PUT", url))
    prepared.body = chunks
    prepared.headers["Content-Length"] = str(size)
    return session.send(prepared, timeout=timeout)


def test_a_session_sends_a_streamed_body_with_its_length(egress: Egress, receive: Receive) -> None:
    receiver = receive()
    chunks = (bytes([number]) * 10_000 for number in range(100))
    assert _put(egress.session(), receiver.url, chunks, 1_000_000).text == "ok"
    head, _, body = receiver.requests[0].partition(b"\r\n\r\n")
    assert body == b"".join(bytes([number]) * 10_000 for number in range(100))
    assert b"Content-Length: 1000000" in head
    assert b"Transfer-Encoding" not in head


def test_a_sessions_deadline_holds_for_a_streamed_body(
    egress: Egress, receive: Receive, stopped: threading.Event
) -> None:
    def script(peer: Peer) -> None:
        while not stopped.wait(0.05):
            peer.socket.recv(1)

    receiver = receive(script)
    chunks = (bytes(65_536) for _ in range(1000))
    with expect_to_end_soon(), pytest.raises(requests.exceptions.RequestException):
        _put(egress.session(total_timeout=0.5), receiver.url, chunks, 65_536_000)


@pytest.mark.parametrize("sends", [True, False])
@pytest.mark.parametrize("total_timeout", [10 * LONG, inf])
def test_a_session_ends_by_the_silence_of_the_receiver(
    egress: Egress, receive: Receive, stopped: threading.Event, sends: bool, total_timeout: float
) -> None:
    """The read timeout applies within the deadline, and to each chunk of the body."""

    def script(peer: Peer) -> None:
        if not sends:
            peer.request()
        stopped.wait(20)

    receiver = receive(script)
    chunks = (bytes(65_536) for _ in range(1000 if sends else 1))
    size = 65_536_000 if sends else 65_536
    session = egress.session(total_timeout=total_timeout)
    with expect_to_end_soon(), pytest.raises(requests.exceptions.RequestException):
        _put(session, receiver.url, chunks, size, timeout=(10, 0.5))


def test_an_exception_of_a_streamed_body_closes_the_connection(
    egress: Egress, receive: Receive
) -> None:
    ended = threading.Event()

    def script(peer: Peer) -> None:
        assert peer.request() == b""
        ended.set()

    def read() -> Any:
        yield bytes(1000)
        raise LookupError("the file is gone")

    receiver = receive(script)
    with pytest.raises(LookupError):
        _put(egress.session(), receiver.url, read(), 1_000_000)
    assert ended.wait(LONG)
