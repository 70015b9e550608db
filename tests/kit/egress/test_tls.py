import ssl
import threading
from ipaddress import ip_network
from pathlib import Path

import pytest
import trustme

from app.kit.egress import Egress, Policy
from tests.kit.egress.conftest import Names, Peer, Receive, Receiver, assert_times_out

POLICY = Policy((ip_network("127.0.0.2/32"),))


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def secure(authority: trustme.CA, tmp_path: Path, names: Names) -> Egress:
    """Return a client that trusts the authority, and define two host names."""
    names["receiver.example"] = ["127.0.0.2"]
    names["other.example"] = ["127.0.0.2"]
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(file))
    return Egress(POLICY, ca_file=str(file))


def build_context(authority: trustme.CA, name: str = "receiver.example") -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


@pytest.fixture
def context(authority: trustme.CA) -> ssl.SSLContext:
    """Return the context of a server with a valid certificate for receiver.example."""
    return build_context(authority)


def build_url(receiver: Receiver, host: str = "receiver.example") -> str:
    return f"https://{host}:{receiver.port}/hook"


def test_name_and_certificate_are_those_of_the_host(
    secure: Egress, receive: Receive, context: ssl.SSLContext
) -> None:
    requested_names: list[str | None] = []
    context.sni_callback = lambda _, name, __: requested_names.append(name)
    receiver = receive(context=context)
    for _ in range(3):
        outcome = secure.request("POST", build_url(receiver), body=b"x" * 100_000)
        assert outcome.is_complete_success, outcome
    assert requested_names == ["receiver.example"]
    assert receiver.connections == 1
    assert f"Host: receiver.example:{receiver.port}".encode() in receiver.requests[0]


def test_an_address_can_have_a_certificate(
    secure: Egress, receive: Receive, authority: trustme.CA
) -> None:
    receiver = receive(context=build_context(authority, "127.0.0.2"))
    assert secure.request("POST", receiver.url).is_complete_success


def test_a_certificate_of_another_name_is_refused(
    secure: Egress, receive: Receive, context: ssl.SSLContext
) -> None:
    receiver = receive(context=context)
    outcome = secure.request("POST", build_url(receiver, "other.example"))
    assert outcome.error_kind == "tls"
    assert "certificate" in (outcome.error or "")
    assert receiver.requests == []


def test_an_unknown_authority_is_refused(secure: Egress, receive: Receive) -> None:
    receiver = receive(context=build_context(trustme.CA()))
    outcome = secure.request("POST", build_url(receiver))
    assert outcome.error_kind == "tls"
    assert receiver.requests == []


def test_a_server_that_speaks_no_tls_is_a_tls_error(secure: Egress, receive: Receive) -> None:
    receiver = receive(lambda peer: peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 20))
    outcome = secure.request("POST", build_url(receiver))
    assert outcome.error_kind == "tls"


@pytest.mark.parametrize("first", [b"", b"\x16\x03\x03\x40\x00"])
def test_the_deadline_holds_for_the_handshake(
    secure: Egress, receive: Receive, stopped: threading.Event, first: bytes
) -> None:
    def script(peer: Peer) -> None:
        peer.send(first)
        peer.drip(b"\x02" if first else b"", stopped)

    assert_times_out(secure, build_url(receive(script)))


@pytest.mark.parametrize("first", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"])
def test_the_deadline_holds_for_dripped_answers(
    secure: Egress,
    receive: Receive,
    context: ssl.SSLContext,
    stopped: threading.Event,
    first: bytes,
) -> None:
    dripped = b"HTTP/1.1 200 OK\r\n"
    receiver = receive(lambda peer: peer.drip_answer(first, dripped, stopped), context=context)
    assert_times_out(secure, build_url(receiver))


def test_the_deadline_holds_while_sending(
    secure: Egress, receive: Receive, context: ssl.SSLContext, stopped: threading.Event
) -> None:
    receiver = receive(lambda _: stopped.wait(20), context=context)
    assert_times_out(secure, build_url(receiver), bytes(64_000_000))


def test_large_answers_are_cut(secure: Egress, receive: Receive, context: ssl.SSLContext) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n" + b"x" * 900_000
    receiver = receive(lambda peer: peer.serve(answer), context=context)
    for _ in range(2):
        assert secure.request("POST", build_url(receiver)).body == b"x" * 16_384


def test_a_closed_kept_connection_is_replaced(
    secure: Egress, receive: Receive, context: ssl.SSLContext
) -> None:
    receiver = receive(Peer.answer_once, context=context)
    url = build_url(receiver)
    assert [secure.request("POST", url).is_complete_success for _ in range(2)] == [True, True]
    assert receiver.connections == 2


def test_sessions_check_certificates_even_if_verification_is_turned_off(
    secure: Egress, receive: Receive, context: ssl.SSLContext
) -> None:
    foreign = receive(context=build_context(trustme.CA()))
    own = receive(context=context)
    session = secure.session()
    session.verify = False
    with pytest.raises(OSError, match="certificate"):
        session.get(build_url(foreign), verify=False)
    assert session.get(build_url(own)).text == "ok"
