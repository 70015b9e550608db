"""Read lines from a non-blocking pipe."""

import io
from collections.abc import Callable


class Lines:
    """Splits the data of a non-blocking stream into lines."""

    def __init__(self, stream: io.FileIO, receive: Callable[[str], None]) -> None:
        self._stream = stream
        self._receive = receive
        self._incomplete_line = b""

    def read(self) -> None:
        """Pass every complete line to the callback."""
        while data := self._stream.read(65536):
            *lines, self._incomplete_line = (self._incomplete_line + data).split(b"\n")
            for line in lines:
                self._receive(line.decode("utf-8", "replace"))
