"""Rows of growth: what a request takes in an organization of a million documents beside the same in
one of ten thousand. To fill them takes some minutes."""

import time
from statistics import median

from bench import filling, load
from bench.growth_cases import Case, list_cases
from bench.growth_filling import Grown, grow
from bench.report import Report, Row
from bench.service import Service

SMALL, LARGE = 10_000, 1_000_000
BOUND = 2.0
UNBOUNDED = {
    # Others' tag sets of documents that the labeler has submitted are found one by one.
    "tag sets as a labeler who labels blind",
    # It reads what one person did in thirty days, which here is a hundredth of everything.
    "one's own activity",
    # The row of each hit is visited for its time: 13,000 rows here, 130 in the small organization.
    "documents search, some words",
}
"""What grows with one person's own work, or with the hits of a search up to 20,000 of them."""
_ROUNDS = 15
_WARM = 2


def measure(report: Report, service: Service) -> None:
    """Fill both organizations, and measure each request in both, in turns."""
    began = time.perf_counter()
    small, large = grow(service, SMALL), grow(service, LARGE)
    filling.analyze(service)
    print(f"{LARGE:,} documents in {time.perf_counter() - began:.0f} s", flush=True)
    connection = load.Connection(service.base)
    for one, other in zip(list_cases(small), list_cases(large), strict=True):
        assert one[0] == other[0]
        times: tuple[list[float], list[float]] = ([], [])
        for turn in range(_WARM + _ROUNDS):
            for grown, case, taken in ((small, one, times[0]), (large, other, times[1])):
                seconds = _time(connection, grown, case)
                if turn >= _WARM:
                    taken.append(seconds)
        base, grown_to = median(times[0]), median(times[1])
        ratio = grown_to / base
        report.add(
            Row(
                one[0],
                f"{grown_to * 1000:.1f} ms",
                f"{base * 1000:.1f} ms",
                ratio,
                "" if one[0] in UNBOUNDED else f"<= {BOUND:.0f}",
                None if one[0] in UNBOUNDED else ratio <= BOUND,
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
