"""A kill of the embedded PostgreSQL costs active clients a few seconds, and idle ones nothing."""

import signal
import time
from itertools import pairwise

import psutil
import pytest
import requests

from app.kit.db_guard.guard import RETRY_SECONDS
from tests.factories.waiting import wait_until
from tests.faults.conftest import Service
from tests.faults.outages import GOAL_SECONDS, Clients, check_refusal, probe

pytestmark = pytest.mark.xdist_group("faults")
KILLS = 3


def _postmaster(service: Service) -> psutil.Process:
    (found,) = (
        process
        for process in service.processes("postgres", "-D")
        if process.ppid() == service.process.pid
    )
    return found


def _kill(service: Service) -> float:
    process = _postmaster(service)
    process.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    process.wait(30)
    return killed


def _longest_pause(clients: Clients, since: float) -> float:
    """Return the longest time in which nobody was served."""
    times = [answer.ended for answer in clients.since(since - 1.0) if answer.status < 300]
    return max(later - earlier for earlier, later in pairwise([*times, time.monotonic()]))


def test_the_service_is_soon_back_after_a_kill_under_load(demo: Service) -> None:
    with Clients(demo) as clients:
        pauses = []
        for _ in range(KILLS):
            killed = _kill(demo)
            clients.await_success_since(killed)
            pauses.append(_longest_pause(clients, killed))
            for answer in clients.since(killed):
                if answer.status >= 300:
                    check_refusal(answer)
        # The shortest: what else the machine does meanwhile makes all of them longer.
        assert min(pauses) < GOAL_SECONDS, pauses
        _nobody_stumbles_over_old_connections(demo, clients)


def _nobody_stumbles_over_old_connections(service: Service, clients: Clients) -> None:
    """Check that later requests succeed after a kill during which no request was sent."""
    clients.stop()
    _kill(service)
    wait_until(lambda: _stays_ready(service), "the service to be ready")
    answers = [service.call("GET", "/artifacts?page_size=1") for _ in range(60)]
    assert {answer.status_code for answer in answers} == {200}


def _stays_ready(service: Service) -> bool:
    """Return whether the service is ready for longer than a process pauses after a failure.

    The response of one process says nothing about the others.
    """
    until = time.monotonic() + 3 * RETRY_SECONDS
    while time.monotonic() < until:
        if not _answers(service):
            return False
    return True


def _answers(service: Service) -> bool:
    try:
        return probe(service, "ready")[0] == 200
    except requests.RequestException:
        return False
