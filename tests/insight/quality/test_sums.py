"""Sums by day, week and month equal the cells, and responses are the same with and without sums."""

import random
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from app.insight.quality.models import COUNTERS, SumUnit
from app.insight.quality.queries import cells, sums
from app.insight.quality.queries.selections import split_period
from app.kit import db
from tests.factories.orgs import get_data, transaction_across_organizations
from tests.factories.quality import QualityWorkspace
from tests.factories.work import run_jobs_of

_DAYS = 100
_ADD = f"""
INSERT INTO quality_cells AS cell (organization_id, subject, schema_id, name, field_type, day,
    {", ".join(COUNTERS)})
VALUES (:org, :subject, CAST(:schema AS uuid), :name, '', CAST(:day AS date),
    {", ".join(f":{name}" for name in COUNTERS)})
ON CONFLICT (organization_id, subject, schema_id, name, field_type, day) DO UPDATE
SET {", ".join(f"{name} = cell.{name} + excluded.{name}" for name in COUNTERS)}
"""
_DAY = st.dates(date(1, 2, 1), date(9990, 1, 1))


def _add_cells(quality: QualityWorkspace, chance: random.Random, number: int) -> list[Any]:
    """Add cells of the last `_DAYS` days at random, and return their schemas."""
    schemas = [quality.schema(), quality.schema()]
    users = [str(quality.org.users[name]) for name in ("labeler", "second", "third")]
    today = db.utc_now().date()
    for _ in range(number):
        subject = chance.choice(["schema", "labeler", "reviewer", "field"])
        counters = {name: chance.randint(0, 5) for name in COUNTERS}
        counters["compared"] += (compared := chance.randint(0, 3))
        counters["agreement"] = compared * 1_000_000_000 // 3
        names = {"schema": [""], "field": ["number", "note"]}
        quality.sql(
            _ADD,
            org=quality.org.id,
            subject=subject,
            schema=str(chance.choice(schemas)),
            name=chance.choice(names.get(subject, users)),
            day=today - timedelta(days=chance.randrange(_DAYS)),
            **counters,
        )
    return schemas


def _make_requests(
    quality: QualityWorkspace, chance: random.Random, schemas: list[Any]
) -> Iterator[tuple[str, str]]:
    """Yield random requests, each with the role that sends it."""
    today = db.utc_now().date()
    metrics = ("throughput", "agreement", "acceptance_rate", "seconds_spent")
    labeler = quality.org.users["labeler"]
    for _ in range(8):
        first = today - timedelta(days=chance.randrange(20, _DAYS))
        end = first + timedelta(days=chance.randint(1, _DAYS))
        period = f"from={first}&to={end}"
        for path in ("latest", "labelers", "reviewers"):
            yield "admin", f"{path}?{period}"
        yield "admin", f"latest?{period}&schema_id={schemas[0]}"
        yield "admin", f"labelers?{period}&user_id={labeler}&page_size=1"
        yield "reviewer", f"labelers?{period}"
        for unit in SumUnit:
            trend = f"trends?{period}&bucket={unit}&metric={chance.choice(metrics)}"
            for narrowed in ("", f"&schema_id={schemas[1]}", f"&labeler_id={labeler}"):
                yield "admin", f"{trend}{narrowed}"
            for group in ("schema", "labeler", "team"):
                yield "admin", f"{trend}&group_by={group}"
            yield "labeler", f"{trend}&group_by=labeler"
        # Callers below reviewer see only whole weeks that have ended, so often none.
        yield "labeler", f"trends?{period}&bucket=week&metric=gold_accuracy"
        yield "labeler", f"latest?{period}"


@pytest.mark.parametrize("seed", [1, 2])
def test_responses_equal_those_from_cells(
    quality: QualityWorkspace, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)
    schemas = _add_cells(quality, chance, 150)
    non_empty_count = 0
    for by, path in _make_requests(quality, chance, schemas):
        answers = []
        for is_complete in (True, False):
            monkeypatch.setattr(sums, "are_complete", lambda is_complete=is_complete: is_complete)
            answer = quality.org.api(by).get(f"/quality/{path}")
            assert answer.status_code == 200, (path, answer.json)
            answers.append(answer.data)
        assert answers[0] == answers[1], path
        non_empty_count += b'"n":0' not in answers[0]
    assert non_empty_count
    with quality.org.transaction():
        assert sums.repair() == 0
    quality.sql("DELETE FROM quality_cells")
    assert quality.list_sums() == []


