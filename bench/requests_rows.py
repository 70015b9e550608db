"""Measure single requests: lists, one record, login, saving tags, creating a document."""

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from bench import load
from bench.report import Report
from bench.requests_base import CONNECTIONS, Requests
from tests.factories.orgs import PASSWORD

LOG_INS = 2
"""The number of concurrent logins. A process refuses more logins than it has slots.

See `app.kit.secrets.HashingSlots`.
"""
_JSON = {"Content-Type": "application/json"}
TEXT = "Invoice {n}\nFrom: Northwind Traders\n" + "A line of the invoice's text. " * 18


class SingleRequests(Requests):
    """The measurements of single requests for one organization's documents."""

    def _rows(self) -> dict[str, Callable[[], Any]]:
        return {
            "live": self._live,
            "list": self._list,
            "one": self._one,
            "login": self._login,
            "save": self._save,
            "create": self._create,
        }

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

        def handle_response(number: int, _: int, body: bytes) -> None:
            drafts[number]["revision"] = json.loads(body)["data"]["revision"]

        return load.run(
            self.service.base,
            make,
            connections=CONNECTIONS,
            seconds=self.seconds,
            on_response=handle_response,
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

        def handle_response(number: int, _: int, body: bytes) -> None:
            # The service parses an answer and saves a revision, so the floor must do the same.
            json.loads(body)
            drafts[number]["revision"] += 1

        return load.run(
            base, make, connections=CONNECTIONS, seconds=self.seconds, on_response=handle_response
        )
