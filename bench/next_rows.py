"""Measure claiming the next document with many callers, and bulk assignment by filter."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import inf
from threading import Event
from typing import Any

from app.kit import db
from bench import filling, load
from bench.report import Report, Row
from bench.requests_base import RequestMeasurements
from bench.service import Service
from tests.factories import Org, make_org
from tests.factories.labels import Labeled, make_field, make_schema

CALLERS = 16
_NEXT_PATH = "/api/v1/artifacts/next"
_ALREADY_LABELED = 20_000
_PAUSE_SECONDS = 0.05
_MIN_ASSIGN_RATIO, _MAX_ASSIGN_SECONDS = 0.3, 20
# Ids in the order of creation, like the ids of documents that the service creates.
_ARTIFACT_ID = """CAST(lpad(to_hex(CAST(extract(epoch FROM now()) * 1000 AS bigint) + i), 12, '0')
    || '7' || lpad(to_hex(i % 4096), 3, '0') || '8' || substr(md5('{salt}' || i), 1, 15) AS uuid)"""
_DOCUMENTS = f"""
INSERT INTO artifacts (organization_id, id, name, schema_id, external_id, metadata, priority, gold,
    archived, media_type, size_bytes, sha256, page_count, language, text_length, status, assignees,
    label_counts, created_by, created_at, updated_at, revision)
SELECT '{{org}}', {_ARTIFACT_ID}, 'document-' || i || '.txt', '{{schema}}', 'ext-' || i,
    jsonb_build_object('batch', i % 10), i % 100, false, false, 'text/plain', 600,
    encode(sha256(convert_to('{{salt}}' || i, 'UTF8')), 'hex'), 1, 'en', 51, 'ready', '[]',
    '{{{{"draft": 0, "submitted": 0, "accepted": 0, "rejected": 0}}}}', '{{owner}}',
    now() - i * interval '1 second', now(), 1
FROM generate_series(1, {{rows}}) AS i
"""
_LABELED = """
UPDATE artifacts SET priority = 100, labeled_by = ARRAY[CAST('{user}' AS uuid)]
WHERE organization_id = '{org}' AND id IN (
    SELECT id FROM artifacts WHERE organization_id = '{org}' AND status = 'ready' LIMIT {rows})
"""
_ASSIGNED = """
UPDATE artifacts SET assignees = jsonb_build_array(jsonb_build_object('user_id', :user)),
    updated_at = now(), revision = revision + 1
