"""Summaries add up the feedback by model, field and time."""

from datetime import date
from typing import Any
from uuid import UUID

import pytest

from app.insight.feedback.models import PredictionFeedback
from app.kit.ids import uuid7
from tests.factories.counts import fold
from tests.factories.errors import check_error
from tests.factories.feedback import Assisted, count_outcomes
from tests.factories.teams import add_members, make_team
from tests.references import import_lazily

proportion_confint = import_lazily("statsmodels.stats.proportion", "proportion_confint")


_NOTHING = {
    "predictions": 0, "correct": 0, "corrected": 0, "missed": 0, "spurious": 0,
    "precision": None, "recall": None, "f1": None, "accuracy": None,
    "ci_low": None, "ci_high": None,
}  # fmt: skip


def insert(assisted: Assisted, artifact: UUID, *rows: dict[str, Any]) -> None:
    """Insert feedback; each row has only the columns that differ from the defaults."""
    with assisted.org.transaction() as s:
        for row in rows:
            confidence = row.get("confidence")
            values = {
                "field": "number",
                "model": "m-1",
                "outcome": "correct",
                "day": date(2026, 5, 15),
                "bin": None if confidence is None else min(99, confidence // 10_000),
                "value_key": str(uuid7()),
                **row,
            }
            s.add(PredictionFeedback(artifact_id=artifact, **values))


@pytest.fixture
def artifact(assisted: Assisted, schema: UUID) -> UUID:
    return assisted.workspace.artifact(schema)


def test_a_summary_without_feedback_is_empty(assisted: Assisted, schema: UUID) -> None:
    summary = assisted.summary(f"?schema_id={schema}")
    assert summary["total"] == _NOTHING
    assert (summary["models"], summary["trend"], summary["model_count"]) == ([], [], 0)
    fields = assisted.by_field()
    assert fields["fields"] == []
    assert fields["total"] == {
        **_NOTHING,
        "calibration": {"predictions": 0, "expected_calibration_error": None, "bins": []},
        "recommended_threshold": None,
    }
    assert assisted.read("/feedback/models") == []


def test_metrics_have_rates_and_an_interval(
    assisted: Assisted, schema: UUID, artifact: UUID
) -> None:
    outcomes = ["correct"] * 7 + ["corrected"] * 2 + ["missed"] + ["spurious"] * 2
    insert(assisted, artifact, *({"schema_id": schema, "outcome": outcome} for outcome in outcomes))
    (model,) = assisted.summary()["models"]
    low, high = proportion_confint(7, 12, method="wilson")
    assert model == {
        "model": "m-1",
        "predictions": 11,
        "correct": 7,
        "corrected": 2,
        "missed": 1,
        "spurious": 2,
        "precision": pytest.approx(7 / 11),
        "recall": pytest.approx(7 / 10),
        "f1": pytest.approx(14 / 21),
        "accuracy": pytest.approx(7 / 12),
        "ci_low": pytest.approx(low, abs=1e-9),
        "ci_high": pytest.approx(high, abs=1e-9),
    }


def test_filters_limit_the_summary(assisted: Assisted, schema: UUID, artifact: UUID) -> None:
    other = assisted.workspace.schema()
    labeler, reviewer = assisted.org.users["labeler"], assisted.org.users["reviewer"]
    insert(
        assisted,
        artifact,
        {"schema_id": schema, "labeler_id": labeler, "confidence": 500_000},
        {"schema_id": schema, "labeler_id": reviewer, "field": "total"},
        {"schema_id": other, "model": "m-2", "confidence": 500_000},
        {"schema_id": schema, "day": date(2026, 6, 1), "outcome": "missed"},
    )
    for query, expected in {
        "": (3, 0, 1, 0),
        f"?schema_id={schema}": (2, 0, 1, 0),
        "?model=m-2": (1, 0, 0, 0),
        "?model=nothing": (0, 0, 0, 0),
        "?field=total": (1, 0, 0, 0),
        f"?labeler={labeler}": (1, 0, 0, 0),
        f"?labeler={labeler}&from=2026-05-15&to=2026-05-16": (1, 0, 0, 0),
        f"?labeler={labeler}&from=2026-05-16": (0, 0, 0, 0),
        "?from=2026-05-15&to=2026-05-16": (3, 0, 0, 0),
        "?from=2026-05-16": (0, 0, 1, 0),
        "?to=2026-06-01": (3, 0, 0, 0),
        "?to=2026-05-15": (0, 0, 0, 0),
        f"?schema_id={schema}&model=m-1&field=number&from=2026-01-01": (1, 0, 1, 0),
        "?from=1976-01-01&to=2026-07-01": (3, 0, 1, 0),
        "?from=2090-01-01&to=9999-12-31": (0, 0, 0, 0),
        "?from=0001-01-01": (3, 0, 1, 0),
    }.items():
        for folded in (False, True):
            if folded:
                fold(assisted.org.app)
            path = f"/feedback/summary{query}"
            assert count_outcomes(assisted.read(path, by="reviewer")["total"]) == expected, query
            outcomes = assisted.by_field(query, by="reviewer")
            assert count_outcomes(outcomes["total"]) == expected, query
    outcomes = assisted.by_field(f"?labeler={labeler}", by="reviewer")
    assert outcomes["total"]["calibration"]["predictions"] == 1


def test_the_trend_is_by_month_or_by_day(assisted: Assisted, schema: UUID, artifact: UUID) -> None:
    days = [date(2026, 4, 30), date(2026, 5, 1), date(2026, 5, 15), date(2026, 6, 1)]
    insert(assisted, artifact, *({"schema_id": schema, "day": day} for day in days))

    def read(query: str) -> list[tuple[str, int]]:
        trend = assisted.summary(query)["trend"]
        return [(point["date"], point["correct"]) for point in trend]

    for _ in range(2):
        assert read("") == [("2026-04-01", 1), ("2026-05-01", 2), ("2026-06-01", 1)]
        assert read("?from=2026-05-02&to=2026-06-02") == [("2026-05-01", 1), ("2026-06-01", 1)]
        assert read("?interval=day&from=2026-04-30&to=2026-06-01") == [
            ("2026-04-30", 1),
            ("2026-05-01", 1),
            ("2026-05-15", 1),
        ]
        fold(assisted.org.app)


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ("?from=2026-05-02&to=2026-05-02", 400, "from"),
        ("?from=2026-05-03&to=2026-05-02", 400, "from"),
        ("?interval=day", 400, "interval"),
        ("?interval=day&from=2024-01-01&to=2026-01-01", 400, "interval"),
        ("?interval=week", 422, "interval"),
        ("?from=yesterday", 422, "from"),
        ("?schema_id=x", 422, "schema_id"),
        ("?schema_id=01900000-0000-7000-8000-000000000000", 404, None),
    ],
)
def test_invalid_periods_and_filters_are_refused(
    assisted: Assisted, query: str, status: int, field: str | None
) -> None:
    answer = assisted.org.api("viewer").get(f"/feedback/summary{query}")
    assert answer.status_code == status
    assert answer.json["error"].get("field") == field


