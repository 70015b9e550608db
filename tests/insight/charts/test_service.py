"""Tests of charts that are rendered during requests."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from app.engines.charts import service as charts
from app.engines.charts.model import CalibrationChart, ChartNotRendered
from app.insight.charts import service
from app.kit.errors import ApiError

CHART = CalibrationChart(title="Calibration", bins=[], error=None, threshold=None)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """Return a pool with one thread, which renders another chart."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_a_process_renders_one_chart_at_a_time(
    pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, finish = Event(), Event()

    def wait(*_: object) -> bytes:
        began.set()
        assert finish.wait(60)
        return b"picture"

    monkeypatch.setattr(charts, "render", wait)
    first = pool.submit(service.render_chart, CHART, "png")
    assert began.wait(60)
    with pytest.raises(ApiError, match="Another chart") as refusal:
        service.render_chart(CHART, "png")
    assert refusal.value.code == "service_unavailable"
    finish.set()
    assert first.result(60) == b"picture"
    assert service.render_chart(CHART, "png") == b"picture"


def test_a_failure_frees_the_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise ChartNotRendered

    monkeypatch.setattr(charts, "render", fail)
    for _ in range(2):
        with pytest.raises(ApiError, match="could not be rendered"):
            service.render_chart(CHART, "svg")