WHERE organization_id = :org
"""
"""The simplest statement that assigns all documents to one member."""


def measure(report: Report, service: Service, names: set[str], rows: int, seconds: float) -> None:
    """Run the benchmarks in `names`, or all if `names` is empty, with `rows` ready documents."""
    if not names or "next" in names:
        org = make_org(service.app)
        for number in range(CALLERS):
            org.add_user(f"caller{number}", "labeler")
        documents = create_documents(service, org, rows)
        ClaimMeasurements(service, org, documents, seconds).measure(report, {"next"})
    if not names or "assign" in names:
        _measure_bulk_assignment(report, service, rows)


def create_documents(service: Service, org: Org, rows: int) -> Labeled:
    """Create a schema and `rows` documents that are ready for labeling, with mixed priorities."""
    fields = [make_field("total", "money")]
    schema_id, version_id = make_schema(org, fields)
    values = {"org": org.id, "schema": schema_id, "owner": org.users["owner"]}
    with filling.disable_triggers(service), filling.open_cursor(service) as cursor:
        cursor.execute(_DOCUMENTS.format(**values, rows=rows, salt=schema_id.hex))
    filling.analyze(service)
    return Labeled(schema_id, version_id, fields, db.utc_now(), rows)


class ClaimMeasurements(RequestMeasurements):
    """The measurement of many users who claim the next document at the same time."""

    def _get_prepare_functions(self) -> dict[str, Callable[[], Any]]:
        return {"next": self._prepare_next}

    def _prepare_next(self) -> Any:
        criteria = {"skip_held": True}
        self._capture("next", lambda: self.org.api("caller0").post("/artifacts/next", criteria))
        callers = [f"caller{number}" for number in range(CALLERS)]
        claimed_ids: list[str] = []

        def measure_row(report: Report, base: str) -> None:
            ours = self._compare(
                report,
                0.4,
                lambda: self._measure_claims(callers, criteria, claimed_ids),
                lambda: self._measure_floor_claims(base, callers),
                f"next of {self.labeled.count:,}, {CALLERS} callers",
            )
            self._add_spread(report, "next, its 99th percentile", ours, "median")
            report.add(_build_duplicates_row(claimed_ids))
            self._measure_behind_labeled(report, criteria)

        return measure_row

    def _measure_claims(
        self, callers: list[str], criteria: dict[str, Any], claimed_ids: list[str] | None = None
    ) -> load.Result:
        requests = [
            load.build_json_request("POST", _NEXT_PATH, self._build_headers(name), criteria)
            for name in callers
        ]

        def handle_response(_number: int, _count: int, body: bytes) -> None:
            document = json.loads(body)["data"]
            if claimed_ids is not None:
                claimed_ids.append(document["id"])

        return self._run_load(
            self.service.base, lambda number, _: requests[number], handle_response, len(callers)
        )

    def _measure_floor_claims(self, base: str, callers: list[str]) -> load.Result:
        first = str(self.org.users[callers[0]])

        def make(number: int, _: int) -> bytes:
            replace = {first: str(self.org.users[callers[number]])}
            return load.build_json_request("POST", "/write/next", {}, {"replace": replace})

        def handle_response(_number: int, _count: int, body: bytes) -> None:
            json.loads(body)  # both sides parse a response

        return self._run_load(base, make, handle_response, len(callers))

    def _measure_behind_labeled(self, report: Report, criteria: dict[str, Any]) -> None:
        """Measure one caller who has already labeled the documents at the head of the queue."""
        values = {"org": self.org.id, "user": self.org.users["caller0"], "rows": _ALREADY_LABELED}
        with filling.open_cursor(self.service) as cursor:
            cursor.execute(_LABELED.format(**values))
        filling.analyze(self.service)
        alone = self._measure_claims(["caller1"], criteria).get_quantile(0.5)
        behind = self._measure_claims(["caller0"], criteria).get_quantile(0.5)
        name = f"next behind {_ALREADY_LABELED:,} that the user labeled"
        report.add_times(name, behind, alone, 10, "without")


def _build_duplicates_row(claimed_ids: list[str]) -> Row:
    duplicates = len(claimed_ids) - len(set(claimed_ids))
    return Row("next, documents claimed twice", str(duplicates), "", None, "0", duplicates == 0)


def _measure_bulk_assignment(report: Report, service: Service, rows: int) -> None:
    """Measure bulk assignment while a labeler claims documents. The floor is one SQL statement."""
    for strategy in ("everyone", "least_loaded"):
        org = make_org(service.app)
        labeled = create_documents(service, org, rows)
        body = {
            "filter": {"schema_id": str(labeled.schema_id)},
            "expected_count": rows,
            "user_ids": [str(org.users[name]) for name in ("labeler", "reviewer")],
            "strategy": strategy,
        }
        with _claim_in_background(service, org, "labeler"):
            floor = filling.time_and_roll_back(service, org, _ASSIGNED, user=body["user_ids"][0])
        connection = load.Connection(service.base)
        path, headers = "/api/v1/artifacts/bulk-assign", org.api("reviewer").headers()
        request = load.build_json_request("POST", path, headers, body)
        with _claim_in_background(service, org, "labeler") as request_seconds:
            seconds = connection.measure_bulk_action(request, rows)
        name = f"assign {rows:,} by filter, {strategy}"
        report.add_action(name, seconds, floor, _MIN_ASSIGN_RATIO, _MAX_ASSIGN_SECONDS)
        claim_times = [wait for wait in request_seconds if wait is not None]
        longest = max(claim_times, default=inf)
        report.add(
            Row(
                f"the slowest of {len(request_seconds)} requests for next",
                f"{longest * 1000:.0f} ms",
                f"{len(request_seconds) - len(claim_times)} found nothing",
                None,
                "<= 2 s, 0",
                longest <= 2 and len(claim_times) == len(request_seconds),
            )
        )


@contextmanager
def _claim_in_background(service: Service, org: Org, labeler: str) -> Iterator[list[float | None]]:
    """Claim documents one after the other in the background while the `with` block runs.

    Yields a list of the seconds of each request, or None for a request that found no document.
    """
    headers = org.api(labeler).headers()
    request = load.build_json_request("POST", _NEXT_PATH, headers, {"skip_held": True})
    request_seconds: list[float | None] = []
    stopped = Event()

    def claim() -> None:
        connection = load.Connection(service.base)
        while not stopped.wait(_PAUSE_SECONDS):
            seconds, response = connection.measure(request)
            request_seconds.append(seconds if json.loads(response)["data"] else None)

    with ThreadPoolExecutor(1) as pool:
        claiming = pool.submit(claim)
        try:
            yield request_seconds
        finally:
            stopped.set()
            claiming.result()
