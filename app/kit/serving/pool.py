"""The threads that run the application."""

import queue
import threading
from collections.abc import Callable, Iterable
from typing import Any

from app.kit.errors import ApiError
from app.kit.logging import get_logger
from app.kit.serving.connections import Connection, State
from app.kit.serving.responses import ClientGone, Exchange, Progress
from app.kit.serving.sockets import Sockets

log = get_logger("app.serving")

Application = Callable[..., Iterable[bytes]]


class Pool:
    """Runs `application` for complete requests, in as many threads as it is started with."""

    def __init__(self, application: Application, sockets: Sockets, config: Any) -> None:
        self._application = application
        self._sockets = sockets
        self._config = config
        self._ready: queue.SimpleQueue[Connection] = queue.SimpleQueue()
        self.draining = False
        """Whether each connection is to end with its response."""
        self.served = 0

    def start(self, threads: int) -> None:
        """Start the threads; they end with the process."""
        for number in range(threads):
            threading.Thread(target=self._work, name=f"web-{number}", daemon=True).start()

    def submit(self, connection: Connection) -> None:
        """Hand over a connection whose request is complete, or whose client has read."""
        connection.state = State.RUNNING
        self._ready.put(connection)

    def _work(self) -> None:
        while True:
            connection = self._ready.get()
            try:
                self._sockets.guarded(connection, self._answer)
            except BaseException:
                # A thread that ends would be missed for ever.
                log.critical("thread.failed", exc_info=True)

    def _answer(self, connection: Connection) -> None:
        exchange = connection.exchange or self._begin(connection)
        if self.draining:
            exchange.force_close()
        try:
            progress = exchange.advance(self._application)
        except ClientGone:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever an application raises
            self._fail(connection, exchange, error)
            return
        if progress is Progress.YIELDED:
            self.submit(connection)
        elif progress is Progress.BLOCKED:
            seconds = self._sockets.limits.response_seconds
            self._sockets.wait(connection, State.SENDING, seconds)
        else:
            self.finish(connection, exchange)

    def _begin(self, connection: Connection) -> Exchange:
        assert connection.request is not None
        self.served += 1
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
        if exchange.is_begun:
            self._sockets.close(connection, reset=True)  # the client sees that it is not whole
            return
        connection.exchange = None
        exchange.close()
        message = "Something went wrong here. It has been logged."
        self._sockets.refuse(connection, ApiError("internal_error", message))

    def finish(self, connection: Connection, exchange: Exchange) -> None:
        """Make the connection ready for its next request."""
        exchange.request.body_store.close()
        connection.exchange = connection.request = None
        limits = self._sockets.limits
        if not exchange.must_close:
            seconds = limits.idle_drain_seconds if self.draining else limits.idle_seconds
            self._sockets.wait(connection, State.IDLE, seconds)
        elif exchange.request.followed:
            self._sockets.linger(connection)
        else:
            self._sockets.close(connection)
