"""The metrics page and its content."""

import os
import re
import timeit
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask

from app.kit import container, jobs, metrics
from app.kit.jobs.backlog import QUEUE_AGE, QUEUE_DEPTH
from app.kit.metrics import GaugeReading, page, register_collector
from app.kit.metrics.counters import METRICS, Counter
from app.kit.metrics.store import STORE, SUMS_KEY
from tests.factories import Org
from tests.factories.orgs import transaction_across_organizations
from tests.factories.processes import run_script
from tests.factories.scrape import build_series_key, get_metric, parse, scrape

ROOT = Path(__file__).resolve().parents[2]
BUCKET = "labeling_request_duration_seconds_bucket"
COUNT = "labeling_request_duration_seconds_count"
COUNTERS = [name for name, metric in METRICS.items() if isinstance(metric, Counter)]
SUM = "labeling_request_duration_seconds_sum"


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove all collectors except those of the test."""
    monkeypatch.setattr(page, "_collectors", {})


@pytest.fixture
def operation() -> str:
    """Return the name of an operation that no other test counts."""
    return f"operation_{uuid4().hex}"


def test_requests_are_counted_by_operation_method_and_status(app: Flask, operation: str) -> None:
    metrics.observe_request(operation, "GET", 200, 0.03)
    metrics.observe_request(operation, "GET", 200, 7.0)
    metrics.observe_request(operation, "GET", 404, 0.03)
    labels = {"operation": operation, "method": "GET", "status": "200"}
    series = scrape(app)
    assert series[build_series_key(COUNT, labels)] == 2
    assert series[build_series_key(COUNT, {**labels, "status": "404"})] == 1
    assert series[build_series_key(SUM, labels)] == pytest.approx(7.03)
    assert series[build_series_key(BUCKET, {**labels, "le": "0.025"})] == 0
    assert series[build_series_key(BUCKET, {**labels, "le": "0.05"})] == 1
    assert series[build_series_key(BUCKET, {**labels, "le": "5.0"})] == 1
    assert series[build_series_key(BUCKET, {**labels, "le": "+Inf"})] == 2


def test_a_bucket_holds_its_upper_bound(app: Flask, operation: str) -> None:
    metrics.observe_request(operation, "GET", 200, 0.05)
    labels = {"operation": operation, "method": "GET", "status": "200"}
    assert get_metric(app, BUCKET, le="0.05", **labels) == 1
    assert get_metric(app, BUCKET, le="0.025", **labels) == 0


def test_methods_made_up_by_clients_are_one_series(app: Flask, operation: str) -> None:
    for number in range(100):
        metrics.observe_request(operation, f"X{number}", 405, 0.001)
    assert get_metric(app, COUNT, operation=operation, method="other", status="405") == 100
    assert [key for key in metrics._request_series if key[0] == operation] == []


def test_clients_cannot_add_series(org: Org) -> None:
    def speak(mark: str) -> None:
        client = org.app.test_client()
        api = org.api("viewer")
        for path in (f"/api/v1/{mark}", f"/{mark}", f"/api/v1/artifacts/{mark}", f"/docs/{mark}"):
            client.open(path, method=f"X{mark}")
            client.open(path, headers={"X-Request-ID": mark, "X-Org-Slug": mark})
        api.get(f"/artifacts?sort={mark}")
        api.get("/artifacts", headers={"X-Org-Slug": mark})

    speak(uuid4().hex)
    scrape(org.app)  # scraping also counts a request
    before = set(scrape(org.app))
    for _ in range(5):
        speak(uuid4().hex)
    assert set(scrape(org.app)) == before


def test_recording_a_request_costs_under_20_microseconds() -> None:
    metrics.observe_request("read_thing", "GET", 200, 0.01)
    runs = timeit.repeat(
        lambda: metrics.observe_request("read_thing", "GET", 200, 0.01), number=1000, repeat=5
    )
    assert min(runs) / 1000 < 20e-6


def test_a_counter_never_goes_back_and_knows_its_labels() -> None:
    with pytest.raises(ValueError, match="cannot decrease"):
        metrics.DELIVERIES.labels("delivered").inc(-1)
    for values in ((), ("a", "b")):
        with pytest.raises(ValueError, match="requires the labels"):
            metrics.DELIVERIES.labels(*values)
    with pytest.raises(ValueError, match="already"):
        metrics.Counter("labeling_jobs", "A second one.")


def test_counters_are_there_before_anything_is_counted(app: Flask) -> None:
    series = scrape(app)
    for operation in ("upload", "text", "export"):
        assert (
            build_series_key("labeling_storage_refusals_total", {"operation": operation}) in series
        )
    for function in ("artifacts.parse", "letters.send"):
        assert build_series_key("labeling_jobs_given_up_total", {"function": function}) in series
    assert build_series_key("labeling_log_lines_dropped_total", {}) in series


def _read(queue: str, depth: int, age: float) -> list[GaugeReading]:
    return [QUEUE_DEPTH.build_reading(depth, queue), QUEUE_AGE.build_reading(age, queue)]


@pytest.mark.usefixtures("alone")
def test_queues_are_read_when_asked(app: Flask) -> None:
    readings = [*_read("webhooks", 3, 12.5), *_read("exports", 0, 0.0)]
    register_collector("queues", lambda: readings)
    assert get_metric(app, "labeling_queue_depth", queue="webhooks") == 3
    assert get_metric(app, "labeling_queue_oldest_due_seconds", queue="webhooks") == 12.5
    assert build_series_key("labeling_queue_depth", {"queue": "exports"}) in scrape(app)
    readings[:] = _read("webhooks", 0, 0.0)
    assert get_metric(app, "labeling_queue_depth", queue="webhooks") == 0
    assert build_series_key("labeling_queue_depth", {"queue": "exports"}) not in scrape(app)


@pytest.mark.usefixtures("alone")
def test_a_collector_that_fails_is_counted_and_the_rest_is_shown(app: Flask) -> None:
    def broken() -> Iterable[GaugeReading]:
        yield from _read("half", 1, 1.0)
        raise ConnectionError("the database is away")

    register_collector("broken", broken)
    register_collector("queues", lambda: _read("webhooks", 3, 1.0))
    failures = "labeling_collector_failures_total"
    before = get_metric(app, failures)
    series = scrape(app)
    assert series[build_series_key(failures, {})] == before + 1
    assert series[build_series_key("labeling_queue_depth", {"queue": "webhooks"})] == 3
    assert build_series_key("labeling_queue_depth", {"queue": "half"}) not in series


@pytest.mark.usefixtures("alone")
def test_a_second_collector_of_a_name_is_refused() -> None:
    register_collector("queues", list)
    with pytest.raises(ValueError, match="the collector queues is already"):
        register_collector("queues", tuple)


@pytest.mark.usefixtures("alone")
def test_a_series_that_two_collectors_read_is_shown_once(app: Flask) -> None:
    for name, depth in (("one", 1), ("two", 2)):
        readings = [*_read("webhooks", depth, 0.0), *_read(name, depth, 0.0)]
        register_collector(name, lambda readings=readings: readings)  # type: ignore[misc]
    series = scrape(app)
    assert series[build_series_key("labeling_queue_depth", {"queue": "webhooks"})] == 1
    assert series[build_series_key("labeling_queue_depth", {"queue": "two"})] == 2


def test_each_series_appears_once_under_backlog(org: Org, work: Callable[[], None]) -> None:
    work()
    names = [("kit.purge", "maintenance"), ("erasing.start", "default")]
    with transaction_across_organizations(org.app):
        for name, _ in names:
            for _ in range(3):
                jobs.enqueue(name, {}, organization_id=None)
    metrics.observe_request("some", "GET", 200, 0.01)
    series = scrape(org.app)
    for _, queue in names:
        assert series[build_series_key("labeling_queue_depth", {"queue": queue})] >= 3
    work()


def test_the_page_says_how_much_space_is_free(app: Flask) -> None:
    status = os.statvfs(container.settings().data_dir.parent)
    for folder in ("data", "files"):
        free = get_metric(app, "labeling_storage_free_bytes", folder=folder)
        assert 0 < free <= status.f_blocks * status.f_frsize
    assert get_metric(app, "labeling_storage_reserve_bytes") == 1024**3


def test_what_others_wrote_into_the_store_does_not_break_the_page(app: Flask) -> None:
    odd: dict[Any, Any] = {
        "no json": 1,
        "[1, 2]": 1,
        '["labeling_jobs", 7, ""]': 1,
        '["labeling_jobs", [1, 2], ""]': 1,
        '["labeling_jobs", ["a", "b"], []]': 1,
        '[["labeling_jobs"], ["a", "b"], ""]': 1,
        '["labeling_jobs", ["a", "b"], ""]': "no number",
        '["labeling_jobs", ["of another release"], ""]': 1,
        '["labeling_unknown", [], ""]': 1,
    }
    store = container.current().redis()
    store.hset(SUMS_KEY, mapping=odd)
    try:
        assert get_metric(app, "labeling_metrics_store_up") == 1
    finally:
        store.hdel(SUMS_KEY, *odd)


def test_nothing_is_written_to_the_disk(tmp_path: Path) -> None:
    program = (
        "from app.kit import metrics; metrics.DELIVERIES.labels('delivered').inc();"
        "metrics.observe_request('a', 'GET', 200, 1.0); print(metrics.render()[0].decode())"
    )
    folders = {name: str(tmp_path / name) for name in ("DATA_DIR", "PROMETHEUS_MULTIPROC_DIR")}
    for folder in folders.values():
        Path(folder).mkdir()
    text = run_script(program, env={**os.environ, **folders})
    key = build_series_key("labeling_deliveries_total", {"outcome": "delivered"})
    assert parse(text)[key] == 1
    assert [list(Path(folder).iterdir()) for folder in folders.values()] == [[], []]


def test_the_operators_page_names_every_metric(app: Flask) -> None:
    text = (ROOT / "docs" / "operators" / "running.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `(labeling_\w+)` \|", text, re.MULTILINE))
    metrics.observe_request("some", "GET", 200, 0.01)
    shown = {re.sub(r"_(count|sum|bucket)$", "", name) for name, _ in scrape(app)}
    assert documented == shown | {f"{name}_total" for name in COUNTERS}


def _ask(app: Flask, **headers: str) -> Any:
    return app.test_client().get("/metrics", headers=headers)


def test_the_page_needs_the_token_of_the_operator(app: Flask, environ: dict[str, str]) -> None:
    token = environ["METRICS_TOKEN"]
    for header in (f"Bearer {token}", f"bearer {token}"):
        assert _ask(app, Authorization=header).status_code == 200
    wrong = ["", "Bearer", "Bearer ", f"Bearer {token}x", f"Basic {token}", token, "Bearer é"]
    for header in wrong:
        answer = _ask(app, Authorization=header)
        assert answer.status_code == 401, header
        assert answer.json["error"]["code"] == "invalid_credentials"
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert "labeling_" not in answer.text
    assert _ask(app).status_code == 401


def test_members_and_the_control_plane_do_not_open_the_page(
    org: Org, environ: dict[str, str]
) -> None:
    for token in (org.tokens["owner"], environ["CONTROL_PLANE_TOKEN"]):
        assert _ask(org.app, Authorization=f"Bearer {token}").status_code == 401


def test_without_a_token_the_page_is_closed_and_says_why(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = container.Container(replace(container.settings(), metrics_token=""))
    monkeypatch.setattr(container, "_current", closed)
    for headers in ({}, {"Authorization": "Bearer "}, {"Authorization": "Bearer x"}):
        answer = _ask(app, **headers)
        assert answer.status_code == 403
        assert answer.json["error"]["code"] == "permission_denied"
        assert "METRICS_TOKEN" in answer.json["error"]["message"]


def test_while_redis_is_away_the_page_has_gauges_and_no_counter_that_looks_reset(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics.DELIVERIES.labels("delivered").inc()
    before = get_metric(app, "labeling_deliveries_total", outcome="delivered")
    dead = container.current().redis()
    dead.connection_pool.connection_kwargs["port"] = 1
    with monkeypatch.context() as patch:
        patch.setattr(STORE, "_client", dead)
        metrics.DELIVERIES.labels("delivered").inc()
        body, _ = metrics.render()
        series = parse(body.decode())
    assert series[build_series_key("labeling_metrics_store_up", {})] == 0
    assert build_series_key("labeling_storage_reserve_bytes", {}) in series
    assert not any(name.endswith(("_total", "_count", "_bucket")) for name, _ in series)
    assert get_metric(app, "labeling_deliveries_total", outcome="delivered") == before + 1
