"""The list of models compares each model with another model on the same documents."""

from typing import Any
from uuid import UUID

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.feedback import Assisted, count_outcomes
from tests.factories.pages import read_pages
from tests.factories.statements import record_statements


def _report_predictions(
    assisted: Assisted, artifacts: list[UUID], model: str, hits: int, day: str
) -> None:
    """Report one prediction for each document, of which the first `hits` are correct."""
    items = [
        {
            "artifact_id": str(artifact),
            "field": "number",
            "model": model,
            "predicted": "A",
            "correct": "A" if position < hits else "B",
        }
        for position, artifact in enumerate(artifacts)
    ]
    answer = assisted.org.api("labeler").post("/feedback/predictions/bulk", json={"items": items})
    assert answer.json["data"]["failed"] == 0, answer.json
    assisted.workspace.sql(
        "UPDATE prediction_feedback SET day = :day WHERE model = :model", day=day, model=model
    )


def _list_models(assisted: Assisted, query: str = "") -> list[dict[str, Any]]:
    return list(assisted.read(f"/feedback/models{query}"))


def test_without_feedback_there_are_no_models(assisted: Assisted, schema: UUID) -> None:
    assert _list_models(assisted) == _list_models(assisted, f"?schema_id={schema}") == []


def test_each_model_is_compared_with_the_previous_model(assisted: Assisted, schema: UUID) -> None:
    artifacts = [assisted.workspace.artifact(schema) for _ in range(30)]
    _report_predictions(assisted, artifacts, "m-1", 10, "2026-03-05")
    _report_predictions(assisted, artifacts, "m-2", 28, "2026-04-05")
    _report_predictions(assisted, artifacts[:20], "m-3", 18, "2026-05-05")
    models = _list_models(assisted)
    assert [model["model"] for model in models] == ["m-3", "m-2", "m-1"]
    assert [model["last_date"] for model in models] == ["2026-05-05", "2026-04-05", "2026-03-05"]
    assert count_outcomes(models[1]) == (28, 2, 0, 0)
    assert [point["date"] for point in models[1]["trend"]] == ["2026-04-01"]
    third, second, first = (model["comparison"] for model in models)
    assert first is None
    assert (second["model"], second["documents"]) == ("m-1", 30)
    assert second["difference"] == pytest.approx(18 / 30)
    assert second["ci_low"] > 0
    assert second["p_value"] < 0.01
    assert second["verdict"] == "m-2 is better than m-1 by 60.0 points of F1 on 30 documents."
    assert (third["model"], third["documents"]) == ("m-2", 20)
    assert third["other_f1"] == pytest.approx(1.0)
    assert third["verdict"] == "No significant difference on 20 documents."
    compared = _list_models(assisted, "?compare_with=m-1")
    assert [(model["comparison"] or {}).get("model") for model in compared] == ["m-1", "m-1", None]


def test_late_feedback_on_a_model_does_not_make_it_newer(assisted: Assisted, schema: UUID) -> None:
    first, second, late = (assisted.workspace.artifact(schema) for _ in range(3))
    _report_predictions(assisted, [first, second, late], "m-1", 1, "2026-03-05")
    _report_predictions(assisted, [first, second], "m-2", 2, "2026-04-05")
    assisted.workspace.sql(
        "UPDATE prediction_feedback SET day = '2026-05-05' WHERE artifact_id = :id", id=late
    )
    models = _list_models(assisted)
    compared = {model["model"]: (model["comparison"] or {}).get("model") for model in models}
    assert compared == {"m-1": None, "m-2": "m-1"}
    assert models[0]["model"] == "m-1", "the model with the latest feedback is first"


def test_models_without_common_documents_are_not_compared(assisted: Assisted, schema: UUID) -> None:
    for model in ("m-1", "m-2"):
        artifact = assisted.workspace.artifact(schema)
        _report_predictions(assisted, [artifact], model, 1, "2026-03-05")
    newest = _list_models(assisted)[0]
    assert newest["comparison"]["documents"] == 0
    assert newest["comparison"]["difference"] is None
    verdict = "Not compared: too few values have feedback on both models."
    assert newest["comparison"]["verdict"] == verdict


