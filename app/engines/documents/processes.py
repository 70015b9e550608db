"""Run the engine's fork server, and translate process failures to document failures."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

import orjson

from app.engines.documents import frames
from app.engines.documents.model import (
    FAILURE_CODES,
    OUT_OF_MEMORY,
    FailureCode,
    Limits,
    ParseFailed,
)
from app.engines.documents.text import clean
from app.engines.sandbox import ForkServer, ProcessFailed, ProcessLimits, SandboxedProcess

_ENTRIES = "app.engines.documents.entries"
_MESSAGE_CHARS = 300
_MAX_PROCESSES = 8
_MAX_PROCESSES_IN_ALL = 1_000
_IDLE_SECONDS = 300.0

SERVER = ForkServer(
    (_ENTRIES,),
    max_processes=_MAX_PROCESSES,
    max_processes_in_all=_MAX_PROCESSES_IN_ALL,
    idle_seconds=_IDLE_SECONDS,
)


def start_server(
    *, max_processes: int = _MAX_PROCESSES, idle_seconds: float | None = None, nice: int = 0
) -> None:
    """Start the fork server for this process and those that it forks later.

    Otherwise each process starts its own server with its first document; such a server ends after
    five idle minutes. Returns at once, because the server starts in the background. Calling this
    again is cheap, and replaces a server that has ended.

    Args:
        max_processes: The number of documents read or rendered at once; further calls wait.
        idle_seconds: If given, the server starts with the first document, and ends after this
            time without documents. Without a server, 4 MB are used instead of 45.
        nice: The increment to the niceness of the server and its processes.
    """
    SERVER.start(max_processes=max_processes, idle_seconds=idle_seconds, nice=nice)


def stop_server() -> None:
    """Disconnect from the fork server; it ends when no other process uses it."""
    SERVER.stop()


@contextmanager
def call_entry(
    entry: str, path: Path, arguments: Mapping[str, object], limits: Limits
) -> Iterator[Iterator[tuple[bytes, bytes]]]:
    """Call a function of `entries` on a document; yield an iterator of the frames that it sends.

    Raises `ParseFailed`, and `SandboxUnavailable` if no process could be started.
    """
    with (
        _open(path) as file,
        SERVER.run(
            f"{_ENTRIES}:{entry}",
            document=file,
            arguments={**arguments, "limits": asdict(limits)},
            limits=_process_limits(limits),
        ) as process,
    ):
        yield _frames(process, limits)


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb", buffering=0)
    except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
        message = f"The document cannot be read ({type(error).__name__})."
        raise ParseFailed("unreadable", message) from error


def _frames(process: SandboxedProcess, limits: Limits) -> Iterator[tuple[bytes, bytes]]:
    try:
        for kind, payload in process.frames(frames.KINDS):
            if kind == frames.FAILED:
                raise _failure(payload)
            yield kind, payload
    except ProcessFailed as error:
        raise _parse_failed(error, limits) from None


def distrusted() -> ParseFailed:
    """Return the failure for an invalid result of a process, which a document may control."""
    return ParseFailed("crashed", "The parser returned an invalid result.")


def _process_limits(limits: Limits) -> ProcessLimits:
    text = 12 * limits.max_text_chars  # one character takes at most 12 bytes in JSON
    return ProcessLimits(
        memory_bytes=limits.memory_bytes,
        cpu_seconds=limits.cpu_seconds,
        wall_seconds=limits.wall_seconds,
        frame_bytes=max(text + 96 * limits.max_words_per_page, 4 * limits.max_pixels) + (1 << 20),
    )


def _failure(payload: bytes) -> ParseFailed:
    try:
        sent = orjson.loads(payload)
        code, message = str(sent["code"]), clean(str(sent["message"]))[:_MESSAGE_CHARS]
    except (ValueError, KeyError, TypeError):
        return distrusted()
    known: FailureCode | None = next((name for name in FAILURE_CODES if name == code), None)
    return distrusted() if known is None else ParseFailed(known, message)


def _parse_failed(error: ProcessFailed, limits: Limits) -> ParseFailed:
    match error.reason:
        case "wall_time":
            seconds = f"{limits.wall_seconds:g}"
            return ParseFailed("timed_out", f"Reading the document took over {seconds} seconds.")
        case "cpu_time":
            message = f"Reading it needed over {limits.cpu_seconds} seconds of processor time."
            return ParseFailed("timed_out", message)
        case "memory":
            return ParseFailed("out_of_memory", OUT_OF_MEMORY)
        case "protocol":
            return distrusted()
    return ParseFailed("crashed", f"The parser stopped unexpectedly ({error.detail}).")
