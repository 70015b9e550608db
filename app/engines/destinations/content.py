"""Read and verify the content of an outgoing file, and report the progress of its delivery."""

import hashlib
from collections.abc import Callable, Iterator
from time import monotonic

from app.engines.destinations import limits
from app.engines.destinations.failures import build_file_mismatch_error
from app.engines.destinations.model import OutgoingFile
from app.engines.sources.model import HostError, HostErrorKind
from app.engines.sources.paths import is_valid_name


def validate_name(name: str) -> bytes:
    """Validate a file name, and return it in UTF-8. Raises HostError for an invalid name."""
    data = name.encode("utf-8", "replace")
    if not is_valid_name(data) or not name.isprintable() or len(data) > limits.MAX_NAME_BYTES:
        message = (
            f"The name of the file must be 1 to {limits.MAX_NAME_BYTES} bytes long, must not be "
            "`.` or `..`, and must not contain slashes or unprintable characters."
        )
        raise HostError(HostErrorKind.NOT_ALLOWED, message)
    return data


def read_blocks(file: OutgoingFile, block_bytes: int) -> Iterator[bytes]:
    """Read a file, and yield its content in blocks of at most `block_bytes`.

    The last block is only yielded if the content has the expected size and digest, so that a host
    never receives all bytes of a damaged file.

    Raises:
        HostError: the content differs from the expected size or digest.
    """
    digest = hashlib.sha256()
    received_bytes = 0
    pending_block = b""
    for chunk in file.read():
        received_bytes += len(chunk)
        if received_bytes > file.size:
            raise build_file_mismatch_error()
        digest.update(chunk)
        for start in range(0, len(chunk), block_bytes):
            if pending_block:
                yield pending_block
            pending_block = chunk[start : start + block_bytes]
    if received_bytes != file.size or digest.hexdigest() != file.sha256.lower():
        raise build_file_mismatch_error()
    if pending_block:
        yield pending_block


class PartReader:
    """Divides the blocks of a file into parts of a requested size."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._remaining_block = b""

    def read_part(self, size: int) -> Iterator[bytes]:
        """Yield the next `size` bytes of the file. Raises HostError if fewer bytes are left."""
        remaining_size = size
        while remaining_size:
            block = self._remaining_block or next(self._blocks, b"")
            if not block:
                raise build_file_mismatch_error()
            block, self._remaining_block = block[:remaining_size], block[remaining_size:]
            remaining_size -= len(block)
            yield block


class ProgressReporter:
    """Counts sent bytes, and reports their number at most once every `PROGRESS_SECONDS` seconds.

    `on_progress` receives the number of bytes sent so far. `finish` always reports.
    """

    def __init__(self, on_progress: Callable[[int], None]) -> None:
        self._on_progress = on_progress
        self._sent_bytes = 0
        self._due_at = monotonic() + limits.PROGRESS_SECONDS

    def add(self, size: int) -> None:
        """Add `size` to the number of sent bytes, and report the number if a report is due."""
        self._sent_bytes += size
        now = monotonic()
        if now >= self._due_at:
            self._due_at = now + limits.PROGRESS_SECONDS
            self._on_progress(self._sent_bytes)

    def finish(self) -> None:
        """Report the total number of sent bytes."""
        self._on_progress(self._sent_bytes)
