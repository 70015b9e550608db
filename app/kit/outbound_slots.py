"""A limit for the requests that wait for hosts or name servers that users chose.

Anybody can create an organization, and name a host that never responds. A slow host must not block
the requests of other organizations. Therefore a request needs a slot while it waits, and their
number is limited. Each slot has an owner: the user or organization that named the host, by default
the current organization.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Condition
from uuid import UUID

from app.kit import container, errors, tenancy

SLOT_TIMEOUT = 0.5
"""The maximum time in seconds to wait for a free slot."""
CHECK_TIMEOUT = 0.1
"""The maximum time in seconds to wait until another check of the same owner ends."""
_changed = Condition()
_checking_owner_ids: set[UUID] = set()
_slot_owner_ids: list[UUID] = []


@cache
def get_slot_count() -> int:
    """Return the number of slots in this process: half of its web threads, but at least one."""
    return max(1, container.settings().web_threads // 2)


@contextmanager
def hold_slot(owner_id: UUID | None = None) -> Iterator[None]:
    """Hold a slot while waiting for another host.

    An owner holds at most half of the slots (but at least one) at a time, so that other owners can
    use the remaining slots. Raises 503 if no slot becomes free in time.
    """
    slot_owner_id = owner_id or tenancy.current_organization_id()
    with _changed:
        if not _changed.wait_for(lambda: _is_slot_free(slot_owner_id), SLOT_TIMEOUT):
            raise _build_busy_error()
        _slot_owner_ids.append(slot_owner_id)
    try:
        yield
    finally:
        with _changed:
            _slot_owner_ids.remove(slot_owner_id)
            _changed.notify_all()


def _is_slot_free(owner_id: UUID) -> bool:
    slot_count = get_slot_count()
    owner_limit = max(1, slot_count // 2)
    return len(_slot_owner_ids) < slot_count and _slot_owner_ids.count(owner_id) < owner_limit


@contextmanager
def hold_check_slot(owner_id: UUID | None = None) -> Iterator[None]:
    """Hold a slot while checking a host that a user has entered in settings.

    An owner holds at most one slot for checks at a time. Raises 503 if no slot is free in time.
    """
    slot_owner_id = owner_id or tenancy.current_organization_id()
    with _changed:
        if not _changed.wait_for(lambda: slot_owner_id not in _checking_owner_ids, CHECK_TIMEOUT):
            raise _build_busy_error()
        _checking_owner_ids.add(slot_owner_id)
    try:
        with hold_slot(slot_owner_id):
            yield
    finally:
        with _changed:
            _checking_owner_ids.discard(slot_owner_id)
            _changed.notify_all()


def _build_busy_error() -> errors.ApiError:
    message = "Too many requests are waiting for other hosts. Try again."
    return errors.busy(message, retry_after=1)
