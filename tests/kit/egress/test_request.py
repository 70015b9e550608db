import json
import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from ipaddress import ip_network
from typing import Any

import pytest

from app.kit.egress import Egress, Policy
from tests.factories.waiting import LONG
from tests.kit.egress.conftest import COOKIE, Names, Peer, Receive, post


def test_an_answer_comes_back_whole(egress: Egress, receive: Receive) -> None:
    receiver = receive(
        lambda peer: peer.serve(b"HTTP/1.1 201 Made\r\nX-Thing: 1\r\nContent-Length: 4\r\n\r\nbody")
    )
    outcome = post(egress, receiver.url + "?q=%20x", headers={"X-Signature": "abc"})
    assert outcome.is_complete_success
    assert (outcome.status_code, outcome.body) == (201, b"body")
    assert outcome.headers["x-thing"] == "1"
    assert (outcome.error, outcome.error_kind) == (None, None)
    assert 0 <= outcome.duration_ms < LONG * 1000
    (request,) = receiver.requests
    head, _, body = request.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /hook?q=%20x HTTP/1.1"
    assert f"Host: 127.0.0.2:{receiver.port}" in lines
    assert "X-Signature: abc" in lines
    assert "Accept-Encoding: identity" in lines
    assert "Content-Length: 8" in lines
    assert body == b'{"a": 1}'


@pytest.mark.parametrize("status", [302, 301, 303, 307, 308, 404, 500])
def test_redirects_and_errors_are_answers(egress: Egress, receive: Receive, status: int) -> None:
    target = receive()
    answer = f"HTTP/1.1 {status} X\r\nLocation: {target.url}\r\nContent-Length: 0\r\n\r\n"
    receiver = receive(lambda peer: peer.serve(answer.encode()))
    outcome = post(egress, receiver.url)
    assert (outcome.status_code, outcome.error_kind) == (status, None)
    assert not outcome.is_complete_success
    assert outcome.headers["location"] == target.url
    assert target.connections == 0


@pytest.mark.parametrize(
    ("answer", "method"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", "DELETE"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", "HEAD"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "GET"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "PUT"),
    ],
)
def test_answers_without_a_body_leave_the_connection_usable(
    egress: Egress, receive: Receive, answer: bytes, method: str
) -> None:
    receiver = receive(lambda peer: peer.serve(answer))
    for _ in range(2):
        outcome = egress.request(method, receiver.url)
        assert outcome.is_complete_success
        assert outcome.body == b""
    assert receiver.connections == 1


def test_interim_answers_are_skipped(egress: Egress, receive: Receive) -> None:
    interim = b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    final = b"HTTP/1.1 201 Made\r\nX-Thing: 1\r\nContent-Length: 4\r\n\r\nbody"
    receiver = receive(lambda peer: peer.serve(interim + interim + final))
    for _ in range(2):
        outcome = post(egress, receiver.url)
        assert (outcome.status_code, outcome.body) == (201, b"body")
        assert outcome.headers == {"x-thing": "1", "content-length": "4"}
    assert receiver.connections == 1


def test_connections_are_kept_and_names_asked_for_once(
    egress: Egress, receive: Receive, names: Names
) -> None:
    names["receiver.example"] = ["then", "127.0.0.2", "127.0.0.1"]
    receiver = receive()
    url = f"http://receiver.example:{receiver.port}/"
    assert [post(egress, url).status_code for _ in range(5)] == [200] * 5
    assert receiver.connections == 1
    assert f"Host: receiver.example:{receiver.port}".encode() in receiver.requests[0]


def test_a_kept_connection_is_judged_again_for_every_request(
    egress: Egress, receive: Receive
) -> None:
    receiver = receive()
    assert post(egress, receiver.url).is_complete_success
    egress.policy = Policy((ip_network("127.0.0.3/32"),), allow_http=True)
    outcome = post(egress, receiver.url)
    assert outcome.error_kind == "refused_address"
    assert (receiver.connections, len(receiver.requests)) == (1, 1)


def test_inside_addresses_are_refused_and_never_connected_to(
    egress: Egress, receive: Receive
) -> None:
    receiver = receive(host="127.0.0.1")
    outcome = post(egress, receiver.url)
    assert outcome.error_kind == "refused_address"
    assert (outcome.status_code, outcome.body, outcome.is_complete_success) == (None, b"", False)
    assert outcome.error == "the host does not have a public address"
    assert receiver.connections == 0


def test_a_name_that_changes_its_address_is_refused_at_the_connection(
    egress: Egress, receive: Receive, names: Names
) -> None:
    names["rebinding.example"] = ["then", "1.1.1.1", "127.0.0.1"]
    receiver = receive(host="127.0.0.1")
    url = f"http://rebinding.example:{receiver.port}/"
    egress.check_url(url)
    assert post(egress, url).error_kind == "refused_address"
    assert receiver.connections == 0


def _at_one_port(receive: Receive) -> tuple[Any, socket.socket]:
    """Return a receiver, and a listener on the same port of another address."""
    while True:
        receiver = receive()
        with suppress(OSError):
            return receiver, socket.create_server(("127.0.0.1", receiver.port))


def test_the_address_that_was_judged_is_the_one_connected_to(
    egress: Egress, receive: Receive, names: Names
) -> None:
    receiver, elsewhere = _at_one_port(receive)
    names["rebinding.example"] = ["then", "127.0.0.2", "127.0.0.1"]
    with elsewhere:
        assert post(egress, f"http://rebinding.example:{receiver.port}/").is_complete_success
    assert receiver.connections == 1