@pytest.mark.parametrize("target", ["1.1", "-1", "nan", "x", "0.9_5"])
def test_a_target_is_a_number_from_zero_to_one(assisted: Assisted, target: str) -> None:
    answer = assisted.org.api("viewer").get(f"/feedback/summary/fields?target_precision={target}")
    check_error(answer, 422, "unprocessable", field="target_precision")


def test_labelers_see_only_their_own_metrics(assisted: Assisted) -> None:
    labeler, reviewer = assisted.org.users["labeler"], assisted.org.users["reviewer"]
    for path in ("/feedback/summary", "/feedback/summary/fields"):
        for by in ("labeler", "reviewer"):
            assisted.read(f"{path}?labeler={labeler}", by=by)
        other = assisted.org.api("labeler").get(f"{path}?labeler={reviewer}")
        check_error(other, 403, "permission_denied")


def test_reviewers_in_a_team_see_the_feedback_of_its_members(assisted: Assisted) -> None:
    org = assisted.org
    add_members(org, make_team(org, lead_id=str(org.users["reviewer"])), "labeler")
    for path in ("/feedback/summary", "/feedback/summary/fields"):

        def read(api: Any, name: str, path: str = path) -> int:
            return int(api.get(f"{path}?labeler={org.users[name]}").status_code)

        reviewer = org.api("reviewer")
        statuses = [read(reviewer, name) for name in ("labeler", "reviewer", "admin")]
        assert statuses == [200, 200, 403]
        # An API key does not represent the person who created it.
        assert read(org.key("labeler", maker="admin"), "admin") == 403
        assert read(org.key("reviewer", maker="admin"), "admin") == 200


def test_the_calibration_compares_confidence_and_accuracy(
    assisted: Assisted, schema: UUID, artifact: UUID
) -> None:
    sure = [{"confidence": 950_000}] * 90 + [{"confidence": 970_000, "outcome": "corrected"}] * 2
    unsure = [{"confidence": 300_000}] * 2 + [{"confidence": 300_000, "outcome": "spurious"}] * 6
    insert(assisted, artifact, *({"schema_id": schema, **row} for row in [*sure, *unsure]))
    (field,) = assisted.by_field("?target_precision=0.9")["fields"]
    assert (field["schema_id"], field["field"]) == (str(schema), "number")
    low, high = field["calibration"]["bins"]
    assert (low["low"], low["high"], low["predictions"], low["correct"]) == (0.3, 0.4, 8, 2)
    assert (high["low"], high["high"], high["predictions"], high["correct"]) == (0.9, 1.0, 92, 90)
    confidence = (90 * 0.95 + 2 * 0.97) / 92
    assert high["confidence"] == pytest.approx(confidence, abs=1e-9)
    interval = proportion_confint(2, 8, method="wilson")
    assert (low["ci_low"], low["ci_high"]) == pytest.approx(interval, abs=1e-9)
    error = 0.08 * abs(0.25 - 0.3) + 0.92 * abs(90 / 92 - confidence)
    assert field["calibration"]["expected_calibration_error"] == pytest.approx(error, abs=1e-9)
    low, high = proportion_confint(90, 92, method="wilson")
    assert field["recommended_threshold"] == {
        "value": 0.95,
        "precision": pytest.approx(90 / 92),
        "ci_low": pytest.approx(low, abs=1e-9),
        "ci_high": pytest.approx(high, abs=1e-9),
        "predictions": 92,
        "coverage": pytest.approx(0.92),
    }
    strict = assisted.by_field()
    assert strict["target_precision"] == 0.95
    assert strict["fields"][0]["recommended_threshold"] is None


def test_organizations_do_not_see_each_other(
    assisted: Assisted, schema: UUID, artifact: UUID, other_org: Any
) -> None:
    insert(assisted, artifact, {"schema_id": schema})
    other = Assisted(other_org)
    assert other.summary()["models"] == []
    assert other.read("/feedback/models") == []
    answer = other_org.api("viewer").get(f"/feedback/summary?schema_id={schema}")
    assert answer.status_code == 404
