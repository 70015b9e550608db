"""Compare requests in two organizations, with a million and with ten thousand documents.

Creating the organizations takes several minutes.
"""

import time
from statistics import median

from bench import filling, load, notification_filling
from bench.growth_cases import Case, list_cases, list_notification_cases
from bench.growth_filling import create_organization
from bench.report import Report
from bench.service import Service
from tests.factories import Org

SMALL, LARGE = 10_000, 1_000_000
MAX_RATIO = 2
PERSONAL_CASES = {
    # For each document that the labeler has labeled, the tag sets of others are found separately.
    "tag sets as a labeler who labels blind",
    # The request reads the activity of one user in thirty days.
    "the caller's activity",
}
"""The cases whose time grows with the work of one user. In the large organization, each user has
done a hundred times as much, which is more than a person can do: 170 submissions a day, and 40,000
tag sets labeled blind."""
MAX_PERSONAL_RATIO = 20
_ROUNDS = 40
_WARM_UP_ROUNDS = 2


def measure(report: Report, service: Service) -> None:
    """Create both organizations, and measure each request alternately in both."""
    began = time.perf_counter()
    small, large = create_organization(service, SMALL), create_organization(service, LARGE)
    filling.analyze(service)
    print(f"{LARGE:,} documents in {time.perf_counter() - began:.0f} s", flush=True)
    _compare(report, service, (small.org, list_cases(small)), (large.org, list_cases(large)))


def measure_notifications(report: Report, service: Service) -> None:
    """Compare the requests of a user with `SMALL` and a user with `LARGE` notifications."""
    small, large = (notification_filling.fill(service, rows) for rows in (SMALL, LARGE))
    filling.analyze(service)
    cases = list(list_notification_cases())
    _compare(report, service, (small, cases), (large, cases))
    began = time.perf_counter()
    response = large.api("viewer").post("/notifications/read-all")
    seconds = time.perf_counter() - began
    assert response.json["data"] == {"read": LARGE // 500}, response.json
    name = f"read-all of {LARGE // 500:,}"
    report.add_without_floor(name, f"{seconds * 1000:.0f} ms", "", None)


def _compare(
    report: Report, service: Service, small: tuple[Org, list[Case]], large: tuple[Org, list[Case]]
) -> None:
    """Measure each request alternately in both organizations, and report the ratio."""
    connection = load.Connection(service.base)
    for small_case, large_case in zip(small[1], large[1], strict=True):
        assert small_case[0] == large_case[0]
        times: tuple[list[float], list[float]] = ([], [])
        for round_number in range(_WARM_UP_ROUNDS + _ROUNDS):
            for org, case, case_times in (
                (small[0], small_case, times[0]),
                (large[0], large_case, times[1]),
            ):
                seconds = _time(connection, org, case)
                if round_number >= _WARM_UP_ROUNDS:
                    case_times.append(seconds)
        max_ratio = MAX_PERSONAL_RATIO if small_case[0] in PERSONAL_CASES else MAX_RATIO
        report.add_times(small_case[0], median(times[1]), median(times[0]), max_ratio)


def _time(connection: load.Connection, org: Org, case: Case) -> float:
    _, user, path = case
    request = load.build_request("GET", f"/api/v1{path}", org.api(user).headers())
    return connection.measure(request)[0]
