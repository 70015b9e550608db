"""Renewal of the leases of running jobs, in a thread with its own database connection."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from app.kit import db, tenancy
from app.kit.jobs import claims
from app.kit.jobs.claims import Lease
from app.kit.logging import get_logger

log = get_logger(__name__)

RENEW_SECONDS = claims.LEASE_SECONDS / 4
_POLL_SECONDS = 1.0


class LeaseRenewer:
    """Renews the leases of running jobs in a thread.

    A lease is not renewed if another worker has claimed its jobs.
    """

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._renew_at: dict[Lease, float] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @contextmanager
    def keep_renewed(self, lease: Lease) -> Iterator[None]:
        """Keep renewing `lease` while the block runs."""
        with self._changed:
            self._renew_at[lease] = monotonic() + RENEW_SECONDS
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="leases", daemon=True)
                self._thread.start()
            elif len(self._renew_at) == 1:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._renew_at.pop(lease, None)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._renew_at)
                now = monotonic()
                due_leases = [lease for lease, due_at in self._renew_at.items() if due_at <= now]
            if due_leases:
                self._renew(due_leases)
            with self._changed:
                self._changed.wait_for(lambda: not self._renew_at, timeout=_POLL_SECONDS)

    def _renew(self, leases: list[Lease]) -> None:
        try:
            with (
                self._app.app_context(),
                tenancy.across_organizations(reason="renews every organization's leases"),
                db.transaction(),
            ):
                for lease in sorted(leases, key=lambda lease: lease.ids):
                    claims.renew(lease)
        except SQLAlchemyError as failure:
            log.warning("job.lease_not_renewed", error=type(failure).__name__)
            return
        next_renewal = monotonic() + RENEW_SECONDS
        with self._changed:
            self._renew_at.update(
                {lease: next_renewal for lease in leases if lease in self._renew_at}
            )


_renewer: tuple[int, LeaseRenewer] | None = None
_lock = threading.Lock()


def get_renewer(app: Flask) -> LeaseRenewer:
    """Return the lease renewer of this process. A forked child gets a new renewer."""
    global _renewer  # noqa: PLW0603 - one per process
    with _lock:
        if _renewer is None or _renewer[0] != os.getpid():
            _renewer = (os.getpid(), LeaseRenewer(app))
        return _renewer[1]
