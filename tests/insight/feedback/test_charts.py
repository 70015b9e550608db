"""The calibration curve is sent as an image to clients that accept one."""

from datetime import date
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from flask import Flask

from app.engines.charts import service as charts
from app.engines.charts.model import ChartNotRendered
from tests.factories.feedback import Assisted
from tests.insight.feedback.test_summaries import insert

_PATH = "/feedback/summary/fields"
_SVG = "{http://www.w3.org/2000/svg}svg"


def _fill(assisted: Assisted) -> None:
    schema = assisted.workspace.schema()
    rows = [
        {
            "schema_id": schema,
            "day": date(2026, 5, 15),
            "confidence": 10_000 * number,
            "outcome": "correct" if number * 7 % 100 < number else "corrected",
        }
        for number in range(100)
    ]
    insert(assisted, assisted.workspace.artifact(schema), *rows)


def _get(assisted: Assisted, accept: str) -> Any:
    api = assisted.org.api("viewer")
    return api.get(_PATH, headers={"Accept": accept})


def test_png_and_svg(assisted: Assisted) -> None:
    _fill(assisted)
    png = _get(assisted, "image/png")
    assert (png.status_code, png.mimetype) == (200, "image/png")
    assert png.data.startswith(b"\x89PNG\r\n\x1a\n")
    svg = _get(assisted, "image/svg+xml")
    assert (svg.status_code, svg.mimetype) == (200, "image/svg+xml")
    assert ET.fromstring(svg.data).tag == _SVG
    assert "Accept" in svg.headers["Vary"]
    assert _get(assisted, "application/json").json["data"]["field_count"] == 1


def test_an_empty_curve_is_rendered(assisted: Assisted) -> None:
    assert _get(assisted, "image/png").data.startswith(b"\x89PNG\r\n\x1a\n")


def test_errors_are_json_for_every_accept_header(assisted: Assisted) -> None:
    api = assisted.org.api("viewer")
    answer = api.get(f"{_PATH}?from=2026-01-01&to=2026-01-01", headers={"Accept": "image/png"})
    assert (answer.status_code, answer.mimetype) == (400, "application/json")


def test_a_chart_that_is_not_rendered(assisted: Assisted, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise ChartNotRendered

    monkeypatch.setattr(charts, "render", fail)
    answer = _get(assisted, "image/png")
    assert answer.status_code == 503
    assert answer.json["error"]["code"] == "service_unavailable"
    assert answer.headers["Retry-After"] == "5"


def test_the_media_types_are_described(app: Flask) -> None:
    description = app.test_client().get("/openapi.json").json
    described = description["paths"][f"/api/v1{_PATH}"]["get"]["responses"]["200"]["content"]
    assert sorted(described) == ["application/json", "image/png", "image/svg+xml"]
