"""HTTP servers that tests start."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer


class QuietHandler(BaseHTTPRequestHandler):
    """A handler that logs nothing."""

    def log_message(self, *_: object) -> None:
        pass

    def read_body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))


class QuickServer(ThreadingHTTPServer):
    """An HTTP server that does not look up its own name in the DNS.

    The lookup of the standard library's server takes ten seconds if no name server responds.
    """

    daemon_threads = True

    def server_bind(self) -> None:
        TCPServer.server_bind(self)
        host, self.server_port = self.server_address[:2]
        self.server_name = str(host)


@contextmanager
def serve_http(handler: type[BaseHTTPRequestHandler], host: str) -> Iterator[int]:
    """Serve requests with `handler` on a free port of `host` during the block. Yields the port."""
    with QuickServer((host, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def serve_receiver(receive: Callable[[QuietHandler], int], host: str) -> Iterator[str]:
    """Serve POST and PUT requests during the block. Yields the server's URL.

    `receive` gets each request, and returns the status of its response, which has no body.
    """

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.send_response(receive(self))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_PUT(self) -> None:
            self.do_POST()

    with serve_http(Handler, host) as port:
        yield f"http://{host}:{port}"
