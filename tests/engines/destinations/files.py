"""Files to deliver, and checks of failed deliveries."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from app.engines.destinations.model import Destination, OutgoingFile
from app.engines.sources.model import HostErrorKind
from tests.engines.sources.reading import expect_error

CHUNK_BYTES = 100_000
LONG = 15.0
"""A time in seconds: longer than the limits that tests set, but shorter than the real limits."""


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
    file = build_file(content)
    damaged = build_file(content[:-1] + bytes([content[-1] ^ 1]))
    return OutgoingFile(file.name, file.media_type, file.size, file.sha256, damaged.read)


def build_short_file(content: bytes) -> OutgoingFile:
    """Return a file that has fewer bytes than announced."""
    file = build_file(content)
    return OutgoingFile(
        file.name, file.media_type, file.size, file.sha256, build_file(content[:-1]).read
    )


def build_unreadable_file(content: bytes, error: Exception) -> OutgoingFile:
    """Return a file whose storage fails after half of the content."""
    file = build_file(content)

    def read() -> Iterator[bytes]:
        yield content[: len(content) // 2]
        raise error

    return OutgoingFile(file.name, file.media_type, file.size, file.sha256, read)


def ignore(_sent: int) -> None:
    """Accept a progress report, and do nothing."""


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
def expect_to_end_soon() -> Iterator[None]:
    """Check that the code in the context ends within the limits that the test has set."""
    started = monotonic()
    yield
    assert monotonic() - started < LONG


class StoppedError(Exception):
    """Stops a delivery from its progress callback."""
