"""The base class for measurements of requests. The floor runs the SQL of the same request."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import capture, load
from bench.report import Report, Row
from bench.service import Service, run_floor
from tests.factories import Org
from tests.factories.labels import Labeled
from tests.factories.orgs import PASSWORD

CONNECTIONS = 8


class RequestMeasurements(ABC):
    """A base class for the measurements of one organization's requests."""

    reader = "viewer"
    """The name of the user who reads lists."""

    def __init__(self, service: Service, org: Org, labeled: Labeled, seconds: float) -> None:
        self.service = service
        self.org = org
        self.labeled = labeled
        self.seconds = seconds
        self.known_ids = {str(org.id), str(labeled.schema_id), str(labeled.version_id)}
        self.known_ids |= {str(user) for user in org.users.values()}
        self.plan: dict[str, Any] = {}

    def measure(self, report: Report, names: set[str]) -> None:
        """Measure the requests in `names`, or all if it is empty, alternately with the floor."""
        measurements = {
            name: prepare()
            for name, prepare in self._get_prepare_functions().items()
            if not names or name in names
        }
        if not measurements:
            return
        path = self.service.folder / "plan.json"
        path.write_text(json.dumps(self._build_plan()))
        with run_floor(self.service, Path(path)) as base:
            for measure_row in measurements.values():
                measure_row(report, base)

    @abstractmethod
    def _get_prepare_functions(self) -> dict[str, Callable[[], Any]]:
        """Return, by row name, the functions that prepare a measurement and return it.

        A measurement is a function of the report and the base URL of the floor.
        """

    def _build_plan(self) -> dict[str, Any]:
        from app.kit.prepared import REGISTRY  # noqa: PLC0415
        from tests.factories.orgs import _password_hash  # noqa: PLC0415

        prepare = [statement.prepare_sql for statement in REGISTRY.values()]
        return {
            **self.plan,
            "prepare": prepare,
            "password": PASSWORD,
            "password_hash": _password_hash(),
        }

    def _capture(self, name: str, perform: Callable[[], Any]) -> Any:
        responses: list[Any] = []
        perform()  # the first call prepares the statements, which is not a part of later requests
        self.plan[name] = capture.build_plan(
            self.org.app, self.known_ids, lambda: responses.append(perform())
        )
        assert responses[0].status_code < 300, responses[0].text
        return responses[0].json["data"]

    def _build_headers(self, role: str) -> dict[str, str]:
        return self.org.api(role).headers()

    def _run_gets(self, base: str, path: str, headers: dict[str, str]) -> load.Result:
        data = load.build_request("GET", path, headers)
        return load.run(base, lambda *_: data, connections=CONNECTIONS, seconds=self.seconds)

    def _run_posts(
        self,
        base: str,
        path: str,
        make: Callable[[], Any],
        headers: Any,
        expect: int,
        connections: int = CONNECTIONS,
    ) -> Any:
        def request(*_: int) -> bytes:
            return load.build_json_request("POST", path, headers, make())

        return load.run(base, request, connections=connections, seconds=self.seconds, expect=expect)

    def _run_load(
        self,
        base: str,
        make: load.RequestBuilder,
        on_response: load.ResponseHandler,
        connections: int = CONNECTIONS,
    ) -> load.Result:
        return load.run(
            base, make, connections=connections, seconds=self.seconds, on_response=on_response
        )

    def _add_spread(
        self, report: Report, name: str, result: load.Result, median_label: str
    ) -> None:
        """Add a row for the 99th percentile of response times, below five times their median."""
        p50, p99 = (1000 * result.get_quantile(share) for share in (0.5, 0.99))
        ours, floor = f"{p99:.1f} ms", f"{p50:.1f} ms {median_label}"
        report.add(Row(name, ours, floor, p99 / p50, "< 5", p99 < 5 * p50))

    def _compare(
        self, report: Report, bound: float, ours: Any, floor: Any, name: str
    ) -> load.Result:
        our_round, floor_round, ratio = load.compare(ours, floor)
        report.add(
            Row(
                name,
                f"{our_round.per_second:,.0f}/s",
                f"{floor_round.per_second:,.0f}/s",
                ratio,
                f">= {bound}" if bound else "",
                ratio >= bound if bound else None,
            )
        )
        return our_round

    def _prepare_pages(self, name: str, path: str, title: str, count: int) -> Any:
        """Return a function that compares a list's first page with the floor and a later page."""
        api = self.org.api(self.reader)
        first = f"{path}?page_size=100"
        self._capture(name, lambda: api.get(first))
        cursor = self._find_deep_cursor(api, path, count)

        def measure_row(report: Report, base: str) -> None:
            headers = api.headers()
            ours = self.service.base

            def get_first() -> load.Result:
                return self._run_gets(ours, f"/api/v1{first}", headers)

            self._compare(
                report,
                0.6,
                get_first,
                lambda: self._run_gets(base, f"/read/{name}", {}),
                f"{title} of 100 out of {count:,}, first page",
            )
            deep_page, first_page, _ = load.compare(
                lambda: self._run_gets(ours, f"/api/v1{first}&cursor={cursor}", headers),
                get_first,
            )
            deep, floor = (page.get_quantile(0.5) for page in (deep_page, first_page))
            report.add_times("the page 900 pages deep", deep, floor, 1.2, "first")

        return measure_row

    def _find_deep_cursor(self, api: Any, path: str, count: int) -> str:
        cursor: str | None = None
        pages = min(900, count // 100 - 1)
        for _ in range(pages // 10):
            suffix = f"&cursor={cursor}" if cursor else ""
            response = api.get(f"{path}?page_size=1000{suffix}")
            cursor = response.json["meta"]["next_cursor"]
        assert cursor is not None
        return cursor
