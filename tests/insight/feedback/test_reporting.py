"""Clients report how predictions compare with the correct values."""

from typing import Any

import pytest

from app.kit.ids import uuid7
from tests.factories import Org, make_org
from tests.factories.errors import check_error
from tests.factories.feedback import Assisted, count_outcomes, make_predicted_tag
from tests.factories.labels import make_field
from tests.factories.orgs import get_data
from tests.factories.statements import record_statements
from tests.factories.workspace import tag

_PATH = "/feedback/predictions"
_PROPERTIES = {
    "id", "artifact_id", "schema_id", "field", "row", "model", "predicted", "correct", "outcome",
    "confidence", "tag_set_id", "created_at", "updated_at",
}  # fmt: skip


def _report_prediction(
    assisted: Assisted, artifact_id: Any, *, by: str = "labeler", **properties: Any
) -> Any:
    body = {"artifact_id": str(artifact_id), "field": "number", "model": "other/1", **properties}
    return assisted.org.api(by).post(_PATH, json=body)


@pytest.mark.parametrize(
    ("properties", "outcome"),
    [
        ({"predicted": "A-1", "correct": "A-1", "confidence": 0.9}, "correct"),
        ({"predicted": "A-1", "correct": "A-2", "confidence": 0.9}, "corrected"),
        ({"correct": "A-2"}, "missed"),
        ({"predicted": "A-1", "confidence": 0}, "spurious"),
        ({"field": "total", "predicted": "1.5 EUR", "correct": "1.50 EUR"}, "correct"),
        ({"field": "total", "predicted": "no amount", "correct": "1.50 EUR"}, "corrected"),
        ({"field": "total", "predicted": "no amount"}, "spurious"),
        ({"field": "lines.item", "row": 2, "predicted": "Rope", "correct": "Rope"}, "correct"),
        (
            {
                "field": "clause",
                "predicted": [{"page": 1, "start": 5, "end": 9}],
                "correct": [{"page": 1, "start": 5, "end": 10}],
            },
            "corrected",
        ),
    ],
)
def test_the_outcome_follows_from_the_values(
    assisted: Assisted, properties: dict[str, Any], outcome: str
) -> None:
    artifact = assisted.workspace.artifact()
    data = get_data(_report_prediction(assisted, artifact, **properties), 201)
    assert data.keys() == _PROPERTIES
    assert data["outcome"] == outcome
    assert data["updated_at"] == data["created_at"]
    assert data["confidence"] == properties.get("confidence")
    assert data["predicted"] == properties.get("predicted")
    metrics = assisted.summary("?model=other/1")["total"]
    assert metrics[outcome] == 1
    assert sum(count_outcomes(metrics)) == 1


@pytest.mark.parametrize(
    ("properties", "field"),
    [
        ({"correct": "A-1", "field": "unknown"}, "field"),
        ({"correct": "A-1", "field": "lines"}, "field"),
        ({"correct": "A-1", "field": "lines.item"}, "row"),
        ({"correct": "A-1", "row": 0}, "row"),
        ({}, "predicted"),
        ({"predicted": None, "correct": None}, "predicted"),
        ({"field": "total", "correct": "no amount"}, "correct"),
        ({"field": "pages", "correct": "three"}, "correct"),
        ({"correct": "x" * 10_001}, "correct"),
        ({"predicted": ["x" * 10_001]}, "predicted"),
    ],
)
def test_invalid_reports_are_refused(
    assisted: Assisted, properties: dict[str, Any], field: str
) -> None:
    answer = _report_prediction(assisted, assisted.workspace.artifact(), **properties)
    check_error(answer, 400, "validation_error", field=field)
    assert assisted.rows() == []


@pytest.mark.parametrize("confidence", [-0.1, 1.01, 1e300, "0.5", True])
def test_a_confidence_is_a_number_from_zero_to_one(assisted: Assisted, confidence: Any) -> None:
    answer = _report_prediction(
        assisted, assisted.workspace.artifact(), predicted="A", confidence=confidence
    )
    check_error(answer, 422, "unprocessable", field="confidence")


def test_records_of_other_organizations_are_not_found(assisted: Assisted) -> None:
    other = Assisted(make_org(assisted.org.app))
    foreign = other.workspace.submitted()
    own = assisted.workspace.artifact()
    elsewhere = assisted.workspace.submitted()
    answers = [
        _report_prediction(assisted, artifact, correct="A").json["error"]
        for artifact in (foreign["artifact_id"], uuid7())
    ]
    assert answers[0] == answers[1]
    assert answers[0]["field"] == "artifact_id"
    answers = [
        _report_prediction(assisted, own, correct="A", tag_set_id=str(tag_set_id)).json["error"]
        for tag_set_id in (foreign["id"], uuid7(), elsewhere["id"])
    ]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0]["field"] == "tag_set_id"


def test_a_hidden_tag_set_cannot_be_referenced(assisted: Assisted) -> None:
    draft = assisted.workspace.draft(by="reviewer")
    artifact, properties = draft["artifact_id"], {"correct": "A", "tag_set_id": draft["id"]}
    answer = _report_prediction(assisted, artifact, **properties)
    check_error(answer, 400, "validation_error", field="tag_set_id")
    get_data(_report_prediction(assisted, artifact, by="reviewer", **properties), 201)


