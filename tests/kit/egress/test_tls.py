import ssl
import threading
import time
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
import trustme

from app.kit.egress import Egress, Policy
from tests.kit.egress.conftest import LONG

Receive = Callable[..., Any]
POLICY = Policy((ip_network("127.0.0.2/32"),))


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def secure(authority: trustme.CA, tmp_path: Path, names: dict[str, list[str]]) -> Egress:
    """Return a client that trusts the authority, and define two host names."""
    names["receiver.example"] = ["127.0.0.2"]
    names["other.example"] = ["127.0.0.2"]
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(file))
    return Egress(POLICY, ca_file=str(file))


def server_context(authority: trustme.CA, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


def test_name_and_certificate_are_those_of_the_host(
    secure: Egress, receive: Receive, authority: trustme.CA
) -> None:
    context = server_context(authority, "receiver.example")
    asked_for: list[str | None] = []
    context.sni_callback = lambda _, name, __: asked_for.append(name)
    receiver = receive(context=context)
    url = f"https://receiver.example:{receiver.port}/hook"
    for _ in range(3):
        outcome = secure.request("POST", url, body=b"x" * 100_000)
        assert outcome.is_complete_success, outcome
    assert asked_for == ["receiver.example"]
    assert receiver.connections == 1
    assert f"Host: receiver.example:{receiver.port}".encode() in receiver.requests[0]


def test_an_address_can_have_a_certificate(
    secure: Egress, receive: Receive, authority: trustme.CA
) -> None:
    receiver = receive(context=server_context(authority, "127.0.0.2"))
    assert secure.request("POST", receiver.url).is_complete_success


def test_a_certificate_of_another_name_is_refused(
    secure: Egress, receive: Receive, authority: trustme.CA
) -> None:
    receiver = receive(context=server_context(authority, "receiver.example"))
    outcome = secure.request("POST", f"https://other.example:{receiver.port}/")
    assert outcome.error_kind == "tls"
    assert "certificate" in (outcome.error or "")
    assert receiver.requests == []


def test_an_unknown_authority_is_refused(secure: Egress, receive: Receive) -> None:
    receiver = receive(context=server_context(trustme.CA(), "receiver.example"))
    outcome = secure.request("POST", f"https://receiver.example:{receiver.port}/")
    assert outcome.error_kind == "tls"
    assert receiver.requests == []


def test_a_server_that_speaks_no_tls_is_a_tls_error(secure: Egress, receive: Receive) -> None:
    receiver = receive(lambda peer: peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 20))
    outcome = secure.request("POST", f"https://receiver.example:{receiver.port}/")
    assert outcome.error_kind == "tls"


@pytest.mark.parametrize("first", [b"", b"\x16\x03\x03\x40\x00"])
def test_the_deadline_holds_for_the_handshake(
    secure: Egress, receive: Receive, stopped: threading.Event, first: bytes
) -> None:
    def script(peer: Any) -> None:
        peer.send(first)
        peer.drip(b"\x02" if first else b"", stopped)

    receiver = receive(script)
    started = time.monotonic()
    outcome = secure.request("POST", f"https://receiver.example:{receiver.port}/", deadline=0.5)
    assert time.monotonic() - started < LONG
    assert outcome.error_kind == "timeout"


@pytest.mark.parametrize("first", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"])
def test_the_deadline_holds_for_dripped_answers(
    secure: Egress,
    receive: Receive,
    authority: trustme.CA,
    stopped: threading.Event,
    first: bytes,
) -> None:
    def script(peer: Any) -> None:
        peer.request()
        peer.send(first)
        peer.drip(b"HTTP/1.1 200 OK\r\n", stopped)

    receiver = receive(script, context=server_context(authority, "receiver.example"))
    started = time.monotonic()
    outcome = secure.request("POST", f"https://receiver.example:{receiver.port}/", deadline=0.5)
    assert time.monotonic() - started < LONG
    assert outcome.error_kind == "timeout"


def test_the_deadline_holds_while_sending(
    secure: Egress, receive: Receive, authority: trustme.CA, stopped: threading.Event
) -> None:
    receiver = receive(
        lambda _: stopped.wait(20), context=server_context(authority, "receiver.example")
    )
    started = time.monotonic()
    outcome = secure.request(
        "POST", f"https://receiver.example:{receiver.port}/", body=bytes(64_000_000), deadline=0.5
    )
    assert time.monotonic() - started < LONG
    assert outcome.error_kind == "timeout"


def test_large_answers_are_cut(secure: Egress, receive: Receive, authority: trustme.CA) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n" + b"x" * 900_000
    receiver = receive(
        lambda peer: peer.serve(answer), context=server_context(authority, "receiver.example")
    )
    url = f"https://receiver.example:{receiver.port}/"
    for _ in range(2):
        assert secure.request("POST", url).body == b"x" * 16_384


def test_a_closed_kept_connection_is_replaced(
    secure: Egress, receive: Receive, authority: trustme.CA
) -> None:
    def script(peer: Any) -> None:
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        peer.request()

    receiver = receive(script, context=server_context(authority, "receiver.example"))
    url = f"https://receiver.example:{receiver.port}/"
    assert [secure.request("POST", url).is_complete_success for _ in range(2)] == [True, True]
    assert receiver.connections == 2


def test_sessions_check_certificates_whatever_they_are_told(
    secure: Egress, receive: Receive, authority: trustme.CA
) -> None:
    foreign = receive(context=server_context(trustme.CA(), "receiver.example"))
    own = receive(context=server_context(authority, "receiver.example"))
    session = secure.session()
    session.verify = False
    with pytest.raises(OSError, match="certificate"):
        session.get(f"https://receiver.example:{foreign.port}/", verify=False)
    assert session.get(f"https://receiver.example:{own.port}/").text == "ok"