def test_the_next_address_of_a_name_is_tried(receive: Receive, names: Names) -> None:
    egress = Egress(Policy((ip_network("127.0.0.2/31"),), allow_http=True))
    receiver = receive()
    names["two.example"] = ["127.0.0.3", "127.0.0.2"]
    assert post(egress, f"http://two.example:{receiver.port}/").is_complete_success


@pytest.mark.parametrize(
    "url", ["https://user:pw@127.0.0.2/", "ftp://127.0.0.2/", "", "http://[", "http://127.0.0.2:0/"]
)
def test_urls_that_went_bad_since_are_outcomes(egress: Egress, url: str) -> None:
    assert post(egress, url).error_kind == "refused_address"


def test_plain_http_is_refused_when_the_operator_changed_their_mind(receive: Receive) -> None:
    receiver = receive()
    outcome = post(Egress(Policy((ip_network("127.0.0.2/32"),))), receiver.url)
    assert outcome.error_kind == "refused_address"
    assert receiver.connections == 0


def test_an_unknown_name_and_a_closed_port_are_different_errors(egress: Egress) -> None:
    assert post(egress, "http://absent.example/").error_kind == "dns"
    with socket.socket() as closed:
        closed.bind(("127.0.0.2", 0))  # bound and not listening: whoever connects is refused
        port = closed.getsockname()[1]
        assert post(egress, f"http://127.0.0.2:{port}/").error_kind == "connect"


def test_cookies_are_not_kept(egress: Egress, receive: Receive) -> None:
    receiver = receive(lambda peer: peer.serve(COOKIE))
    for _ in range(2):
        assert post(egress, receiver.url).is_complete_success
    assert not any(b"cookie" in request.lower() for request in receiver.requests)


def test_proxies_and_credentials_of_the_surroundings_are_ignored(
    egress: Egress, receive: Receive, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    receiver = receive()
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    (tmp_path / ".netrc").write_text("machine 127.0.0.2 login a password b")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    assert post(egress, receiver.url).is_complete_success
    assert egress.session().get(receiver.url).status_code == 200
    assert not any(b"authorization" in request.lower() for request in receiver.requests)


@pytest.mark.parametrize(
    "headers",
    [
        {"X": "a\r\nHost: b"},
        {"X": "a\nb"},
        {"X\r\nY": "a"},
        {"X:": "a"},
        {"Host": "other.example"},
        {"content-length": "3"},
        {"Transfer-Encoding": "chunked"},
        {"ACCEPT-ENCODING": "gzip"},
    ],
)
def test_headers_that_are_not_the_callers_raise(
    egress: Egress, receive: Receive, headers: dict[str, str]
) -> None:
    receiver = receive()
    with pytest.raises(ValueError, match=r"(?i)header|caller"):
        post(egress, receiver.url, headers=headers)
    assert receiver.connections == 0


@pytest.mark.parametrize("method", ["", "GET /", "GET\r\nX: y", "GÉT"])
def test_methods_that_are_none_raise(egress: Egress, receive: Receive, method: str) -> None:
    with pytest.raises(ValueError, match="method"):
        egress.request(method, receive().url)


def test_many_threads_get_their_own_answers(egress: Egress, receive: Receive) -> None:
    def echo(peer: Peer) -> None:
        while request := peer.request():
            body = request.partition(b"\r\n\r\n")[2]
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    receiver = receive(echo)

    def exchange(number: int) -> None:
        body = json.dumps({"number": number, "padding": "x" * (number % 900)}).encode()
        assert egress.request("POST", receiver.url, body=body).body == body

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(exchange, range(400)))
    assert receiver.connections <= 16


def test_one_slow_receiver_does_not_hold_up_another(
    egress: Egress, receive: Receive, stopped: threading.Event
) -> None:
    slow = receive(lambda _: stopped.wait(20))
    quick = receive()
    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(post, egress, slow.url, total_timeout=LONG) for _ in range(7)]
        assert all(post(egress, quick.url).is_complete_success for _ in range(20))
        assert not any(future.done() for future in futures)
        stopped.set()
        assert {future.result().error_kind for future in futures} == {"protocol"}


def test_a_fork_does_not_share_its_connections(egress: Egress, receive: Receive) -> None:
    receiver = receive()
    assert post(egress, receiver.url).is_complete_success
    child = os.fork()
    if child == 0:
        os._exit(0 if post(egress, receiver.url).is_complete_success else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert post(egress, receiver.url).is_complete_success
    assert receiver.connections == 2


def test_no_descriptor_is_left_behind(egress: Egress, receive: Receive) -> None:
    broken = receive(lambda peer: peer.request())
    large = receive(
        lambda peer: peer.serve(b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n" + bytes(90_000))
    )
    for _ in range(3):
        post(egress, broken.url)
        post(egress, large.url)
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(20):
        post(egress, broken.url)
        post(egress, large.url)
    # The receivers are threads of this process, so their ends of the connections also count.
    until = time.monotonic() + 10
    while len(os.listdir("/proc/self/fd")) > before + 2 and time.monotonic() < until:  # noqa: PTH208
        threading.Event().wait(0.02)
    assert len(os.listdir("/proc/self/fd")) <= before + 2  # noqa: PTH208