@given(first=_DAY, days=st.integers(1, 2_000), unit=st.sampled_from(SumUnit))
def test_ranges_cover_each_day_once(first: date, days: int, unit: SumUnit) -> None:
    end = first + timedelta(days=days)
    ranges = split_period(first, end, unit)
    assert ranges[0][1] == first
    assert ranges[-1][2] == end
    assert all(left[2] == right[1] for left, right in pairwise(ranges))
    for kind, start, stop in ranges:
        assert start < stop
        if kind == SumUnit.WEEK:
            assert start.weekday() == stop.weekday() == 0
        if kind == SumUnit.MONTH:
            assert start.day == stop.day == 1
        elif unit is SumUnit.MONTH:
            # Trends by month assign each range to one month.
            assert (stop - timedelta(days=1)).month == start.month
    at_edges = sum((stop - start).days for kind, start, stop in ranges if kind == SumUnit.DAY)
    # There are at most six days before and after the weeks, and weeks before and after the months.
    assert at_edges <= {SumUnit.DAY: days, SumUnit.WEEK: 12, SumUnit.MONTH: 24}[unit]


def _remove_sums(quality: QualityWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the state after an upgrade from a release without sums."""
    quality.sql("DELETE FROM quality_sums")
    quality.sql("UPDATE quality_states SET summed_at = NULL")
    monkeypatch.setattr(sums, "_complete_organization_ids", set())


def test_an_organization_that_was_counted_without_sums(
    quality: QualityWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = quality.schema()
    quality.act(quality.label(quality.artifact(schema), "A"), "accept")
    quality.rebuild_metrics()
    _remove_sums(quality, monkeypatch)
    quality.label(quality.artifact(schema), "B", by="second")
    # While the sums are incomplete, the cells are read.
    (latest,) = quality.read("latest")["schemas"]
    assert latest["throughput"]["submitted"] == 2
    partial = quality.list_sums()
    with transaction_across_organizations(quality.org.app):
        assert quality.org.id in sums.list_incomplete_organization_ids()
        assert quality.org.id not in cells.list_outdated_organization_ids()
    quality.prepare()
    run_jobs_of(quality.org, "quality_counts")
    assert len(quality.list_sums()) > len(partial)
    monkeypatch.setattr("app.insight.quality.queries.selections._select_cells", None)
    (after,) = quality.read("latest")["schemas"]
    assert after == latest
    with transaction_across_organizations(quality.org.app):
        assert quality.org.id not in sums.list_incomplete_organization_ids()


def test_wrong_sums_are_corrected(quality: QualityWorkspace) -> None:
    quality.label(quality.artifact(), "A")
    quality.update_metrics()
    counted = quality.list_sums()
    quality.sql("UPDATE quality_sums SET accepted = accepted + 7 WHERE unit = 'week'")
    quality.sql("DELETE FROM quality_sums WHERE unit = 'day'")
    quality.sql("UPDATE quality_sums SET name = 'ghost' WHERE subject = 'labeler'")
    quality.rebuild_metrics()
    assert quality.list_sums() == counted != []


def test_an_organization_is_deleted_with_its_sums(quality: QualityWorkspace) -> None:
    quality.label(quality.artifact(), "A")
    quality.update_metrics()
    assert quality.list_sums()
    with transaction_across_organizations(quality.org.app) as session:
        session.execute(text("DELETE FROM organizations WHERE id = :id"), {"id": quality.org.id})
    assert quality.list_sums() == quality.list_cells() == []


def test_the_last_days_of_the_calendar(quality: QualityWorkspace) -> None:
    api = quality.org.api("admin")
    for path in ("latest?", "labelers?", "trends?bucket=week&", "trends?bucket=month&"):
        get_data(api.get(f"/quality/{path}to=9999-12-31"))
