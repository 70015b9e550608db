"""Callers below reviewer cannot find out which documents are gold."""

from typing import Any

import pytest

from app.insight.quality.queries.trends import MAX_SERIES
from tests.factories.errors import check_error
from tests.factories.quality import NO_RATE, QualityWorkspace

_CELLS = """
INSERT INTO quality_cells SELECT :org, subject, CAST(:schema AS uuid), name, field_type,
    CAST(day AS date), checked, 0, 0, 0, 0, 0, 0, 0, 0, 0, checked,
    CAST(checked AS bigint) * 500000000
FROM (VALUES ('schema', '', ''), ('labeler', :labeler, ''), ('field', 'number', 'text'))
    AS cell (subject, name, field_type)
CROSS JOIN (VALUES ('2026-03-02', 6), ('2026-03-04', 4), ('2026-03-10', 9)) AS days (day, checked)
"""
# Both weeks begin on a Monday.
_WEEKS = "from=2026-03-02&to=2026-03-16"


@pytest.fixture
def schema(quality: QualityWorkspace) -> Any:
    schema = quality.schema()
    labeler = str(quality.org.users["labeler"])
    quality.sql(_CELLS, org=quality.org.id, schema=str(schema), labeler=labeler)
    return schema


def _list_cases(quality: QualityWorkspace, query: str, by: str) -> list[list[int]]:
    trend = quality.read(f"trends?metric=gold_accuracy&{query}", by=by)
    return [[point["n"] for point in series["points"]] for series in trend["series"]]


@pytest.mark.parametrize("role", ["viewer", "labeler"])
@pytest.mark.usefixtures("schema")
def test_only_past_weeks_and_months_with_many_tag_sets_are_shown(
    quality: QualityWorkspace, role: str
) -> None:
    week = f"{_WEEKS}&bucket=week"
    assert _list_cases(quality, week, role) == [[10, 0]]
    assert _list_cases(quality, week, "reviewer") == [[10, 9]]
    # Weeks and months that the period cuts would reveal single days.
    cut = "from=2026-03-03&to=2026-03-11&bucket=week"
    assert _list_cases(quality, cut, role) == []
    month = "/quality/trends?metric=gold_accuracy&from=2026-03-01&to=2026-04-01&bucket=month"
    assert quality.org.api(role).get(month).status_code == 403
    assert quality.org.api("reviewer").get(month).status_code == 200
    own = [[10, 0]] if role == "labeler" else []
    assert _list_cases(quality, f"{week}&group_by=labeler", role) == own


@pytest.mark.parametrize("role", ["viewer", "labeler"])
def test_days_and_fields_are_refused(quality: QualityWorkspace, schema: Any, role: str) -> None:
    days = f"{_WEEKS}&bucket=day"
    fields = f"{_WEEKS}&bucket=week&schema_id={schema}"
    for query in (days, f"{fields}&field=number", f"{fields}&group_by=field"):
        path = f"/quality/trends?metric=gold_accuracy&{query}"
        check_error(quality.org.api(role).get(path), 403, "permission_denied")
        assert quality.org.api("reviewer").get(path).status_code == 200
        assert quality.org.key(role="viewer").get(path).status_code == 403


@pytest.mark.parametrize("role", ["viewer", "labeler"])
@pytest.mark.usefixtures("schema")
def test_latest_metrics(quality: QualityWorkspace, role: str) -> None:
    def read(period: str, by: str) -> Any:
        return quality.read(f"latest?{period}", by=by)["schemas"][0]["gold_accuracy"]

    # The differences of two periods reveal no week with few tag sets, and no single day.
    for period in (_WEEKS, "from=2026-03-02&to=2026-03-09", "from=2026-03-01&to=2026-04-01"):
        assert read(period, role)["n"] == 10, period
    for period in ("from=2026-03-03&to=2026-03-15", "from=2026-03-09&to=2026-03-16"):
        assert read(period, role) == NO_RATE, period
        assert read(period, "reviewer")["n"] > 0


@pytest.mark.parametrize("role", ["viewer", "labeler"])
def test_the_sum_of_all_schemas_reveals_no_schema_with_few_tag_sets(
    quality: QualityWorkspace, schema: Any, role: str
) -> None:
    rare, labeler = str(quality.schema()), str(quality.org.users["labeler"])
    quality.sql(_CELLS, org=quality.org.id, schema=rare, labeler=labeler)
    quality.sql("DELETE FROM quality_cells WHERE schema_id = :id AND day = '2026-03-02'", id=rare)
    for group in ("", "&group_by=labeler"):
        week = f"{_WEEKS}&bucket=week{group}"
        assert _list_cases(quality, week, "reviewer") == [[14, 18]]
        all_schemas = _list_cases(quality, week, role)
        assert all_schemas == _list_cases(quality, f"{week}&schema_id={schema}", role)
        assert all_schemas == ([[10, 0]] if role == "labeler" or not group else [])


def test_the_sum_of_all_schemas_has_no_limit_of_schemas(quality: QualityWorkspace) -> None:
    labeler = str(quality.org.users["labeler"])
    for _ in range(MAX_SERIES + 2):
        values = {"org": quality.org.id, "schema": str(quality.schema()), "labeler": labeler}
        quality.sql(_CELLS, **values)
    summed = _list_cases(quality, f"{_WEEKS}&bucket=week", "labeler")
    assert summed == [[10 * (MAX_SERIES + 2), 0]]
    latest = quality.read(f"latest?{_WEEKS}", by="labeler")["schemas"]
    assert sum(schema["gold_accuracy"]["n"] for schema in latest) == 10 * MAX_SERIES
