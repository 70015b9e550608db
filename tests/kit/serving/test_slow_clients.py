"""Clients that send or read slowly, and more connections than the server accepts."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.kit.serving.conftest import Answer, Client, Server, start_server

HEAD = b"GET /echo HTTP/1.1\r\nHost: x\r\nX-Stalled: "
BODY = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
DOWNLOAD = b"GET /large/300 HTTP/1.1\r\nHost: x\r\n\r\n"


def ended(client: Client) -> bool:
    """Return whether the server has closed the connection, without waiting."""
    client.socket.settimeout(0)
    try:
        return client.socket.recv(1 << 20) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run a server with long timeouts, few connections and a small spool."""
    folder = tmp_path_factory.mktemp("patient")
    settings = {
        "STAND_IN_SECONDS": "600",
        "STAND_IN_CONNECTIONS": "60",
        "WEB_SPOOL_BYTES": str(1 << 20),
    }
    with start_server(folder, **settings) as server:
        yield server


@pytest.mark.parametrize("data", [HEAD, BODY, DOWNLOAD])
def test_clients_that_stall_hold_no_thread(patient: Server, data: bytes) -> None:
    with patient.open_clients(40, data):
        for _ in range(20):
            assert patient.get().status == 200


def test_a_reader_that_goes_on_gets_the_rest(patient: Server) -> None:
    with patient.open_clients(20, DOWNLOAD) as clients:
        assert patient.get().status == 200
        for client in clients:
            client.head()
            client.skip(300 * 65_536)


def test_a_full_table_closes_stalled_connections_of_the_network_with_most(
    patient: Server,
) -> None:
    with (
        patient.open_clients(10, HEAD, "127.0.0.3") as few,
        patient.open_clients(10, b"", "127.0.0.3") as idle,
        patient.open_clients(55, HEAD, "127.0.0.2") as many,
    ):
        patient.until(lambda: any(map(ended, many)), "none of the many was closed")
        for _ in range(10):
            assert patient.get().status == 200
        assert not any(map(ended, few))
        assert not any(map(ended, idle))


def test_a_full_table_closes_idle_connections_when_none_is_stalled(patient: Server) -> None:
    with patient.open_clients(100, b"", "127.0.0.2") as idle:
        for _ in range(10):
            assert patient.get().status == 200
        assert 30 <= sum(map(ended, idle)) < 60


def test_bodies_share_a_bounded_room(patient: Server) -> None:
    """While the spool is full, uploads are refused. Stalled connections are closed to make room."""

    def upload() -> Answer:
        with patient.connect("127.0.0.3") as client:
            with suppress(
                BrokenPipeError, ConnectionResetError
            ):  # refused before the end of the upload
                client.send(BODY + b"x" * 1_000_000)
            return client.answer()

    def is_refused() -> Answer | None:
        # Use a new connection for each try. On a slow machine, the old one may count as stalled.
        with patient.open_clients(1, BODY + b"x" * 600_000, "127.0.0.2") as (first,):
            answer = upload()
            if answer.status != 503:
                return None
            patient.until(lambda: upload().status == 200, "the stalled body is still there")
            assert ended(first)
            return answer

    answer = patient.until(is_refused, "both fit")
    assert answer.code == "service_unavailable"
    assert answer.json["error"]["details"] == {"reason": "busy"}
    assert int(answer.headers["retry-after"]) > 0


def test_no_descriptor_is_left_behind(tmp_path: Path) -> None:
    with start_server(tmp_path) as server:
        worker = psutil.Process(server.get().json["pid"])

        def alone() -> bool:
            return len(worker.net_connections("tcp")) <= 1

        assert server.exchange(b"\x00\r\n\r\n").status == 400
        server.until(alone, "connections are left")
        before = worker.num_fds()
        for data in (HEAD, BODY, BODY + b"x" * 200_000, b"", b"\x00\r\n\r\n"):
            with server.open_clients(20, data) as clients:
                for client in clients[:10]:
                    client.socket.close()
                server.until(lambda: all(map(ended, clients[10:])), "connections stay")
        with server.open_clients(20, DOWNLOAD) as clients:
            for client in clients[:10]:
                client.head()
                client.socket.close()
            server.until(alone, "readers that have stalled stay")
        server.until(lambda: worker.num_fds() <= before, "descriptors are left")


def test_a_reader_at_the_least_speed_is_served(tmp_path: Path) -> None:
    """The client takes longer than it may fall behind, but is not disconnected."""
    with start_server(tmp_path, STAND_IN_SECONDS="3") as server, server.connect() as client:
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        client.send(b"GET /large/40 HTTP/1.1\r\nHost: x\r\n\r\n").head()
        remaining_bytes = 40 * 65_536 - len(client._rest)
        pause = threading.Event()
        while remaining_bytes:
            received = len(client.socket.recv(min(remaining_bytes, 65_536)))
            assert received, f"cut off with {remaining_bytes} bytes to read"
            remaining_bytes -= received
            pause.wait(received / 500_000)


def test_bodies_leave_the_reserve_of_the_disk_alone(tmp_path: Path) -> None:
    """Small bodies stay in memory, so they are still received."""
    head = b"POST /echo HTTP/1.1\r\nContent-Length: %d\r\n\r\n"
    with start_server(tmp_path, STORAGE_RESERVE_BYTES=str(1 << 50)) as server:
        answer = server.exchange(head % 100_000 + b"x" * 100_000)
        assert (answer.status, answer.code) == (503, "service_unavailable")
        assert answer.json["error"]["details"] == {"reason": "storage_full"}
        assert server.exchange(head % 60_000 + b"x" * 60_000).json["size"] == 60_000


def test_liveness_has_a_thread_of_its_own(tmp_path: Path) -> None:
    """Health checks must succeed even if all threads are busy."""
    request = b"GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n"
    gate = tmp_path / "gate"
    with (
        start_server(tmp_path, STAND_IN_GATE=str(gate)) as server,
        server.open_clients(8, request, "127.0.0.2") as clients,
    ):
        for path in ("/health/live", "/health/live?verbose=1"):
            assert server.get(path).status == 200
        gate.touch()
        assert [client.answer().status for client in clients] == [200] * 8
