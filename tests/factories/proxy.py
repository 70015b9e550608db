"""A TCP proxy that can stop forwarding, to simulate a host that is unreachable or frozen."""

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self

_CHUNK_BYTES = 65_536


class Proxy:
    """Forwards connections from its own port, `port`, to `address`."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._is_forwarding = threading.Event()
        self._is_forwarding.set()
        self._sockets: set[socket.socket] = set()
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._listener.close()
        self.resume_forwarding()

    def stop_forwarding(self) -> None:
        """Stop forwarding in both directions.

        The kernel still accepts new connections, but nothing responds on them.
        """
        self._is_forwarding.clear()

    def resume_forwarding(self) -> None:
        """Forward new connections again, and close the existing connections."""
        for connection in list(self._sockets):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._is_forwarding.set()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._is_forwarding.wait()
                self._connect(client)

    def _connect(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(self._address, timeout=10)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        self._sockets |= {client, server}
        for source, target in ((client, server), (server, client)):
            threading.Thread(target=self._pump, args=(source, target), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK_BYTES):
                self._is_forwarding.wait()
                target.sendall(data)
        for connection in (source, target):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._sockets.discard(source)
        source.close()
