"""Files to deliver, and checks of failed deliveries."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from app.engines.destinations import limits
from app.engines.destinations.model import Destination, OutgoingFile
from app.engines.sources.model import HostErrorKind
from tests.engines.sources.reading import expect_error

CHUNK_BYTES = 100_000


def build_file(content: bytes, name: str = "export.csv") -> OutgoingFile:
    def read() -> Iterator[bytes]:
        for start in range(0, len(content), CHUNK_BYTES):
            yield content[start : start + CHUNK_BYTES]

    return OutgoingFile(
        name=name,
        media_type="text/csv",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        read=read,
    )


def build_damaged_file(content: bytes) -> OutgoingFile:
    """Return a file whose last byte does not match the announced digest."""
    damaged = build_file(content[:-1] + bytes([content[-1] ^ 1]))
    return replace(build_file(content), read=damaged.read)


def build_short_file(content: bytes) -> OutgoingFile:
    """Return a file that has fewer bytes than announced."""
    return replace(build_file(content), read=build_file(content[:-1]).read)


def build_unreadable_file(content: bytes, error: Exception) -> OutgoingFile:
    """Return a file whose storage fails after half of the content."""

    def read() -> Iterator[bytes]:
        yield content[: len(content) // 2]
        raise error

    return replace(build_file(content), read=read)


def ignore(_sent: int) -> None:
    """Accept a progress report, and do nothing."""


def shorten_deadline(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Give every delivery this time, regardless of the size of its file."""
    monkeypatch.setattr(limits, "BASE_SECONDS", seconds)
    monkeypatch.setattr(limits, "MIN_BYTES_PER_SECOND", 1e12)


def fail_to_send(
    destination: Destination,
    file: OutgoingFile,
    kind: HostErrorKind,
    *secrets: str,
    on_progress: Callable[[int], None] = ignore,
) -> str:
    """Check that a delivery fails with `kind`, and return the error message."""
    with expect_error(kind, *secrets) as caught:
        destination.send(file, on_progress)
    return caught.value.message


@contextmanager
def expect_exception(error: Exception) -> Iterator[None]:
    """Check that the code in the context raises this exception unchanged."""
    with pytest.raises(type(error)) as caught:
        yield
    assert caught.value is error


class _StoppedError(Exception):
    pass


def stop_delivery(destination: Destination, file: OutgoingFile, after: int) -> None:
    """Check that an exception from the progress callback after some bytes stops a delivery."""
    stopped = _StoppedError("cancelled")

    def stop(sent: int) -> None:
        if sent > after:
            raise stopped

    with expect_exception(stopped):
        destination.send(file, stop)
