"""A health check of a database server, with a timeout."""

import select
import time
from contextlib import suppress
from enum import Enum

import psycopg2
from psycopg2 import extensions

_POLL_EVENTS = {extensions.POLL_READ: select.POLLIN, extensions.POLL_WRITE: select.POLLOUT}


class ProbeResult(Enum):
    """The result of a probe.

    ERROR: the connection or the query failed. TIMEOUT: there was no response in time.
    """

    OK = "ok"
    ERROR = "error"
    TIMEOUT = "timeout"


class Probe:
    """A health check that sends `SELECT 1` over a persistent connection. It is not thread-safe."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._connection: extensions.connection | None = None

    def run(self, seconds: float) -> ProbeResult:
        """Run the probe: send `SELECT 1`, and wait at most `seconds` for the result."""
        deadline = time.monotonic() + seconds
        had_connection = self._connection is not None
        result = self._run_query(deadline)
        if result is ProbeResult.ERROR and had_connection:
            # The kept connection may have been closed. Try a new connection.
            result = self._run_query(deadline)
        return result

    def _run_query(self, deadline: float) -> ProbeResult:
        try:
            connection = self._connection
            if connection is None:
                connection = self._connection = psycopg2.connect(self._dsn, async_=True)
                _wait_until_ready(connection, deadline)
            cursor = connection.cursor()
            cursor.execute("SELECT 1")
            _wait_until_ready(connection, deadline)
            cursor.close()
        except TimeoutError:
            self.close()
            return ProbeResult.TIMEOUT
        except psycopg2.Error:
            self.close()
            return ProbeResult.ERROR
        return ProbeResult.OK

    def close(self) -> None:
        """Close the connection. The next probe opens a new one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg2.Error):
                connection.close()


def _wait_until_ready(connection: extensions.connection, deadline: float) -> None:
    """Wait until an asynchronous connection is ready. Raises TimeoutError after `deadline`."""
    while (state := connection.poll()) != extensions.POLL_OK:
        poller = select.poll()
        poller.register(connection.fileno(), _POLL_EVENTS[state])
        remaining = max(0.0, deadline - time.monotonic())
        # Poll once more even after the deadline: this process itself may have been suspended.
        if not poller.poll(remaining * 1000) and time.monotonic() >= deadline:
            raise TimeoutError
