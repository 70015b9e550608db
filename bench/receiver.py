"""Receive and count webhook deliveries.

A POST request to a path that begins with /hook is a delivery. A POST request to a path that begins
with /hang gets no response. Other POST requests get a response, but are not counted. A GET request
returns the number of deliveries, and the seconds from the first to the last delivery.
"""

import socket
import sys
import threading
import time

_RESPONSE = b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n"
_lock = threading.Lock()
_times: dict[str, float] = {}
_count = 0


def _serve(connection: socket.socket) -> None:
    global _count  # noqa: PLW0603 - the count of the process
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            chunk = connection.recv(1 << 16)
            if not chunk:
                return
            data += chunk
        head, _, data = data.partition(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n"):
            if line[:15].lower() == b"content-length:":
                length = int(line[15:])
        while len(data) < length:
            data += connection.recv(1 << 16)
        data = data[length:]
        if head.startswith(b"GET"):
            connection.sendall(_build_count_response())
            continue
        if head.startswith(b"POST /hang"):
            continue
        if head.startswith(b"POST /hook"):
            with _lock:
                _times.setdefault("first", time.perf_counter())
                _times["last"] = time.perf_counter()
                _count += 1
        connection.sendall(_RESPONSE)


def _build_count_response() -> bytes:
    seconds = _times.get("last", 0.0) - _times.get("first", 0.0)
    body = f'{{"count": {_count}, "seconds": {seconds}}}'.encode()
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def main() -> None:
    """Serve forever, with one thread per connection."""
    with socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=256) as server:
        while True:
            connection, _ = server.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=_serve, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    main()
