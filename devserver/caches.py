"""Choose the cache sizes of the embedded PostgreSQL."""

import os
from pathlib import Path

_MIB = 1024 * 1024
_MIN_BUFFERS, _MAX_BUFFERS = 64 * _MIB, 512 * _MIB
_MIN_FILE_CACHE = 256 * _MIB
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


def read_memory() -> int:
    """Return the memory in bytes of the machine, or of the container if it has less."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(memory, int(_CONTAINER_LIMIT.read_text()))
    except (OSError, ValueError):  # Not in a container, or the limit is "max".
        return memory


def choose_cache_settings(memory: int) -> dict[str, str]:
    """Return PostgreSQL's cache settings for a machine with `memory` bytes.

    PostgreSQL shares the machine. Its own cache is a sixteenth of the memory, from 64 to 512 MiB.
    It assumes that half of the memory is the file cache of the operating system.
    """
    buffers = min(max(memory // 16, _MIN_BUFFERS), _MAX_BUFFERS)
    return {
        "shared_buffers": f"{buffers // _MIB}MB",
        "effective_cache_size": f"{max(memory // 2, _MIN_FILE_CACHE) // _MIB}MB",
    }
