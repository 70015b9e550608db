"""Choose the cache sizes for the embedded PostgreSQL based on the machine's memory."""

import os
from pathlib import Path

_MIB = 1024 * 1024
_MIN_BUFFER_BYTES, _MAX_BUFFER_BYTES = 64 * _MIB, 512 * _MIB
_MIN_FILE_CACHE_BYTES = 256 * _MIB
_CONTAINER_LIMIT_FILE = Path("/sys/fs/cgroup/memory.max")


def read_memory() -> int:
    """Return the memory of the machine in bytes, or the container's memory limit if it is lower."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(memory, int(_CONTAINER_LIMIT_FILE.read_text()))
    except (OSError, ValueError):  # Not in a container, or the limit is "max".
        return memory


def choose_cache_settings(memory: int) -> dict[str, str]:
    """Choose PostgreSQL's cache settings for a machine with `memory` bytes.

    PostgreSQL shares the machine with other programs. Its own cache gets a sixteenth of the memory,
    but at least 64 MiB and at most 512 MiB. Half of the memory is assumed to be the operating
    system's file cache.
    """
    buffers = min(max(memory // 16, _MIN_BUFFER_BYTES), _MAX_BUFFER_BYTES)
    return {
        "shared_buffers": f"{buffers // _MIB}MB",
        "effective_cache_size": f"{max(memory // 2, _MIN_FILE_CACHE_BYTES) // _MIB}MB",
    }
