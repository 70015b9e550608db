"""Measure the memory of the idle service."""

import time

from bench.report import Report
from bench.service import Service
from devserver.memory import measure_tree_pss

_BOUND_MB = 600
# By then, the processes that loaded the demo have been idle for JOB_IDLE_SECONDS and have exited.
_SETTLE_SECONDS = 160


def measure(report: Report, service: Service) -> None:
    """Report the memory (PSS) of all processes of an idle service, including its databases."""
    time.sleep(_SETTLE_SECONDS)
    megabytes = measure_tree_pss(service.process.pid) / 1e6
    name = "idle service, all processes (PSS)"
    met = megabytes < _BOUND_MB
    report.add_without_floor(name, f"{megabytes:,.0f} MB", f"< {_BOUND_MB} MB", met)
