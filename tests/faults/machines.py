"""Run more machines of a service, which share its database, Redis and storage."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from tests.factories.processes import send_signal
from tests.faults.conftest import Service, run_service

_SHARED_SETTINGS = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ENCRYPTION_KEYS")


@contextmanager
def run_another_machine(first: Service) -> Iterator[Service]:
    """Run another machine, with its own supervisor and data folder, in addition to `first`.

    The first machine runs PostgreSQL and Valkey. It must not restart during the block, because
    their ports may change.
    """
    environment = first.environment()
    settings = {name: environment[name] for name in _SHARED_SETTINGS}
    storage = f"file://{first.folder}/data/files"
    with run_service(DEMO="off", RATE_LIMITS="off", STORAGE_URL=storage, **settings) as machine:
        yield machine


def kill_machine(machine: Service) -> None:
    """Kill the supervisor and all its processes at once, as a power failure does."""
    processes = [psutil.Process(machine.process.pid), *machine.processes()]
    for process in processes:
        send_signal(process, signal.SIGKILL)
    psutil.wait_procs(processes, timeout=10)
