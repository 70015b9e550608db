"""Refuses what takes space while the disk is full: reads and small writes go on."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.kit import container, errors, metrics
from app.kit.storage import StorageFull


@contextmanager
def guard(operation: str) -> Iterator[None]:
    """Run the block if there is space for it.

    `operation` is what the metric of refusals calls it. Raises 503 `service_unavailable` with the
    reason `storage_full` when less than STORAGE_RESERVE_BYTES is free, before the block or at a
    write in it.
    """
    try:
        container.current().reserve.check()
        yield
    except StorageFull:
        metrics.STORAGE_REFUSALS.labels(operation).inc()
        raise errors.storage_full() from None
