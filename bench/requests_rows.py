"""Measure single requests, for example a list, one document, a login, and saving tags."""

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from bench import load
from bench.report import Report
from bench.requests_base import CONNECTIONS, RequestMeasurements
from tests.factories.orgs import PASSWORD

CONCURRENT_LOGINS = 2
"""The number of concurrent logins. A process refuses more logins than it has slots for hashing
(`app.kit.secrets.HashingSlots`)."""
TEXT = "Invoice {n}\nFrom: Northwind Traders\n" + "A line of the invoice's text. " * 18


class SingleRequestMeasurements(RequestMeasurements):
    """The measurements of single requests for one organization's documents."""

    def _get_prepare_functions(self) -> dict[str, Callable[[], Any]]:
        return {
            "live": self._prepare_live,
            "list": self._prepare_list,
            "one": self._prepare_one,
            "login": self._prepare_login,
            "save": self._prepare_save,
            "create": self._prepare_create,
        }

    def _prepare_live(self) -> Any:
        return self._build_get_measurement("GET /health/live", 0.5, "/health/live", {}, "/")

    def _build_get_measurement(
        self, title: str, bound: float, path: str, headers: dict[str, str], floor_path: str
    ) -> Any:
        def measure_row(report: Report, base: str) -> None:
            self._compare(
                report,
                bound,
                lambda: self._run_gets(self.service.base, path, headers),
                lambda: self._run_gets(base, floor_path, {}),
                title,
            )

        return measure_row

    def _prepare_list(self) -> Any:
        return self._prepare_pages("list", "/artifacts", "list", self.labeled.count)

    def _prepare_one(self) -> Any:
        api = self.org.api("viewer")
        identifier = api.get("/artifacts?page_size=1").json["data"][0]["id"]
        path = f"/artifacts/{identifier}"
        self._capture("one", lambda: api.get(path))
        headers = self._build_headers("viewer")
        return self._build_get_measurement(
            "read one document", 0.45, f"/api/v1{path}", headers, "/read/one"
        )

    def _prepare_login(self) -> Any:
        anonymous = self.org.anonymous()
        email = self.org.email("labeler")
        body = {"email": email, "password": PASSWORD}
        self._capture("login", lambda: anonymous.post("/auth/login", body))

        def measure_row(report: Report, base: str) -> None:
            ours = self.service.base
            self._compare(
                report,
                0,
                lambda: self._run_posts(
                    ours, "/api/v1/auth/login", lambda: body, {}, 200, CONCURRENT_LOGINS
                ),
                lambda: self._run_posts(base, "/login", lambda: body, {}, 200, CONCURRENT_LOGINS),
                "login (one Argon2id hash on both sides)",
            )

        return measure_row

    def _prepare_create(self) -> Any:
        api = self.org.api("labeler")

        def build_body() -> dict[str, str]:
            name = uuid4().hex
            return {"name": f"{name}.txt", "text": TEXT.format(n=name)}

        self._capture("create", lambda: api.post("/artifacts", build_body()))

        def measure_row(report: Report, base: str) -> None:
            headers = self._build_headers("labeler")
            self._compare(
                report,
                0,
                lambda: self._run_posts(
                    self.service.base, "/api/v1/artifacts", build_body, headers, 201
                ),
                lambda: self._run_posts(base, "/write/create", build_body, {}, 200),
                "create a document of 600 bytes of text",
            )

        return measure_row

    def _create_draft(self) -> dict[str, Any]:
        api = self.org.api("labeler")
        text = TEXT.format(n=uuid4().hex)
        body = {"name": "draft.txt", "text": text, "schema_id": str(self.labeled.schema_id)}
        artifact = api.post("/artifacts", body).json["data"]
        response = api.post(f"/artifacts/{artifact['id']}/tag-sets", {"from": "empty"})
        draft: dict[str, Any] = response.json["data"]
        return draft

    def _prepare_save(self) -> Any:
        api = self.org.api("labeler")
        tags = [
            {"field": "field_1", "value": "Northwind Traders"},
            {"field": "field_2", "value": {"amount": "119.00", "currency": "EUR"}},
            {"field": "field_3", "value": "2026-11-21"},
            {"field": "field_4", "value": 12.5},
        ]
        first = self._create_draft()
        revision = [first["revision"]]

        def save() -> Any:
            body = {"tags": tags, "revision": revision[0]}
            response = api.put(f"/tag-sets/{first['id']}/tags", body)
            revision[0] = response.json["data"]["revision"]
            return response

        self._capture("save", save)
        drafts = [self._create_draft() for _ in range(CONNECTIONS)]

        def measure_row(report: Report, base: str) -> None:
            self._compare(
                report,
                0.45,
                lambda: self._measure_saves(drafts, tags),
                lambda: self._measure_floor_saves(base, first, drafts, tags),
                "save tags (4 tags, a revision, an outbox row)",
            )

        return measure_row

    def _measure_saves(self, drafts: list[dict[str, Any]], tags: list[Any]) -> load.Result:
        headers = self._build_headers("labeler")

        def make(number: int, _: int) -> bytes:
            draft = drafts[number]
            body = {"tags": tags, "revision": draft["revision"]}
            path = f"/api/v1/tag-sets/{draft['id']}/tags"
            return load.build_json_request("PUT", path, headers, body)

        def handle_response(number: int, _: int, body: bytes) -> None:
            drafts[number]["revision"] = json.loads(body)["data"]["revision"]

        return self._run_load(self.service.base, make, handle_response)

    def _measure_floor_saves(
        self,
        base_url: str,
        captured_draft: dict[str, Any],
        drafts: list[dict[str, Any]],
        tags: list[Any],
    ) -> load.Result:
        def make(number: int, _: int) -> bytes:
            draft = drafts[number]
            replace = {
                captured_draft["id"]: draft["id"],
                captured_draft["artifact_id"]: draft["artifact_id"],
            }
            body = {"tags": tags, "replace": replace}
            return load.build_json_request("POST", "/write/save", {}, body)

        def handle_response(number: int, _: int, body: bytes) -> None:
            # The service parses a response and saves a revision, so the floor must do the same.
            json.loads(body)
            drafts[number]["revision"] += 1

        return self._run_load(base_url, make, handle_response)
