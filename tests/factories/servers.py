"""Servers that tests start, and where they listen."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer


class QuickServer(ThreadingHTTPServer):
    """Listens at once: the standard library's asks the DNS for the name of its address before it
    does, which takes ten seconds where no server of names answers."""

    daemon_threads = True

    def server_bind(self) -> None:
        TCPServer.server_bind(self)
        host, self.server_port = self.server_address[:2]
        self.server_name = str(host)


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], host: str) -> Iterator[int]:
    """The port on which `handler` answers until the end of the block."""
    with QuickServer((host, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
