"""The latest metrics by schema and field, counted while people work."""

from typing import Any

from tests.factories.feedback import Assisted, make_predicted_tag
from tests.factories.labels import make_field
from tests.factories.orgs import get_data
from tests.factories.quality import NO_RATE, QualityWorkspace
from tests.factories.workspace import FIELDS, tag


def test_an_organization_without_work(quality: QualityWorkspace) -> None:
    latest = quality.read("latest")
    assert latest["schemas"] == []
    assert latest["truncated"] is False
    assert latest["time_zone"] == "UTC"
    assert quality.read("fields")["fields"] == []


def test_decisions_submissions_and_times(quality: QualityWorkspace) -> None:
    schema = quality.schema()
    good, fixed, bad = (quality.label(quality.artifact(schema), "A") for _ in range(3))
    quality.act(good, "accept")
    quality.act(fixed, "accept", tags=[tag("number", "B")])
    quality.reject(bad, to="pool")
    (schema_quality,) = quality.read("latest")["schemas"]
    assert schema_quality["schema"] == {"id": str(schema), "name": "Invoices"}
    assert schema_quality["throughput"] == {
        "submitted": 3,
        "accepted": 1,
        "corrected": 1,
        "rejected": 1,
        "auto_accepted": 0,
    }
    assert schema_quality["speed"] == {"timed": 3, "mean_seconds": 60.0, "tag_sets_per_hour": 60.0}
    assert schema_quality["acceptance_rate"]["value"] == 2 / 3
    assert schema_quality["acceptance_rate"]["n"] == 3
    assert schema_quality["correction_rate"]["value"] == 0.5
    assert schema_quality["agreement"] == schema_quality["gold_accuracy"] == NO_RATE


def test_automatic_acceptance_is_no_decision(quality: QualityWorkspace) -> None:
    quality.label(quality.artifact(quality.schema(sample_rate=0.0)), "A")
    (schema_quality,) = quality.read("latest")["schemas"]
    assert schema_quality["throughput"]["auto_accepted"] == 1
    assert schema_quality["acceptance_rate"] == NO_RATE


def test_agreement_of_what_labelers_submitted(quality: QualityWorkspace) -> None:
    schema = quality.schema(labels_per_artifact=2)
    for other in ("A", "B"):
        artifact = quality.artifact(schema)
        quality.label(artifact, "A")
        # A correction does not count as agreement between labelers.
        tags = [tag("number", "A")]
        quality.act(quality.label(artifact, other, by="second"), "accept", tags=tags)
    (schema_quality,) = quality.read("latest")["schemas"]
    assert (schema_quality["agreement"]["value"], schema_quality["agreement"]["n"]) == (0.5, 2)
    (field,) = quality.read("fields")["fields"]
    assert (field["field"], field["type"], field["removed"]) == ("number", "text", False)
    assert field["schema"] == {"id": str(schema), "name": "Invoices"}
    assert field["agreement"]["value"] == 0.5
    assert (field["correction_rate"]["value"], field["correction_rate"]["n"]) == (0.5, 2)


def test_an_import_is_not_compared_with_the_tag_set_of_a_labeler(quality: QualityWorkspace) -> None:
    artifact = quality.artifact(quality.schema(labels_per_artifact=2))
    imported = quality.label(artifact, "A", by="second")
    quality.sql(
        "UPDATE tag_sets SET source = 'import', labeler_id = NULL WHERE id = :id", id=imported["id"]
    )
    quality.label(artifact, "B")
    (schema_quality,) = quality.read("latest")["schemas"]
    assert schema_quality["agreement"] == NO_RATE


def test_a_labeler_is_not_compared_with_their_own_tag_sets(quality: QualityWorkspace) -> None:
    org, artifact = quality.org, quality.artifact(quality.schema(labels_per_artifact=2))
    sources = [quality.label(artifact, "A", by=name)["id"] for name in ("labeler", "second")]
    body = {"tag_set_ids": sources, "accept": True}
    merge = org.api("reviewer").post("/tag-sets/merge", json=body).json["data"]
    quality.act(merge, "reopen", reason="Look again.", to="review")
    quality.reject(merge, to="pool")
    quality.label(artifact, "B")
    quality.label(artifact, "C", by="second")
    (schema_quality,) = quality.read("latest")["schemas"]
    assert (schema_quality["agreement"]["value"], schema_quality["agreement"]["n"]) == (0.0, 1)


