"""Renewal of the leases of running jobs, in a thread with a separate database connection."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Thread

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from app.kit.jobs.claims import JOB_LEASES
from app.kit.leases import Lease, LeaseKeeper
from app.kit.logging import get_logger

log = get_logger(__name__)

_RETRY_SECONDS = 1.0
_keepers_by_pid: dict[int, LeaseKeeper] = {}
_lock = Lock()


@contextmanager
def keep_renewed(app: Flask, lease: Lease) -> Iterator[None]:
    """Keep renewing `lease` in a `with` block, unless another worker has claimed its jobs."""
    keeper = _get_keeper(app)
    # The claim was milliseconds ago, and only the time of the renewal matters here.
    keeper.add([lease], time.monotonic())
    try:
        yield
    finally:
        keeper.remove([lease])


def _get_keeper(app: Flask) -> LeaseKeeper:
    """Return the keeper of this process. The first call creates it and starts its thread."""
    with _lock:
        keeper = _keepers_by_pid.get(os.getpid())
        if keeper is None:
            _keepers_by_pid.clear()
            keeper = _keepers_by_pid[os.getpid()] = LeaseKeeper(app, JOB_LEASES)
            Thread(target=_renew_leases, args=[keeper], name="leases", daemon=True).start()
        return keeper


def _renew_leases(keeper: LeaseKeeper) -> None:
    while True:
        keeper.wait_until_due()
        try:
            keeper.renew_due()
        except SQLAlchemyError as failure:
            log.warning("job.lease_not_renewed", error=type(failure).__name__)
            time.sleep(_RETRY_SECONDS)