def test_a_page_continues_where_the_last_one_ended(assisted: Assisted, schema: UUID) -> None:
    artifact = assisted.workspace.artifact(schema)
    for number in range(5):
        _report_predictions(assisted, [artifact], f"m-{number}", 1, f"2026-03-0{number // 2 + 1}")
    api, path = assisted.org.api("viewer"), "/feedback/models?page_size=2"
    pages = read_pages(api, path)
    assert {page["meta"]["total"] for page in pages} == {5}
    model_names = [model["model"] for page in pages for model in page["data"]]
    assert sorted(model_names) == [f"m-{number}" for number in range(5)]
    assert model_names == [model["model"] for model in _list_models(assisted)]
    back = api.get(f"{path}&cursor={pages[-1]['meta']['prev_cursor']}")
    assert [model["model"] for model in back.json["data"]] == model_names[2:4]
    ascending_names = [model["model"] for model in _list_models(assisted, "?sort=last_date")]
    assert ascending_names == model_names[::-1]


def test_a_page_compares_at_most_ten_models(assisted: Assisted, schema: UUID) -> None:
    artifact = assisted.workspace.artifact(schema)
    for number in range(12):
        _report_predictions(assisted, [artifact], f"m-{number}", 1, "2026-03-05")
    api = assisted.org.api("viewer")
    for query, page_size in (("", 100), ("?page_size=1000", 1000)):
        answer = api.get(f"/feedback/models{query}").json
        assert (len(answer["data"]), answer["meta"]["page_size"]) == (12, page_size)
        assert (answer["meta"]["total"], answer["meta"]["next_cursor"]) == (12, None)
        is_compared = [model["comparison"] is not None for model in answer["data"]]
        assert is_compared == [True] * 10 + [False] * 2
        omitted = [model["comparison_omitted"] for model in answer["data"]]
        assert omitted == [False] * 10 + [True, False], "the first model has no other model"
    first = api.get("/feedback/models?page_size=10").json
    assert first["data"] == answer["data"][:10]
    rest = api.get(f"/feedback/models?page_size=10&cursor={first['meta']['next_cursor']}").json
    assert [model["comparison_omitted"] for model in rest["data"]] == [False, False]
    assert [model["comparison"] is None for model in rest["data"]] == [False, True]


def test_a_page_reads_the_figures_of_all_schemas_at_once(
    assisted: Assisted, schema: UUID, org: Org
) -> None:
    def count_statements() -> int:
        api = org.api("viewer")
        with record_statements(org.app) as statements:
            assert api.get("/feedback/models").status_code == 200
        return len(statements)

    _report_predictions(assisted, [assisted.workspace.artifact(schema)], "m-1", 1, "2026-03-05")
    few = count_statements()
    for _ in range(4):
        other = assisted.workspace.schema()
        artifact = assisted.workspace.artifact(other)
        _report_predictions(assisted, [artifact], "m-1", 1, "2026-03-05")
    assert count_statements() == few


def test_models_of_different_schemas_are_not_compared(assisted: Assisted, schema: UUID) -> None:
    other = assisted.workspace.schema()
    for each in (schema, other):
        _report_predictions(assisted, [assisted.workspace.artifact(each)], "m-1", 1, "2026-03-05")
    models = _list_models(assisted)
    assert {model["schema_id"] for model in models} == {str(schema), str(other)}
    assert [model["comparison"] for model in models] == [None, None]
    (model,) = _list_models(assisted, f"?schema_id={schema}")
    assert model["schema_id"] == str(schema)
    unknown = assisted.org.api("viewer").get(f"/feedback/models?schema_id={uuid7()}")
    assert unknown.status_code == 404