def test_accuracy_on_gold_documents(quality: QualityWorkspace) -> None:
    schema = quality.schema(labels_per_artifact=3)
    artifact = quality.artifact(schema, gold=True)
    quality.act(quality.label(artifact, "A", total="1.00 EUR"), "accept")
    quality.label(artifact, "A", total="2.00 EUR", by="second")
    returned = quality.label(artifact, "B", total="3.00 EUR", by="third")
    # Only the first submission counts, not a submission after a review.
    draft = quality.reject(returned)
    assert quality.save(draft, [tag("number", "A")], by="third").status_code == 200
    quality.act(draft, "submit", by="third")
    (schema_quality,) = quality.read("latest", by="reviewer")["schemas"]
    assert schema_quality["gold_accuracy"]["value"] == 0.25
    assert schema_quality["gold_accuracy"]["n"] == 2
    # An artifact that is no longer a gold document has no correct answer.
    get_data(quality.org.api("admin").patch(f"/artifacts/{artifact}", json={"gold": False}))
    schema_quality = quality.read("latest", by="reviewer")["schemas"][0]
    assert schema_quality["gold_accuracy"] == NO_RATE


def _publish(quality: QualityWorkspace, schema: Any, fields: list[dict[str, Any]]) -> None:
    api = quality.org.api("admin")
    revision = get_data(api.get(f"/schemas/{schema}"))["revision"]
    get_data(api.patch(f"/schemas/{schema}", json={"fields": fields, "revision": revision}))
    body = {"allow_breaking": True}
    published = api.post(f"/schemas/{schema}/publish", json=body)
    assert published.status_code in (200, 201), published.json


def test_a_field_that_changed_its_type(quality: QualityWorkspace) -> None:
    schema = quality.schema(labels_per_artifact=2)
    artifact = quality.artifact(schema)
    old = quality.label(artifact, "A", pages=2)
    quality.act(old, "accept")
    fields = [field for field in FIELDS if field["key"] not in ("pages", "total")]
    _publish(quality, schema, [*fields, make_field("pages", "text")])
    # Only fields that are the same in both versions are compared.
    quality.label(artifact, "A", pages="two", by="second")
    quality.act(quality.label(quality.artifact(schema), "A", pages="two"), "accept")
    field_quality = quality.read("fields")
    by_name = {field["field"]: field for field in field_quality["fields"]}
    agreement = by_name["number"]["agreement"]
    assert (agreement["value"], agreement["n"]) == (1.0, 1)
    assert by_name["pages"]["type"] == "text"
    assert by_name["pages"]["correction_rate"]["n"] == 1
    assert by_name["pages"]["agreement"] == NO_RATE
    (warning,) = field_quality["warnings"]
    assert (warning["schema_id"], warning["field"]) == (str(schema), "pages")
    assert "integer" in warning["message"]
    path = f"trends?metric=correction_rate&schema_id={schema}"
    for query in ("&field=pages", "&group_by=field"):
        trends = quality.read(path + query)
        by_key = {series["key"]: series["points"][-1]["n"] for series in trends["series"]}
        assert by_key.get("pages", by_key.get(None)) == 1
        assert trends["warnings"] == field_quality["warnings"]


def test_unknown_schemas(quality: QualityWorkspace) -> None:
    api = quality.org.api("admin")
    unknown = "01a212a3-3eb2-79b0-bd61-63d4b8fb595a"
    for path in ("latest", "fields", "trends", "labelers", "reviewers"):
        assert api.get(f"/quality/{path}?schema_id={unknown}").status_code == 404


def test_accuracy_of_predictions(quality: QualityWorkspace) -> None:
    assisted = Assisted(quality.org)
    for number in ("A", "B"):
        draft = assisted.draft([make_predicted_tag("number", "A")])
        assisted.save(draft, [tag("number", number)])
        assisted.accept(draft)
    assisted.record()
    fields = quality.read("fields")["fields"]
    # Each document has a separate schema.
    assert sorted(field["model_accuracy"]["value"] for field in fields) == [0.0, 1.0]
    assert {field["model_accuracy"]["n"] for field in fields} == {1}
