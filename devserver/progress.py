"""Show the progress of a command on the terminal, with one line per step."""

import sys
import time
from typing import TextIO

from app.kit.line_output import EXIT_SECONDS, LineOutput

_FRAMES = "|/-\\"
_BAR_WIDTH = 24
_REDRAW_SECONDS = 0.05


class Progress:
    """Shows consecutive steps, and how long each step took.

    On a terminal, the line of the current step is updated by `tick`, with a progress bar after the
    first call of `advance`. In other outputs, each step is printed as one line when it is done. If
    nobody reads the output, no method waits or fails, so that the supervisor never blocks.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._is_terminal = self._stream.isatty()
        self._output = LineOutput(self._stream.fileno, describe_dropped=_describe_dropped)
        self._step: str | None = None
        self._step_started_at = 0.0
        self._step_progress: tuple[int, int] | None = None
        self._drawn_at = 0.0
        self.started_at = time.monotonic()

    def begin(self, step: str) -> None:
        """Begin a new step with this name."""
        self._step, self._step_progress = step, None
        self._step_started_at = time.monotonic()
        self.tick()

    def advance(self, done: int, total: int) -> None:
        """Show that `done` of `total` parts of the current step are done."""
        self._step_progress = (done, total)
        self.tick()

    def tick(self) -> None:
        """Update the line of the current step on a terminal, at most twenty times per second."""
        now = time.monotonic()
        if not self._is_terminal or self._step is None or now - self._drawn_at < _REDRAW_SECONDS:
            return
        self._drawn_at = now
        frame = _FRAMES[int(now * 10) % len(_FRAMES)]
        bar, seconds = self._render_bar(), now - self._step_started_at
        self._write(f"\r\x1b[2K  {frame} {self._step:<12}{bar} {seconds:.1f} s")

    def _render_bar(self) -> str:
        if self._step_progress is None:
            return ""
        done, total = self._step_progress
        filled = _BAR_WIDTH * min(done, total) // max(total, 1)
        return f" [{'#' * filled}{'.' * (_BAR_WIDTH - filled)}] {done}/{total}"

    def done(self, note: str) -> None:
        """Mark the current step as done, and show a note about its result."""
        self._finish("ok", note)

    def failed(self) -> None:
        """Mark the current step, if there is one, as failed."""
        if self._step is not None:
            self._finish("FAILED", "")

    def _finish(self, outcome: str, note: str) -> None:
        seconds = time.monotonic() - self._step_started_at
        start = "\r\x1b[2K" if self._is_terminal else ""
        self._write(f"{start}  {outcome:<6} {self._step:<12} {seconds:5.1f} s  {note}\n")
        self._step = None

    def print_line(self, text: str = "") -> None:
        """Print a line above the current step."""
        self._write(("\r\x1b[2K" if self._is_terminal and self._step else "") + text + "\n")

    def _write(self, text: str) -> None:
        self._output.write(text.encode(self._stream.encoding or "utf-8", "backslashreplace"))


def print_error(text: str) -> None:
    """Print a line to standard error before the process exits. Wait only briefly for a reader."""
    output = LineOutput(sys.stderr.fileno, describe_dropped=_describe_dropped)
    output.write(f"{text}\n".encode(sys.stderr.encoding or "utf-8", "backslashreplace"))
    output.flush(EXIT_SECONDS)


def _describe_dropped(count: int) -> bytes:
    return f"({count} messages were dropped because nobody read them)\n".encode("ascii")
