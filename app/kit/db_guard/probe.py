"""A question to a server that is answered, refused or not answered in time."""

import select
import time
from contextlib import suppress
from enum import Enum
from typing import Any

import psycopg2
from psycopg2 import extensions

_EVENTS = {extensions.POLL_READ: select.POLLIN, extensions.POLL_WRITE: select.POLLOUT}


class Answer(Enum):
    """What came of a question. A refusal is an answer: whoever sends it does not hang."""

    OK = "ok"
    REFUSED = "refused"
    NONE = "none"


class Probe:
    """Asks one server `SELECT 1`, on a connection that it keeps. For one thread."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._connection: Any = None

    def ask(self, seconds: float) -> Answer:
        """Ask, and wait for the answer for so many seconds."""
        deadline = time.monotonic() + seconds
        had_connection = self._connection is not None
        answer = self._try(deadline)
        if answer is Answer.REFUSED and had_connection:
            # The connection was old; the server may be fine.
            answer = self._try(deadline)
        return answer

    def _try(self, deadline: float) -> Answer:
        try:
            if self._connection is None:
                self._connection = psycopg2.connect(self._dsn, async_=True)
                _drive(self._connection, deadline)
            cursor = self._connection.cursor()
            cursor.execute("SELECT 1")
            _drive(self._connection, deadline)
            cursor.close()
        except TimeoutError:
            self.close()
            return Answer.NONE
        except psycopg2.Error:
            self.close()
            return Answer.REFUSED
        return Answer.OK

    def close(self) -> None:
        """Give up the connection; the next question opens another one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg2.Error):
                connection.close()


def _drive(connection: Any, deadline: float) -> None:
    """Wait until an asynchronous connection is ready. Raises TimeoutError."""
    while (state := connection.poll()) != extensions.POLL_OK:
        poller = select.poll()
        poller.register(connection.fileno(), _EVENTS[state])
        left = max(0.0, deadline - time.monotonic())
        # With no time left it is looked once more: this process may be what stood still.
        if not poller.poll(left * 1000) and time.monotonic() >= deadline:
            raise TimeoutError
