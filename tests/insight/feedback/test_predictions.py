"""Feedback from a prediction to an accepted tag set, through the API."""

from typing import Any

from tests.factories import run_jobs_of
from tests.factories.feedback import Assisted, count_outcomes
from tests.factories.labels import make_field
from tests.factories.orgs import get_data
from tests.factories.workspace import tag

_TEXT = "ACME Ltd\nInvoice number: A-17\nDate: 3 March 2026\nTotal: EUR 1,250.50\n"
_FIELDS = [
    make_field("number", "text"),
    make_field("total", "money"),
    make_field("issued", "date"),
]


def _predict(assisted: Assisted, schema: Any) -> str:
    """Enable predictions for a schema, create a document, predict its tags and return its id."""
    assisted.workspace.sql("UPDATE schemas SET ai_assist_enabled = true WHERE id = :id", id=schema)
    body = {"name": "invoice.txt", "text": _TEXT, "schema_id": str(schema)}
    artifact_id = str(get_data(assisted.org.api("labeler").post("/artifacts", body), 201)["id"])
    run_jobs_of(assisted.org)
    assert assisted.org.api("labeler").post(f"/artifacts/{artifact_id}/predict").status_code == 202
    run_jobs_of(assisted.org)
    return artifact_id


def test_a_prediction_that_was_corrected(assisted: Assisted) -> None:
    schema = assisted.workspace.schema(fields=_FIELDS)
    artifact_id = _predict(assisted, schema)
    labeler = assisted.org.api("labeler")
    path = f"/artifacts/{artifact_id}/tag-sets"
    draft = get_data(labeler.post(path, json={"from": "prediction"}), 201)
    assert draft["prediction"]["model_version"]
    predicted = {tag_["field"]: tag_ for tag_ in draft["tags"]}
    assert predicted["total"]["value"] == {"amount": "1250.50", "currency": "EUR"}
    kept_tags = [tag_ for tag_ in draft["tags"] if tag_["field"] != "issued"]
    assisted.save(draft, [*kept_tags, tag("issued", "2026-03-04")])
    assisted.accept(draft)
    assisted.record()
    summary = assisted.summary(f"?schema_id={schema}")
    versions = [model["model"] for model in summary["models"]]
    assert versions == [draft["prediction"]["model_version"]]
    by_field = assisted.by_field(f"?schema_id={schema}")["fields"]
    fields = {field["field"]: field for field in by_field}
    assert count_outcomes(fields["total"]) == (1, 0, 0, 0)
    assert fields["total"]["calibration"]["predictions"] == 1
    wrong = (0, 1, 0, 0) if "issued" in predicted else (0, 0, 1, 0)
    assert count_outcomes(fields["issued"]) == wrong


def test_a_copy_of_edited_tags_has_no_feedback(assisted: Assisted) -> None:
    schema = assisted.workspace.schema(fields=_FIELDS, labels_per_artifact=2)
    artifact_id = _predict(assisted, schema)
    path = f"/artifacts/{artifact_id}/tag-sets"
    draft = get_data(assisted.org.api("owner").post(path, json={"from": "prediction"}), 201)
    assisted.save(draft, [tag("number", "B-2")], by="owner")
    assisted.submit(draft, by="owner")
    copied = get_data(assisted.org.api("admin").post(path, json={"from": draft["id"]}), 201)
    assert copied["prediction"] == draft["prediction"]
    assisted.submit(copied, by="admin")
    for tag_set in (draft, copied):
        assisted.workspace.act(tag_set, "accept")
    assisted.record()
    assert {str(row[7]) for row in assisted.rows()} == {draft["id"]}
