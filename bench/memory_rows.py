"""Measure the memory of the idle service."""

import time

from bench.report import Report
from bench.service import Service
from devserver.memory import measure_tree_pss

_MAX_MB = 600
# The processes that loaded the demo exit after they have been idle for JOB_IDLE_SECONDS.
_SETTLE_SECONDS = 160


def measure(report: Report, service: Service) -> None:
    """Report the memory (PSS) of all processes of an idle service, including its databases."""
    time.sleep(_SETTLE_SECONDS)
    megabytes = measure_tree_pss(service.process.pid) / 1e6
    name = "idle service, all processes (PSS)"
    met = megabytes < _MAX_MB
    report.add_without_floor(name, f"{megabytes:,.0f} MB", f"< {_MAX_MB} MB", met)
