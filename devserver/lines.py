"""Lines out of a pipe that must not block its reader."""

import io
from collections.abc import Callable


class Lines:
    """Cuts what arrives on a non-blocking stream into lines."""

    def __init__(self, stream: io.FileIO, line: Callable[[str], None]) -> None:
        self._stream = stream
        self._line = line
        self._rest = b""

    def read(self) -> None:
        """Hand on every line that is complete by now."""
        while data := self._stream.read(65536):
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                self._line(line.decode("utf-8", "replace"))
