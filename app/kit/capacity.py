"""Protection of free disk space. While free space is low, large writes are refused.

Reads and small writes still work.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from app.kit import container, errors, metrics
from app.kit.storage import StorageFull


@contextmanager
def require_free_space(operation: str) -> Iterator[None]:
    """Run the `with` block only if at least STORAGE_RESERVE_BYTES of disk space are free.

    `operation` is the label for this write in the metric that counts refusals. Raises 503
    `service_unavailable` with the reason `storage_full` if less space is free when the block starts
    or while it writes.
    """
    try:
        container.current().reserve.check()
        yield
    except StorageFull:
        metrics.STORAGE_REFUSALS.labels(operation).inc()
        raise errors.storage_full() from None
