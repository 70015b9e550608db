"""A TCP proxy that can fall silent, as a host does that has vanished or stands still."""

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self

_BYTES = 65_536


class Proxy:
    """Forwards connections to `address` from a port of its own, `port`."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._speaks = threading.Event()
        self._speaks.set()
        self._sockets: set[socket.socket] = set()
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.close()
        self.come_back()

    def vanish(self) -> None:
        """Forward nothing more, in either direction. New connections are accepted, by the kernel,
        and not answered."""
        self._speaks.clear()

    def come_back(self) -> None:
        """Forward again what comes now; who was connected has to connect again."""
        for one in list(self._sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._speaks.set()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._speaks.wait()
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
            while data := source.recv(_BYTES):
                self._speaks.wait()
                target.sendall(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._sockets.discard(source)
        source.close()
