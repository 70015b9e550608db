"""Rows of single requests: lists, one record, login, saving tags, creating a document."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from bench import capture, load
from bench.report import Report, Row
from bench.service import Service, floor
from tests.factories import Org
from tests.factories.labels import Labeled
from tests.factories.orgs import PASSWORD

CONNECTIONS = 8
LOG_INS = 2
"""More than a process has places for would be a flood, and refused (`app.kit.secrets.Gate`)."""
_JSON = {"Content-Type": "application/json"}
TEXT = "Invoice {n}\nFrom: Northwind Traders\n" + "A line of the invoice's text. " * 18


class Requests:
    """The measured requests of one organization, and their floors."""

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
        """Capture every row's SQL, start the floor with it, and measure in turns."""
        rows = {name: make() for name, make in self._rows().items() if not names or name in names}
        if not rows:
            return
        path = self.service.folder / "plan.json"
        path.write_text(json.dumps(self._whole_plan()))
        with floor(self.service, Path(path)) as base:
            for row in rows.values():
                row(report, base)

    def _rows(self) -> dict[str, Callable[[], Any]]:
        return {
            "live": self._live,
            "list": self._list,
            "one": self._one,
            "login": self._login,
            "save": self._save,
            "create": self._create,
        }

    def _whole_plan(self) -> dict[str, Any]:
        from app.kit.prepared import REGISTRY  # noqa: PLC0415
        from tests.factories.orgs import _password_hash  # noqa: PLC0415

        prepare = [statement.prepare for statement in REGISTRY.values()]
        return {
            **self.plan,
            "prepare": prepare,
            "password": PASSWORD,
            "password_hash": _password_hash(),
        }

    def _capture(self, name: str, perform: Callable[[], Any]) -> Any:
        answers: list[Any] = []
        perform()  # what a connection prepares once is not part of a request
        self.plan[name] = capture.plan_of(
            self.org.app, self.known, lambda: answers.append(perform())
        )
        assert answers[0].status_code < 300, answers[0].text
        return answers[0].json["data"]

    def _headers(self, role: str) -> dict[str, str]:
        return self.org.api(role).headers()

    def _get(self, base: str, path: str, headers: dict[str, str]) -> load.Result:
        data = load.request("GET", path, headers)
        return load.run(base, lambda *_: data, connections=CONNECTIONS, seconds=self.seconds)

    def _compare(
        self, report: Report, bound: float, ours: Any, theirs: Any, what: str
    ) -> load.Result:
        mine, floors, ratio = load.compare(ours, theirs)
        report.add(
            Row(
                what,
                f"{mine.per_second:,.0f}/s",
                f"{floors.per_second:,.0f}/s",
                ratio,
                f">= {bound}" if bound else "",
                ratio >= bound if bound else None,
            )
        )
        return mine

    def _live(self) -> Any:
        def row(report: Report, base: str) -> None:
            self._compare(
                report,
                0.5,
                lambda: self._get(self.service.base, "/health/live", {}),
                lambda: self._get(base, "/", {}),
                "GET /health/live",
            )

        return row

    def _list(self) -> Any:
        return self._pages("list", "/artifacts", "list", self.labeled.count)

    def _pages(self, name: str, path: str, what: str, count: int) -> Any:
        """A list of `count` records: its first page beside the floor's, and a page far down."""
        api = self.org.api(self.reader)
        first = f"{path}?page_size=100"
        self._capture(name, lambda: api.get(first))
        cursor = self._deep(api, path, count)

        def row(report: Report, base: str) -> None:
            headers = api.headers()
            ours = self.service.base
            mine = self._compare(
                report,
                0.6,
                lambda: self._get(ours, f"/api/v1{first}", headers),
                lambda: self._get(base, f"/read/{name}", {}),
                f"{what} of 100 out of {count:,}, first page",
            )
            deep = self._get(ours, f"/api/v1{first}&cursor={cursor}", headers)
            ratio = deep.quantile(0.5) / mine.quantile(0.5)
            report.add(
                Row(
                    "the page 900 pages deep",
                    f"{deep.quantile(0.5) * 1000:.1f} ms",
                    f"{mine.quantile(0.5) * 1000:.1f} ms first",
                    ratio,
                    "<= 1.2",
                    ratio <= 1.2,
                )
            )

        return row

    def _deep(self, api: Any, path: str, count: int) -> str:
        cursor: str | None = None
        pages = min(900, count // 100 - 1)
        for _ in range(pages // 10):
            suffix = f"&cursor={cursor}" if cursor else ""
            answer = api.get(f"{path}?page_size=1000{suffix}")
            cursor = answer.json["meta"]["next_cursor"]
        assert cursor is not None
        return cursor

    def _one(self) -> Any:
        api = self.org.api("viewer")
        identifier = api.get("/artifacts?page_size=1").json["data"][0]["id"]
        path = f"/artifacts/{identifier}"
        self._capture("one", lambda: api.get(path))

        def row(report: Report, base: str) -> None:
            headers = self._headers("viewer")
            self._compare(
                report,
                0.45,
                lambda: self._get(self.service.base, f"/api/v1{path}", headers),
                lambda: self._get(base, "/read/one", {}),
                "read one document",
            )

        return row

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

    def _login(self) -> Any:
        anonymous = self.org.anonymous()
        email = self.org.email("labeler")
        body = {"email": email, "password": PASSWORD}
        self._capture("login", lambda: anonymous.post("/auth/login", body))

        def row(report: Report, base: str) -> None:
            ours = self.service.base
            self._compare(
                report,
                0,
                lambda: self._post(ours, "/api/v1/auth/login", lambda: body, _JSON, 200, LOG_INS),
                lambda: self._post(base, "/login", lambda: body, _JSON, 200, LOG_INS),
                "login (one Argon2id hash on both sides)",
            )

        return row

    def _create(self) -> Any:
        api = self.org.api("labeler")

        def body() -> dict[str, str]:
            name = uuid4().hex
            return {"name": f"{name}.txt", "text": TEXT.format(n=name)}

        self._capture("create", lambda: api.post("/artifacts", body()))

        def row(report: Report, base: str) -> None:
            headers = {**_JSON, **self._headers("labeler")}
            self._compare(
                report,
                0,
                lambda: self._post(self.service.base, "/api/v1/artifacts", body, headers, 201),
                lambda: self._post(base, "/write/create", body, _JSON, 200),
                "create a document of 600 bytes of text",
            )

        return row

    def _draft(self) -> dict[str, Any]:
        api = self.org.api("labeler")
        text = TEXT.format(n=uuid4().hex)
        body = {"name": "draft.txt", "text": text, "schema_id": str(self.labeled.schema_id)}
        artifact = api.post("/artifacts", body).json["data"]
        answer = api.post(f"/artifacts/{artifact['id']}/tag-sets", {"from": "empty"})
        draft: dict[str, Any] = answer.json["data"]
        return draft

    def _save(self) -> Any:
        api = self.org.api("labeler")
        tags = [
            {"field": "field_1", "value": "Northwind Traders"},
            {"field": "field_2", "value": {"amount": "119.00", "currency": "EUR"}},
            {"field": "field_3", "value": "2026-11-21"},
            {"field": "field_4", "value": 12.5},
        ]
        first = self._draft()
        revision = [first["revision"]]

        def save() -> Any:
            body = {"tags": tags, "revision": revision[0]}
            answer = api.put(f"/tag-sets/{first['id']}/tags", body)
            revision[0] = answer.json["data"]["revision"]
            return answer

        self._capture("save", save)
        drafts = [self._draft() for _ in range(CONNECTIONS)]

        def row(report: Report, base: str) -> None:
            self._compare(
                report,
                0.45,
                lambda: self._saves(drafts, tags),
                lambda: self._floor_saves(base, first, drafts, tags),
                "save tags (4 tags, a revision, an outbox row)",
            )

        return row

    def _saves(self, drafts: list[dict[str, Any]], tags: list[Any]) -> load.Result:
        headers = {**_JSON, **self._headers("labeler")}

        def make(number: int, _: int) -> bytes:
            draft = drafts[number]
            body = json.dumps({"tags": tags, "revision": draft["revision"]}).encode()
            return load.request("PUT", f"/api/v1/tag-sets/{draft['id']}/tags", headers, body)

        def answer(number: int, _: int, body: bytes) -> None:
            drafts[number]["revision"] = json.loads(body)["data"]["revision"]

        return load.run(
            self.service.base,
            make,
            connections=CONNECTIONS,
            seconds=self.seconds,
            answer=answer,
        )

    def _floor_saves(
        self, base: str, first: dict[str, Any], drafts: list[dict[str, Any]], tags: list[Any]
    ) -> load.Result:
        def make(number: int, _: int) -> bytes:
            draft = drafts[number]
            replace = {
                first["id"]: draft["id"],
                first["artifact_id"]: draft["artifact_id"],
            }
            body = json.dumps({"tags": tags, "replace": replace}).encode()
            return load.request("POST", "/write/save", _JSON, body)

        def answer(number: int, _: int, body: bytes) -> None:
            # Both sides parse an answer and saved a revision.
            json.loads(body)
            drafts[number]["revision"] += 1

        return load.run(base, make, connections=CONNECTIONS, seconds=self.seconds, answer=answer)
