"""Limits of time and size for all destinations.

The limits for connecting and for the silence of a host are those of the sources.
"""

FILE_SECONDS = 900.0
"""Time to deliver a small file."""
MIN_BYTES_PER_SECOND = 256 * 1024
"""The slowest rate at which a large file may be sent. It extends the time of a file."""
PROGRESS_SECONDS = 1.0
"""Time between two reports of progress."""
BLOCK_BYTES = 64 * 1024
"""Size of the pieces of a request. A host is silent if it does not take one for long enough."""
CLEANUP_SECONDS = 10.0
"""Time to remove what a failed delivery has left."""
MAX_ANSWER_BYTES = 256 * 1024
"""Maximum size of an answer."""
MAX_NAME_BYTES = 200
"""Maximum length of a file name. Most file systems allow 255 bytes, also for the name of the part
file of SFTP."""
MAX_PUT_BYTES = 5 * 1024**3
"""Size above which S3 demands an upload in parts."""
MIN_PART_BYTES = 64 * 1024**2
MAX_PARTS = 10_000


def get_seconds(size: int) -> float:
    """Return the time in which a file of `size` bytes must be delivered."""
    return FILE_SECONDS + size / MIN_BYTES_PER_SECOND
