"""Slots for requests that wait for a host or a name server that a user chose.

Anybody can create an organization, and name a host that never responds. A slow host must not block
the requests of other organizations.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import BoundedSemaphore, Condition
from uuid import UUID

from app.kit import container, errors, tenancy

SLOT_TIMEOUT = 0.5
"""The maximum time in seconds to wait for a free slot."""
CHECK_TIMEOUT = 0.1
"""The maximum time in seconds to wait for another check of the same owner."""
_ended = Condition()
_checking_owner_ids: set[UUID] = set()


@cache
def get_slots() -> BoundedSemaphore:
    """Return the semaphore that limits waiting requests in this process.

    At most half of the process's threads can hold a slot.
    """
    return BoundedSemaphore(max(1, container.settings().web_threads // 2))


@contextmanager
def hold_slot() -> Iterator[None]:
    """Hold a slot while waiting for another host. Raises 503 if no slot becomes free."""
    if not get_slots().acquire(timeout=SLOT_TIMEOUT):
        raise _build_busy_error()
    try:
        yield
    finally:
        get_slots().release()


@contextmanager
def hold_check_slot(owner_id: UUID | None = None) -> Iterator[None]:
    """Hold a slot while a host in somebody's settings is checked.

    `owner_id` is the user or organization that named the host, by default the current organization.
    An owner holds one such slot at a time. Raises 503 if no slot becomes free.
    """
    key = owner_id or tenancy.current_organization_id()
    with _ended:
        if not _ended.wait_for(lambda: key not in _checking_owner_ids, CHECK_TIMEOUT):
            raise _build_busy_error()
        _checking_owner_ids.add(key)
    try:
        with hold_slot():
            yield
    finally:
        with _ended:
            _checking_owner_ids.discard(key)
            _ended.notify_all()


def _build_busy_error() -> errors.ApiError:
    message = "Too many requests are waiting for other hosts. Try again."
    return errors.busy(message, retry_after=1)
