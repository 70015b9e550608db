"""Run the fork server of the document engine, and translate process failures to `ParseFailed`."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

import orjson

from app.engines.documents import frames, media
from app.engines.documents.model import (
    FAILURE_CODES,
    OUT_OF_MEMORY_MESSAGE,
    Limits,
    ParseFailed,
)
from app.engines.documents.text import replace_unstorable_chars
from app.engines.sandbox.client import ForkServer
from app.engines.sandbox.model import ProcessFailed, ProcessLimits
from app.engines.sandbox.process import SandboxedProcess

_ENTRIES = "app.engines.documents.entries"
_MAX_MESSAGE_CHARS = 300

# Until `start_server` is called, each process of the application starts a separate server when it
# reads its first document. A server uses 45 MB while it is idle, and its launcher uses 4 MB.
SERVER = ForkServer((_ENTRIES,), max_processes=8, max_total_processes=1_000, idle_seconds=300.0)
start_server, stop_server = SERVER.start, SERVER.stop


@contextmanager
def call_entry(
    entry: str,
    path: Path,
    arguments: Mapping[str, object],
    limits: Limits,
    *,
    server: ForkServer | None = None,
) -> Iterator[Iterator[tuple[bytes, bytes]]]:
    """Call an entry function on a file; yield an iterator over the frames that it sends.

    `entry` is the name of a function in `entries`, or `module:function` for a function of another
    module. `server` is a fork server that has loaded that module; by default, `SERVER` is used.

    Each frame is a tuple of its type and its payload. Raises `ParseFailed` if the file cannot be
    read within `limits`, and `SandboxUnavailable` if no process could be started.
    """
    with (
        _open_document(path) as file,
        (server or SERVER).run(
            entry if ":" in entry else f"{_ENTRIES}:{entry}",
            document=file,
            arguments={**arguments, "limits": asdict(limits)},
            limits=_build_process_limits(
                limits, allow_threads=arguments.get("media_type") in media.THREADED_TYPES
            ),
        ) as process,
    ):
        yield _read_frames(process, limits)


def _open_document(path: Path) -> BinaryIO:
    try:
        return path.open("rb", buffering=0)
    except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
        message = f"The document cannot be read ({type(error).__name__})."
        raise ParseFailed("unreadable", message) from error


def _read_frames(process: SandboxedProcess, limits: Limits) -> Iterator[tuple[bytes, bytes]]:
    try:
        for frame_type, payload in process.iterate_frames(frames.FRAME_TYPES):
            if frame_type == frames.FAILED:
                raise _decode_failure(payload)
            yield frame_type, payload
    except ProcessFailed as error:
        raise _build_process_failure_error(error, limits) from None


def build_invalid_result_error() -> ParseFailed:
    """Build the error for an invalid result from a process that a document may have taken over."""
    return ParseFailed("crashed", "The parser returned an invalid result.")


def _build_process_limits(limits: Limits, *, allow_threads: bool) -> ProcessLimits:
    text_bytes = 12 * limits.max_text_chars  # one character takes at most 12 bytes in JSON
    return ProcessLimits(
        memory_bytes=limits.memory_bytes,
        cpu_seconds=limits.cpu_seconds,
        wall_seconds=limits.wall_seconds,
        frame_bytes=max(text_bytes + 96 * limits.max_words_per_page, 4 * limits.max_pixels)
        + (1 << 20),
        may_start_threads=allow_threads,
    )


def _decode_failure(payload: bytes) -> ParseFailed:
    try:
        failure = orjson.loads(payload)
        code = next(code for code in FAILURE_CODES if code == failure["code"])
        message = replace_unstorable_chars(str(failure["message"]))[:_MAX_MESSAGE_CHARS]
    except (ValueError, KeyError, TypeError, StopIteration):
        return build_invalid_result_error()
    return ParseFailed(code, message)


def _build_process_failure_error(error: ProcessFailed, limits: Limits) -> ParseFailed:
    match error.reason:
        case "wall_time":
            duration = f"{limits.wall_seconds:g} seconds"
            return ParseFailed("timed_out", f"Reading the document took longer than {duration}.")
        case "cpu_time":
            duration = f"{limits.cpu_seconds} seconds of processor time"
            return ParseFailed("timed_out", f"Reading the document took longer than {duration}.")
        case "memory":
            return ParseFailed("out_of_memory", OUT_OF_MEMORY_MESSAGE)
        case "protocol":
            return build_invalid_result_error()
    return ParseFailed("crashed", f"The parser stopped unexpectedly ({error.detail}).")
