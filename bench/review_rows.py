"""Measure the review queue: many concurrent claims, the slowest claim, and bulk decisions."""

import json
import threading
from statistics import median
from typing import Any
from uuid import UUID

import psycopg2

from bench import capture, filling, load
from bench.report import Report, Row
from bench.requests_base import RequestMeasurements
from bench.service import Service
from tests.factories import Org
from tests.factories.labels import make_labeled

CALLERS = 16
_NEXT_PATH = "/api/v1/review-queue/next"
BULK_COUNT = 1000
FILTERED_COUNT = 10_000
_ROUNDS = 5
_SUBMIT = """
UPDATE tag_sets SET status = 'submitted', reviewer_id = NULL, decided_at = NULL,
    review_rank = 50 * 10::bigint ^ 13 + extract(epoch FROM created_at) * 1000
WHERE organization_id = '{org}'
"""
# The effect of a review decision on the queue, whether the service or the floor claimed the item.
_FINISH = """
UPDATE tag_sets SET status = 'accepted', claim_user_id = NULL, claim_expires_at = NULL
WHERE organization_id = %s AND claim_user_id = %s AND status = 'submitted' RETURNING id
"""
_NEWEST = """
SELECT created_at FROM tag_sets WHERE organization_id = %s AND status = 'submitted'
ORDER BY created_at DESC OFFSET %s LIMIT 1
"""
# Makes the first half of the queue the work of a labeler who also reviews.
_OWN = """
UPDATE tag_sets SET labeler_id = '{user}' WHERE organization_id = '{org}' AND status = 'submitted'
AND review_rank < (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY review_rank) FROM tag_sets
                   WHERE organization_id = '{org}' AND status = 'submitted')
"""


