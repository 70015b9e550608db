"""The caches of PostgreSQL follow from the machine's memory."""

import pytest

from devserver.caches import choose_cache_settings, read_memory

GIB = 1024**3


@pytest.mark.parametrize(
    ("memory", "buffers", "file_cache"),
    [
        (GIB // 4, "64MB", "256MB"),
        (GIB, "64MB", "512MB"),
        (4 * GIB, "256MB", "2048MB"),
        (64 * GIB, "512MB", "32768MB"),
    ],
)
def test_caches_grow_with_the_memory(memory: int, buffers: str, file_cache: str) -> None:
    expected = {"shared_buffers": buffers, "effective_cache_size": file_cache}
    assert choose_cache_settings(memory) == expected


def test_the_memory_is_that_of_the_machine_at_most() -> None:
    assert GIB // 8 < read_memory() < 1024 * GIB
