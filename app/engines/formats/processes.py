"""Write a file in a separate process, for formats that need much memory or CPU time.

One pipe carries the rows to `formats.child`, and another carries the file back, while the caller
prepares the next rows. The process exits when its caller exits, even if the caller is killed.
"""

import os
import secrets
import selectors
import subprocess
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fcntl import F_SETPIPE_SZ, fcntl
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from app.engines import interpreter
from app.engines.formats.child import INVALID_ROW_STATUS
from app.engines.formats.model import Field

_SEND_BYTES = 256 << 10
_PIPE_BYTES = 1 << 20
_WAIT_SECONDS = 0.25
_MAX_ERROR_CHARACTERS = 2_000


class ProcessWriter:
    """A writer that sends tag sets to a separate process, which writes the file.

    If the process fails, a later call raises an error: ValueError for an invalid tag set, and
    RuntimeError otherwise. When the writer is deleted, the process is killed.

    Args:
        out: the output file; only calls to this writer write to it.
        format_id: a key of FORMATS.
        fields: the union of the fields from all schema versions.
        options: the options as returned by `check_options`.
        on_wait: called several times per second while a call waits for the process. It may raise
            an exception to stop waiting.
    """

    def __init__(
        self,
        out: BinaryIO,
        format_id: str,
        fields: Sequence[Field],
        options: Mapping[str, Any],
        on_wait: Callable[[], None],
    ) -> None:
        self.row_count = 0
        self._out = out
        self._on_wait = on_wait
        self._folder = tempfile.TemporaryDirectory(prefix="export-")
        # Errors are written to a file, because they are read only after the process has exited.
        self._errors = Path(self._folder.name, "errors")
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                interpreter.build_command("app.engines.formats.child"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**interpreter.build_environment(), "TMPDIR": self._folder.name},
                cwd="/",
            )
        self._stop = weakref.finalize(self, _stop, self._process, self._folder)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin.fileno(), self._process.stdout.fileno()
        for descriptor in (self._input, self._output):
            os.set_blocking(descriptor, False)
            with suppress(OSError):  # the system may limit pipes to a smaller size
                fcntl(descriptor, F_SETPIPE_SZ, _PIPE_BYTES)
        end = secrets.token_hex(16)  # Random, so that no row can be equal to this line.
        self._end_line = end.encode() + b"\n"
        request = {"format": format_id, "fields": fields, "options": options, "end": end}
        self._buffer = bytearray(orjson.dumps(request) + b"\n")

    def write_json(self, line: bytes) -> None:
        """Add one tag set; `line` is its JSON in UTF-8, which only the process parses."""
        self.write_chunk(line, is_last=True)

    def write_chunk(self, chunk: bytes, *, is_last: bool) -> None:
        """Add a chunk of a tag set's JSON."""
        self._buffer += chunk.replace(b"\n", b" ")  # JSON has line feeds only between its tokens
        if is_last:
            self._buffer += b"\n"
            self.row_count += 1
        if len(self._buffer) >= _SEND_BYTES:
            self._send()

    def close(self) -> None:
        """Send the remaining data, and wait until the process has written the file and exited."""
        if not self._stop.alive:
            return
        self._buffer += self._end_line
        self._send()
        assert self._process.stdin is not None
        self._process.stdin.close()
        with selectors.DefaultSelector() as selector:
            selector.register(self._output, selectors.EVENT_READ)
            while not selector.select(_WAIT_SECONDS) or self._receive():
                self._on_wait()
        self._finish()

    def _send(self) -> None:
        """Send the buffer to the process, while writing the process's output to the file."""
        unsent_data = memoryview(bytes(self._buffer))
        self._buffer.clear()
        with selectors.DefaultSelector() as selector:
            selector.register(self._input, selectors.EVENT_WRITE)
            selector.register(self._output, selectors.EVENT_READ)
            while unsent_data:
                ready_descriptors = {key.fd for key, _ in selector.select(_WAIT_SECONDS)}
                if self._output in ready_descriptors and not self._receive():
                    self._finish()
                if self._input in ready_descriptors:
                    # The process has exited early; `_receive` then detects the end of its output.
                    with suppress(BrokenPipeError):
                        unsent_data = unsent_data[os.write(self._input, unsent_data) :]
                self._on_wait()

    def _receive(self) -> bool:
        """Write the available output to the file; return False if the process closed its output."""
        data = os.read(self._output, _PIPE_BYTES)
        if data:
            self._out.write(data)
        return bool(data)

    def _finish(self) -> None:
        """Wait for the process to exit after its output has ended.

        Raises ValueError or RuntimeError if the process failed; the file is then incomplete.
        """
        status = self._process.wait()
        message = self._errors.read_text("utf-8", "replace")[-_MAX_ERROR_CHARACTERS:].strip()
        self._stop()
        if status == INVALID_ROW_STATUS:
            raise ValueError(message)
        if status != 0:
            raise RuntimeError(f"the process exited with status {status}: {message}")


def _stop(process: subprocess.Popen[bytes], folder: tempfile.TemporaryDirectory[str]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()
    folder.cleanup()