class ReviewMeasurements(RequestMeasurements):
    """The measurements of one organization's review queue."""

    reader = "caller0"

    def __init__(self, service: Service, org: Org, rows: int, seconds: float) -> None:
        with filling.disable_triggers(service):
            super().__init__(service, org, make_labeled(org, rows), seconds)
            with filling.open_cursor(service) as cursor:
                cursor.execute(_SUBMIT.format(org=org.id))
        filling.analyze(service)
        self.rows = rows
        self.users = [org.add_user(f"caller{number}", "reviewer") for number in range(CALLERS)]
        self.claimed_ids: list[str] = []

    def _get_prepare_functions(self) -> dict[str, Any]:
        return {
            "queue": self._prepare_queue,
            "reviews": self._prepare_claims,
            "own": self._prepare_behind_own,
            "accepts": self._prepare_accept,
        }

    def _build_plan(self) -> dict[str, Any]:
        # The floor must not replace any id of the plan except the caller's.
        return {**super()._build_plan(), **{k: {**v, "uuids": []} for k, v in self.plan.items()}}

    def _prepare_queue(self) -> Any:
        return self._prepare_pages("queue", "/review-queue", "review queue", self.rows)

    def _prepare_claims(self) -> Any:
        self._capture("next", lambda: self.org.api(self.reader).post("/review-queue/next", {}))

        def measure_row(report: Report, base: str) -> None:
            ours = self._compare(
                report,
                0.4,
                lambda: self._measure_claims(self.service.base),
                lambda: self._measure_claims(base, floor=True),
                f"review next, {CALLERS} callers, {self.rows:,} items",
            )
            assert len(set(self.claimed_ids)) == len(self.claimed_ids), "an item was assigned twice"
            self._add_spread(report, "the same, p99 and p50", ours, "p50")

        return measure_row

    def _measure_claims(self, base: str, *, floor: bool = False) -> load.Result:
        """Let each caller repeatedly claim and finish items, and measure only the claims."""
        local, claimed_ids = threading.local(), []
        headers = [self.org.api(f"caller{n}").headers() for n in range(CALLERS)]

        def make(number: int, _: int) -> bytes:
            if not floor:
                return load.build_json_request("POST", _NEXT_PATH, headers[number], {})
            replace = {str(self.users[0]): str(self.users[number])}
            return load.build_json_request("POST", "/write/next", {}, {"replace": replace})

        def handle_response(number: int, _: int, body: bytes) -> None:
            if not hasattr(local, "cursor"):
                local.cursor = self._open_cursor()
            local.cursor.execute(_FINISH, (str(self.org.id), str(self.users[number])))
            finished = [str(row[0]) for row in local.cursor.fetchall()]
            if not floor:
                assert finished == [json.loads(body)["data"]["id"]], (
                    "another caller claimed the item too"
                )
            claimed_ids.extend(finished)

        result = self._run_load(base, make, handle_response, CALLERS)
        self.claimed_ids += claimed_ids
        result.seconds = sum(result.times) / CALLERS
        return result

    def _open_cursor(self) -> Any:
        connection = psycopg2.connect(
            self.service.database_url, options="-c app.all_organizations=on"
        )
        connection.autocommit = True
        return connection.cursor()

    def _prepare_behind_own(self) -> Any:
        def measure_row(report: Report, _base: str) -> None:
            plain = median(self._measure_alone() for _ in range(_ROUNDS))
            with (
                filling.disable_triggers(self.service),
                filling.open_cursor(self.service) as cursor,
            ):
                cursor.execute(_OWN.format(org=self.org.id, user=self.users[0]))
            filling.analyze(self.service)
            behind = median(self._measure_alone() for _ in range(_ROUNDS))
            name = f"next behind {self.rows // 2:,} of the reviewer's own"
            report.add_times(name, behind, plain, 2)

        return measure_row

    def _measure_alone(self) -> float:
        """Return the median time of a claim by a single caller, in seconds."""
        connection, times = load.Connection(self.service.base), []
        headers = self._build_headers(self.reader)
        request = load.build_json_request("POST", _NEXT_PATH, headers, {})
        cursor = self._open_cursor()
        for _ in range(20):
            times.append(connection.measure(request)[0])
            cursor.execute(_FINISH, (str(self.org.id), str(self.users[0])))
        return median(times)

    def _prepare_accept(self) -> Any:
        ids = iter(self._list_last_ids(BULK_COUNT * (_ROUNDS + 1)))

        def build_body() -> dict[str, Any]:
            return {"tag_set_ids": [str(next(ids)) for _ in range(BULK_COUNT)], "note": "Good"}

        api = self.org.api("caller1")
        with capture.record_statements(self.org.app) as statements:
            assert api.post("/review-queue/bulk-accept", build_body()).json["data"]["failed"] == 0

        def measure_row(report: Report, _base: str) -> None:
            seconds = median(self._measure_accept(build_body()) for _ in range(_ROUNDS))
            report.add(
                Row(
                    f"accept {BULK_COUNT:,} at once",
                    f"{seconds:.2f} s",
                    f"{len(statements)} statements",
                    None,
                    "<= 1.5 s, < 12",
                    seconds <= 1.5 and len(statements) < 12,
                )
            )
            report.add(self._measure_accept_by_filter())

        return measure_row

    def _measure_accept_by_filter(self) -> Row:
        # The filter starts at the time of the oldest item to accept; a period includes its start.
        with filling.open_cursor(self.service) as cursor:
            cursor.execute(_NEWEST, (str(self.org.id), FILTERED_COUNT - 1))
            since = cursor.fetchone()[0].isoformat()
        body = {"filter": {"created_after": since}, "expected_count": FILTERED_COUNT}
        seconds = self._measure_accept(body, FILTERED_COUNT)
        return Row(
            f"accept {FILTERED_COUNT:,} by filter",
            f"{seconds:.1f} s",
            f"{FILTERED_COUNT // BULK_COUNT} transactions",
            None,
            "<= 6 s",
            seconds <= 6,
        )

    def _measure_accept(self, body: dict[str, Any], count: int = BULK_COUNT) -> float:
        path, headers = "/api/v1/review-queue/bulk-accept", self._build_headers("caller1")
        request = load.build_json_request("POST", path, headers, body)
        return load.Connection(self.service.base).measure_bulk_action(request, count)

    def _list_last_ids(self, count: int) -> list[UUID]:
        # From the end of the queue, because claims take items from its head.
        with filling.open_cursor(self.service) as cursor:
            cursor.execute(
                "SELECT id FROM tag_sets WHERE organization_id = %s AND status = 'submitted'"
                " ORDER BY review_rank DESC LIMIT %s",
                (str(self.org.id), count),
            )
            return [row[0] for row in cursor.fetchall()]


def measure(
    report: Report, service: Service, org: Org, names: set[str], rows: int, seconds: float
) -> None:
    """Run the benchmarks in `names`, or all if `names` is empty, with a queue of `rows` items."""
    ReviewMeasurements(service, org, rows, seconds).measure(report, names)
