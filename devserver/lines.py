"""Read lines from a non-blocking pipe."""

import io
from collections.abc import Callable


class Lines:
    """Splits the data of a non-blocking stream into lines."""

    def __init__(self, stream: io.FileIO, line: Callable[[str], None]) -> None:
        self._stream = stream
        self._line = line
        self._rest = b""

    def read(self) -> None:
        """Pass on every complete line."""
        while data := self._stream.read(65536):
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                self._line(line.decode("utf-8", "replace"))
