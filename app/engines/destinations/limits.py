"""Limits for time and size in all destinations.

The connection timeout and the idle timeout are defined in `app.engines.sources.limits`.
"""

BASE_SECONDS = 900.0
"""The maximum time to deliver an empty file. Larger files have additional time."""
MIN_BYTES_PER_SECOND = 256 * 1024
"""The minimum transfer rate, which determines the additional time for larger files."""
PROGRESS_SECONDS = 1.0
"""The minimum time between two progress reports. The last report may follow sooner."""
BLOCK_BYTES = 64 * 1024
"""The size of the blocks in which a body is sent. The idle timeout applies to each block."""
CLEANUP_SECONDS = 10.0
"""The maximum time to remove the data that a failed delivery has stored."""
MAX_RESPONSE_BYTES = 256 * 1024
"""The maximum size of a response in bytes."""
MAX_NAME_BYTES = 200
"""The maximum length of a file name. Most file systems allow 255 bytes, but the name of a part file
(SFTP) is longer than the name of the file."""
MAX_PUT_BYTES = 5 * 1024**3
"""The maximum size of a file that is sent to S3 in one request."""
MIN_PART_BYTES = 64 * 1024**2
MAX_PARTS = 10_000
"""The maximum number of parts of a file that is sent to S3 in more than one request."""


def compute_timeout_seconds(size: int) -> float:
    """Compute the maximum time in seconds to deliver a file of `size` bytes."""
    return BASE_SECONDS + size / MIN_BYTES_PER_SECOND
