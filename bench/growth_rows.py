"""Compare requests in an organization of a million documents with one of ten thousand.

Filling them takes some minutes.
"""

import time
from statistics import median

from bench import filling, load
from bench.growth_cases import Case, list_cases
from bench.growth_filling import Grown, grow
from bench.report import Report, Row
from bench.service import Service

SMALL, LARGE = 10_000, 1_000_000
BOUND = 2.0
OWN_WORK = {
    # Tag sets of others for documents that the labeler has submitted are found one at a time.
    "tag sets as a labeler who labels blind",
    # It reads the activity of one user in thirty days.
    "one's own activity",
}
"""The cases that grow with one user's own work.

The large organization has a hundred times as much of it, which no person does: 170 submissions a
day, and 40,000 tag sets labeled blind.
"""
OWN_BOUND = 20.0
_ROUNDS = 15
_WARM = 2


def measure(report: Report, service: Service) -> None:
    """Fill both organizations, and measure each request in both, alternately."""
    began = time.perf_counter()
    small, large = grow(service, SMALL), grow(service, LARGE)
    filling.analyze(service)
    print(f"{LARGE:,} documents in {time.perf_counter() - began:.0f} s", flush=True)
    connection = load.Connection(service.base)
    for small_case, large_case in zip(list_cases(small), list_cases(large), strict=True):
        assert small_case[0] == large_case[0]
        times: tuple[list[float], list[float]] = ([], [])
        for turn in range(_WARM + _ROUNDS):
            for grown, case, times_of in (
                (small, small_case, times[0]),
                (large, large_case, times[1]),
            ):
                seconds = _time(connection, grown, case)
                if turn >= _WARM:
                    times_of.append(seconds)
        base, grown_to = median(times[0]), median(times[1])
        ratio = grown_to / base
        bound = OWN_BOUND if small_case[0] in OWN_WORK else BOUND
        report.add(
            Row(
                small_case[0],
                f"{grown_to * 1000:.1f} ms",
                f"{base * 1000:.1f} ms",
                ratio,
                f"<= {bound:.0f}",
                ratio <= bound,
            )
        )


def _time(connection: load.Connection, grown: Grown, case: Case) -> float:
    _, user, path = case
    request = load.request("GET", f"/api/v1{path}", grown.org.api(user).headers())
    began = time.perf_counter()
    status, answer = connection.send(request)
    seconds = time.perf_counter() - began
    assert status == 200, f"{path}: {status} {answer[:300]!r}"
    return seconds
