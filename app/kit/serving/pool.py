"""The pool of threads that run the WSGI application."""

import queue
import threading
from collections.abc import Callable, Iterable

from app.kit.errors import ApiError
from app.kit.logging import get_logger
from app.kit.serving.connections import Connection, ConnectionState
from app.kit.serving.responses import ClientGone, Exchange, StopReason
from app.kit.serving.sockets import Sockets

log = get_logger("app.serving")

Application = Callable[..., Iterable[bytes]]
_LIVE_PATH = "/health/live"
"""Requests to this path have a separate thread, so that health checks never wait for busy
threads."""


class ThreadPool:
    """Runs `application` for complete requests in a fixed number of threads."""

    def __init__(self, application: Application, sockets: Sockets, config: object) -> None:
        self._application = application
        self._sockets = sockets
        self._config = config
        self._ready_connections: queue.SimpleQueue[Connection] = queue.SimpleQueue()
        self._ready_probe_connections: queue.SimpleQueue[Connection] = queue.SimpleQueue()
        self.draining = False
        """Whether each connection must be closed after its response."""
        self.served_count = 0

    def start(self, threads: int) -> None:
        """Start the threads. They run until the process exits."""
        for number in range(threads):
            self._start_thread(f"web-{number}", self._ready_connections)
        self._start_thread("web-live", self._ready_probe_connections)

    def _start_thread(self, name: str, connections: "queue.SimpleQueue[Connection]") -> None:
        threading.Thread(target=self._work, args=(connections,), name=name, daemon=True).start()

    def submit(self, connection: Connection) -> None:
        """Queue a connection whose request is complete, or whose client can receive more data."""
        connection.state = ConnectionState.RUNNING
        request = connection.request
        is_probe = request is not None and request.path == _LIVE_PATH
        (self._ready_probe_connections if is_probe else self._ready_connections).put(connection)

    def _work(self, connections: "queue.SimpleQueue[Connection]") -> None:
        while True:
            connection = connections.get()
            try:
                self._sockets.run_guarded(connection, self._serve)
            except BaseException:
                # The thread must continue, because it would not be replaced.
                log.critical("thread.failed", exc_info=True)

    def _serve(self, connection: Connection) -> None:
        exchange = connection.exchange or self._begin(connection)
        if self.draining:
            exchange.force_close()
        try:
            stop_reason = exchange.advance(self._application)
        except ClientGone:
            raise
        except BaseException as error:  # noqa: BLE001 - an application may raise anything
            self._fail(connection, exchange, error)
            return
        if stop_reason is StopReason.YIELDED:
            self.submit(connection)
        elif stop_reason is StopReason.BLOCKED:
            seconds = self._sockets.limits.response_seconds
            self._sockets.wait(connection, ConnectionState.SENDING, seconds)
        else:
            self.finish(connection, exchange)

    def _begin(self, connection: Connection) -> Exchange:
        assert connection.request is not None
        self.served_count += 1
        connection.exchange = Exchange(
            connection.socket,
            connection.peer,
            connection.server,
            connection.request,
            self._config,
        )
        return connection.exchange

    def _fail(self, connection: Connection, exchange: Exchange, error: BaseException) -> None:
        log.error("request.failed", exc_info=error)
        if exchange.is_started:
            self._sockets.close(connection, reset=True)  # so the client notices the failure
            return
        connection.exchange = None
        exchange.close()
        message = "An internal error occurred. It has been logged."
        self._sockets.refuse(connection, ApiError("internal_error", message))

    def finish(self, connection: Connection, exchange: Exchange) -> None:
        """Finish a request: prepare the connection for the next request, or close it."""
        exchange.request.body_store.close()
        connection.exchange = connection.request = None
        limits = self._sockets.limits
        if not exchange.must_close:
            seconds = limits.idle_drain_seconds if self.draining else limits.idle_seconds
            self._sockets.wait(connection, ConnectionState.IDLE, seconds)
        elif exchange.request.has_extra_data:
            self._sockets.linger(connection)
        else:
            self._sockets.close(connection)
