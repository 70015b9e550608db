"""Provide the base class for measurements of requests, whose floor runs the same SQL."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import capture, load
from bench.report import Report, Row
from bench.service import Service, floor
from tests.factories import Org
from tests.factories.labels import Labeled
from tests.factories.orgs import PASSWORD

CONNECTIONS = 8


class Requests(ABC):
    """A base class for the measurements of one organization's requests."""

    reader = "viewer"

    def __init__(self, service: Service, org: Org, labeled: Labeled, seconds: float) -> None:
        self.service = service
        self.org = org
        self.labeled = labeled
        self.seconds = seconds
        self.known = {str(org.id), str(labeled.schema_id), str(labeled.version_id)}
        self.known |= {str(user) for user in org.users.values()}
        self.plan: dict[str, Any] = {}

    def measure(self, report: Report, names: set[str]) -> None:
        """Capture the SQL of the requests, start the floor, and measure both alternately."""
        rows = {name: make() for name, make in self._rows().items() if not names or name in names}
        if not rows:
            return
        path = self.service.folder / "plan.json"
        path.write_text(json.dumps(self._whole_plan()))
        with floor(self.service, Path(path)) as base:
            for row in rows.values():
                row(report, base)

    @abstractmethod
    def _rows(self) -> dict[str, Callable[[], Any]]:
        """Return a function for each row name that prepares the row's measurement."""

    def _whole_plan(self) -> dict[str, Any]:
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
        answers: list[Any] = []
        perform()  # a connection prepares statements once, which is not part of a request
        self.plan[name] = capture.build_plan(
            self.org.app, self.known, lambda: answers.append(perform())
        )
        assert answers[0].status_code < 300, answers[0].text
        return answers[0].json["data"]

    def _headers(self, role: str) -> dict[str, str]:
        return self.org.api(role).headers()

    def _get(self, base: str, path: str, headers: dict[str, str]) -> load.Result:
        data = load.request("GET", path, headers)
        return load.run(base, lambda *_: data, connections=CONNECTIONS, seconds=self.seconds)

    def _post(
        self,
        base: str,
        path: str,
        make: Callable[[], Any],
        headers: Any,
        expect: int,
        connections: int = CONNECTIONS,
    ) -> Any:
        def request(*_: int) -> bytes:
            return load.request("POST", path, headers, json.dumps(make()).encode())

        return load.run(base, request, connections=connections, seconds=self.seconds, expect=expect)

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

    def _pages(self, name: str, path: str, what: str, count: int) -> Any:
        """Prepare to compare a list's first page with the floor and with a later page."""
        api = self.org.api(self.reader)
        first = f"{path}?page_size=100"
        self._capture(name, lambda: api.get(first))
        cursor = self._find_deep_cursor(api, path, count)

        def row(report: Report, base: str) -> None:
            headers = api.headers()
            ours = self.service.base

            def get_first() -> load.Result:
                return self._get(ours, f"/api/v1{first}", headers)

            self._compare(
                report,
                0.6,
                get_first,
                lambda: self._get(base, f"/read/{name}", {}),
                f"{what} of 100 out of {count:,}, first page",
            )
            deep_page, first_page, _ = load.compare(
                lambda: self._get(ours, f"/api/v1{first}&cursor={cursor}", headers),
                get_first,
                rounds=3,
            )
            ratio = deep_page.quantile(0.5) / first_page.quantile(0.5)
            report.add(
                Row(
                    "the page 900 pages deep",
                    f"{deep_page.quantile(0.5) * 1000:.1f} ms",
                    f"{first_page.quantile(0.5) * 1000:.1f} ms first",
                    ratio,
                    "<= 1.2",
                    ratio <= 1.2,
                )
            )

        return row

    def _find_deep_cursor(self, api: Any, path: str, count: int) -> str:
        cursor: str | None = None
        pages = min(900, count // 100 - 1)
        for _ in range(pages // 10):
            suffix = f"&cursor={cursor}" if cursor else ""
            answer = api.get(f"{path}?page_size=1000{suffix}")
            cursor = answer.json["meta"]["next_cursor"]
        assert cursor is not None
        return cursor