def test_a_prediction_has_feedback_once(assisted: Assisted) -> None:
    artifact = assisted.workspace.artifact()
    first = _report_prediction(assisted, artifact, predicted="A", correct="A").json["data"]
    again = _report_prediction(assisted, artifact, predicted="B", correct="A")
    check_error(again, 409, "conflict", details={"feedback_id": first["id"]})
    assert _report_prediction(assisted, artifact, correct="A", model="other/2").status_code == 201
    # The values of a multiple field are reported one by one.
    for value in ("x", "y"):
        get_data(_report_prediction(assisted, artifact, field="note", predicted=value), 201)
    assert _report_prediction(assisted, artifact, field="note", predicted="x").status_code == 409
    assert _report_prediction(assisted, artifact, field="note", correct="x").status_code == 201


def test_a_repeated_key_gets_the_first_response(assisted: Assisted) -> None:
    artifact = assisted.workspace.artifact()
    body = {"artifact_id": str(artifact), "field": "number", "model": "m", "correct": "A"}
    api, headers = assisted.org.api("labeler"), {"Idempotency-Key": "once"}
    first = api.post(_PATH, json=body, headers=headers)
    again = api.post(_PATH, json=body, headers=headers)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json == again.json
    assert len(assisted.rows()) == 1


def test_automatically_recorded_predictions_cannot_be_reported(assisted: Assisted) -> None:
    draft = assisted.draft([make_predicted_tag("number", "A-1")])
    prediction = {"artifact_id": draft["artifact_id"], "model": "m-1", "correct": "A-1"}
    get_data(_report_prediction(assisted, **prediction), 201)
    assisted.accept(draft)
    assisted.record()
    assert count_outcomes(assisted.summary("?model=m-1")["total"]) == (1, 0, 0, 0)
    again = _report_prediction(assisted, **prediction)
    check_error(again, 409, "conflict", details={"recorded": "automatically"})


def test_the_fields_are_those_of_the_tag_sets_version(assisted: Assisted) -> None:
    sent = assisted.workspace.submitted()
    artifact = sent["artifact_id"]
    schema = assisted.workspace.schema(fields=[make_field("other", "text")])
    sql = "UPDATE artifacts SET schema_id = :schema WHERE id = :id"
    assisted.workspace.sql(sql, schema=schema, id=artifact)
    assert _report_prediction(assisted, artifact, field="number", correct="A").status_code == 400
    named = _report_prediction(assisted, artifact, correct="A", tag_set_id=sent["id"])
    assert get_data(named, 201)["schema_id"] == sent["schema_id"]


def test_a_bulk_request_has_one_outcome_per_report(assisted: Assisted) -> None:
    artifact = str(assisted.workspace.artifact())
    good = {"artifact_id": artifact, "field": "number", "model": "m", "correct": "A"}
    items = [good, {**good, "field": "unknown"}, good, {**good, "model": "n", "predicted": "B"}]
    api = assisted.org.api("labeler")
    data = get_data(api.post(f"{_PATH}/bulk", json={"items": items}), 201)
    assert (data["succeeded"], data["failed"]) == (2, 2)
    shown = [
        (outcome["index"], outcome["ok"], outcome["code"], outcome["field"])
        for outcome in data["outcomes"]
    ]
    assert shown == [
        (0, True, None, None),
        (1, False, "validation_error", "field"),
        (2, False, "conflict", None),
        (3, True, None, None),
    ]
    outcomes = [outcome["outcome"] for outcome in data["outcomes"]]
    assert outcomes == ["missed", None, None, "corrected"]
    assert len(assisted.rows()) == 2


def test_a_thousand_reports_are_recorded_with_few_statements(org: Org) -> None:
    assisted = Assisted(org)
    schema = assisted.workspace.schema()
    artifacts = [str(assisted.workspace.artifact(schema)) for _ in range(20)]
    items = [
        {
            "artifact_id": artifacts[number % 20],
            "field": "number",
            "model": f"m-{number // 20}",
            "predicted": "A",
            "correct": "A" if number % 3 else "B",
            "confidence": number / 1000,
        }
        for number in range(1000)
    ]
    with record_statements(org.app) as statements:
        answer = org.api("labeler").post(f"{_PATH}/bulk", json={"items": items})
    assert answer.json["data"]["succeeded"] == 1000, answer.json
    assert len(statements) < 30
    totals = assisted.by_field()["total"]
    assert count_outcomes(totals) == (666, 334, 0, 0)
    assert totals["calibration"]["predictions"] == 1000
    assert assisted.summary()["model_count"] == 50


def test_more_than_a_thousand_reports_are_refused(assisted: Assisted) -> None:
    item = {"artifact_id": str(uuid7()), "field": "number", "model": "m", "correct": "A"}
    answer = assisted.org.api("labeler").post(f"{_PATH}/bulk", json={"items": [item] * 1001})
    check_error(answer, 422, "unprocessable", field="items")


def test_viewers_do_not_report(assisted: Assisted) -> None:
    answer = _report_prediction(assisted, uuid7(), by="viewer", correct="A")
    assert answer.status_code == 403


def test_an_artifact_without_a_schema_has_no_fields(assisted: Assisted) -> None:
    artifact = assisted.workspace.artifact()
    assisted.workspace.sql("UPDATE artifacts SET schema_id = NULL WHERE id = :id", id=artifact)
    answer = _report_prediction(assisted, artifact, correct="A")
    check_error(answer, 400, "validation_error", field="artifact_id")


def test_the_labeler_is_that_of_the_tag_set(assisted: Assisted) -> None:
    draft = assisted.workspace.draft()
    assisted.save(draft, [tag("number", "A")])
    properties = {"correct": "A", "predicted": "A", "tag_set_id": draft["id"]}
    get_data(_report_prediction(assisted, draft["artifact_id"], **properties), 201)
    summary = assisted.summary(f"?labeler={assisted.org.users['labeler']}", by="labeler")
    assert count_outcomes(summary["total"]) == (1, 0, 0, 0)
