"""Progress of the start on the terminal: one line per step."""

import sys
import time
from typing import TextIO

from app.kit.line_output import EXIT_SECONDS, LineOutput

_FRAMES = "|/-\\"
_BAR = 24
_REDRAW_SECONDS = 0.05


class Progress:
    """Shows consecutive steps, each with the time it took.

    On a terminal, each `tick` redraws the current step, with a bar once its length is known.
    Otherwise each step is one line when it is done. No method waits for a reader of the output, or
    fails without one, so that the supervisor never blocks.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._live = self._stream.isatty()
        self._output = LineOutput(self._stream.fileno, describe_dropped=_describe_dropped)
        self._step: str | None = None
        self._began = 0.0
        self._extent: tuple[int, int] | None = None
        self._drawn_at = 0.0
        self.began = time.monotonic()

    def begin(self, step: str) -> None:
        """Show the start of a step."""
        self._step, self._extent = step, None
        self._began = time.monotonic()
        self.tick()

    def advance(self, done: int, total: int) -> None:
        """Show how much of the current step is done."""
        self._extent = (done, total)
        self.tick()

    def tick(self) -> None:
        """Redraw the current step, at most twenty times per second."""
        now = time.monotonic()
        if not self._live or self._step is None or now - self._drawn_at < _REDRAW_SECONDS:
            return
        self._drawn_at = now
        frame = _FRAMES[int(now * 10) % len(_FRAMES)]
        self._write(f"\r\x1b[2K  {frame} {self._step:<12}{self._bar()} {now - self._began:.1f} s")

    def _bar(self) -> str:
        if self._extent is None:
            return ""
        done, total = self._extent
        filled = _BAR * min(done, total) // max(total, 1)
        return f" [{'#' * filled}{'.' * (_BAR - filled)}] {done}/{total}"

    def done(self, note: str) -> None:
        """Show that the current step is done, with a note."""
        self._finish("ok", note)

    def failed(self) -> None:
        """Show that the current step failed, if there is one."""
        if self._step is not None:
            self._finish("FAILED", "")

    def _finish(self, outcome: str, note: str) -> None:
        seconds = time.monotonic() - self._began
        start = "\r\x1b[2K" if self._live else ""
        self._write(f"{start}  {outcome:<6} {self._step:<12} {seconds:5.1f} s  {note}\n")
        self._step = None

    def print_line(self, text: str = "") -> None:
        """Print a line above the current step."""
        self._write(("\r\x1b[2K" if self._live and self._step else "") + text + "\n")

    def _write(self, text: str) -> None:
        self._output.write(text.encode(self._stream.encoding or "utf-8", "backslashreplace"))


def print_error(text: str) -> None:
    """Write a last line to standard error; wait only briefly for its reader."""
    output = LineOutput(sys.stderr.fileno, describe_dropped=_describe_dropped)
    output.write(f"{text}\n".encode(sys.stderr.encoding or "utf-8", "backslashreplace"))
    output.flush(EXIT_SECONDS)


def _describe_dropped(count: int) -> bytes:
    return f"({count} messages were left out, as nobody read them)\n".encode("ascii")
