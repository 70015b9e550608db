"""Imports with labels: every format, what they become, and every reason of a failure."""

from typing import Any
from uuid import UUID

import orjson
import pytest

from tests.factories import run_jobs_of
from tests.factories.labels import make_field
from tests.factories.orgs import Org, get_data
from tests.factories.workspace import counts as label_counts
from tests.factories.workspace import tag
from tests.intake.conftest import Imports, counts, lines

_TEXT = "Invoice A-1 of Acme Ltd, total 7 EUR"
_TAGS = [
    tag("number", "A-1", evidence=[{"start": 8, "end": 11}], confidence=0.5),
    tag("total", {"amount": "7", "currency": "EUR"}),
    tag("clause", None, evidence=[{"start": 15, "end": 23}]),
    tag("lines.item", "Bolts", row=0),
]


def _list_tag_sets(imports: Imports, artifact_id: str) -> list[dict[str, Any]]:
    reviewer = imports.org.api("reviewer")
    answer = reviewer.get("/tag-sets", query_string={"artifact_id": artifact_id})
    return [reviewer.get(f"/tag-sets/{row['id']}").json["data"] for row in get_data(answer)]


def _import(imports: Imports, data: bytes, **form: Any) -> list[dict[str, Any]]:
    """Import a file without failures, and return its items."""
    job = imports.make(data, **form)
    assert job["status"] == "completed", imports.items(job["id"])
    return imports.items(job["id"])


def test_tags_are_submitted_for_review(imports: Imports) -> None:
    schema_id = str(imports.workspace.schema(sample_rate=0.0))
    (item,) = _import(imports, lines({"text": _TEXT, "tags": _TAGS}), schema_id=schema_id)
    (tag_set,) = _list_tag_sets(imports, item["artifact_id"])
    assert (tag_set["status"], tag_set["source"]) == ("submitted", "import")
    assert (tag_set["labeler"], tag_set["reviewer"]) == (None, None)
    assert tag_set["submitted_at"] is not None
    assert tag_set["decided_at"] is None
    assert {saved_tag["source"] for saved_tag in tag_set["tags"]} == {"import"}
    number, total, clause, line = tag_set["tags"]
    assert (number["value"], number["confidence"]) == ("A-1", 0.5)
    assert number["evidence"][0]["text"] == "A-1"
    assert total["value"] == {"amount": "7.00", "currency": "EUR"}
    assert clause["value"] == "Acme Ltd"
    assert (line["field"], line["row"]) == ("lines.item", 0)
    artifact = imports.artifact(item["artifact_id"])
    assert artifact["status"] == "in_review"
    assert artifact["label_counts"] == label_counts(submitted=1)
    (revision,) = imports.workspace.revisions(tag_set["id"])
    author = imports.org.users["labeler"]
    assert (revision.number, revision.kind, revision.author_id) == (1, "import", author)
    (event,) = imports.events("tag_set.submitted")
    assert event == {
        "tag_set_id": tag_set["id"],
        "artifact_id": item["artifact_id"],
        "schema_id": schema_id,
        "schema_version_id": tag_set["schema_version_id"],
        "labeler_id": None,
    }
    assert len(imports.events("artifact.ingested")) == 1


def test_a_reviewer_decides_on_imported_labels(imports: Imports) -> None:
    schema_id = str(imports.workspace.schema())
    data = lines(*({"text": f"{_TEXT} {n}", "tags": _TAGS[:1]} for n in range(2)))
    _import(imports, data, schema_id=schema_id)
    reviewer = imports.org.api("reviewer")
    queue = reviewer.get("/review-queue").json["data"]
    assert len(queue) == 2
    accepted = reviewer.post(f"/tag-sets/{queue[0]['id']}/accept", {})
    assert accepted.json["data"]["status"] == "accepted"
    body = {"reason": "Wrong", "send_to": "pool"}
    rejected = reviewer.post(f"/tag-sets/{queue[1]['id']}/reject", body)
    assert rejected.json["data"]["status"] == "rejected"
    assert imports.artifact(queue[1]["artifact"]["id"])["status"] == "ready"
    listed = reviewer.get("/tag-sets", query_string={"source": "import"}).json
    assert listed["meta"]["total"] == 2


def test_a_reviewer_imports_accepted_labels(imports: Imports) -> None:
    schema_id = str(imports.workspace.schema())
    imports.api = imports.org.api("reviewer")
    data = lines({"text": _TEXT, "tags": _TAGS})
    (item,) = _import(imports, data, schema_id=schema_id, labels="accepted")
    (tag_set,) = _list_tag_sets(imports, item["artifact_id"])
    assert (tag_set["status"], tag_set["reviewer"]) == ("accepted", None)
    assert tag_set["decided_at"] == tag_set["submitted_at"]
    artifact = imports.artifact(item["artifact_id"])
    assert (artifact["status"], artifact["label_counts"]) == ("done", label_counts(accepted=1))
    (event,) = imports.events("tag_set.accepted")
    assert (event["tag_set_id"], event["reviewer_id"]) == (tag_set["id"], None)
    assert imports.events("tag_set.submitted") == []


def test_a_labeler_may_not_import_accepted_labels(imports: Imports) -> None:
    answer = imports.send(lines({"text": "x"}), labels="accepted")
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "permission_denied")
    answer = imports.send(lines({"text": "x"}), labels="deleted")
    assert (answer.status_code, answer.json["error"]["field"]) == (422, "labels")
    assert imports.count("ingestion_jobs") == 0
    assert imports.files() == []


def test_ignored_labels(imports: Imports) -> None:
    data = lines({"text": _TEXT, "tags": "not even a list"})
    (item,) = _import(imports, data, labels="ignored")
    assert _list_tag_sets(imports, item["artifact_id"]) == []
    assert imports.artifact(item["artifact_id"])["status"] == "ready"


def test_no_tags_are_an_answer_and_null_is_none(imports: Imports) -> None:
    fields = [make_field("note", "text")]
    schema_id = str(imports.workspace.schema(fields=fields))
    data = lines({"text": "One", "tags": []}, {"text": "Two", "tags": None}, {"text": "Three"})
    accepted_item, second_item, third_item = _import(imports, data, schema_id=schema_id)
    (tag_set,) = _list_tag_sets(imports, accepted_item["artifact_id"])
    assert (tag_set["tags"], tag_set["status"]) == ([], "submitted")
    assert _list_tag_sets(imports, second_item["artifact_id"]) == []
    assert _list_tag_sets(imports, third_item["artifact_id"]) == []


def test_rules_run_only_on_documents_without_labels(imports: Imports) -> None:
    user = str(imports.org.users["labeler"])
    rule = {"name": "All", "conditions": {"all": []}, "action": {"user_id": user}}
    assert imports.admin.post("/routing-rules", rule).status_code == 201
    schema_id = str(imports.workspace.schema())
    data = lines({"text": "One", "tags": [tag("number", "1")]}, {"text": "Two"})
    labeled, other = _import(imports, data, schema_id=schema_id)
    assert imports.artifact(labeled["artifact_id"])["status"] == "in_review"
    assert imports.artifact(other["artifact_id"])["status"] == "processing"
    run_jobs_of(imports.org, "routing")
    assert imports.artifact(labeled["artifact_id"])["assignees"] == []
    assert [
        assignee["user_id"] for assignee in imports.artifact(other["artifact_id"])["assignees"]
    ] == [user]
    assert len(imports.events("artifact.ingested")) == 2


def test_a_document_that_needs_two_tag_sets_is_labeled_once_more(imports: Imports) -> None:
    schema_id = str(imports.workspace.schema(labels_per_artifact=2))
    (item,) = _import(imports, lines({"text": _TEXT, "tags": _TAGS}), schema_id=schema_id)
    assert imports.artifact(item["artifact_id"])["status"] == "in_progress"
    imports.workspace.submitted(UUID(item["artifact_id"]))
    assert imports.artifact(item["artifact_id"])["status"] == "in_review"


def test_a_duplicate_keeps_its_labels(imports: Imports) -> None:
    schema_id = str(imports.workspace.schema())
    first_record = {"text": _TEXT, "tags": [tag("number", "1")]}
    second_record = {"text": _TEXT, "tags": [tag("number", "2")]}
    first, second = _import(imports, lines(first_record, second_record), schema_id=schema_id)
    assert second["status"] == "duplicate"
    (tag_set,) = _list_tag_sets(imports, first["artifact_id"])
    assert [saved_tag["value"] for saved_tag in tag_set["tags"]] == ["1"]
    assert imports.count("tag_sets") == 1


_WRONG = [
    ("x", "validation_error", "tags must be a list"),
    ([7], "validation_error", "tags.0 must be an object"),
    ([tag("unknown", 1)], "validation_error", "tags.0.field is not a field"),
    ([tag("number", 7), tag("pages", "x")], "validation_error", "tags.0.value"),
    ([tag("number", "a\u0000b")], "validation_error", "tags.0.value"),
    ([tag("number", "A", evidence=[{"start": 0, "end": 99}])], "validation_error", "evidence"),
    ([tag("number", "A", evidence=[{"start": 0, "end": 7, "text": "Elsewhe"}])],
     "validation_error", "evidence"),
    ([tag("number", "A", other=1)], "validation_error", "tags.0.other is unknown"),
    ([tag("number", "A"), tag("number", "B")], "validation_error", "tags.1.field"),
    ([], "required_fields_missing", "number"),
    ([tag("pages", 7)], "required_fields_missing", "number"),
]  # fmt: skip


def test_labels_that_do_not_fit_fail_alone(imports: Imports) -> None:
    schema_id = str(imports.workspace.schema())
    records: list[dict[str, Any]] = [{"text": _TEXT, "tags": tags} for tags, _, _ in _WRONG]
    job = imports.make(lines(*records, {"text": _TEXT, "tags": _TAGS}), schema_id=schema_id)
    assert job["counts"] == counts(found=len(_WRONG) + 1, created=1, failed=len(_WRONG))
    for item, (tags, code, message) in zip(
        imports.items(job["id"], status="failed"), _WRONG, strict=True
    ):
        assert item["error"]["code"] == code, (tags, item)
        assert message in item["error"]["message"], (tags, item)
        assert item["artifact_id"] is None
    assert imports.count() == imports.count("tag_sets") == 1


def test_labels_need_an_active_schema(imports: Imports, other_org: Org) -> None:
    inactive = str(imports.workspace.schema(status="inactive"))
    foreign = str(Imports(other_org).workspace.schema())
    job = imports.make(
        lines(
            {"text": "One", "tags": []},
            {"text": "Two", "tags": [], "schema_id": inactive},
            {"text": "Three", "tags": [], "schema_id": foreign},
            {"text": "Four", "tags": [], "schema_id": inactive},
        )
    )
    errors = [item["error"] for item in imports.items(job["id"])]
    assert [error["code"] for error in errors] == [
        "validation_error", "conflict", "validation_error", "conflict",
    ]  # fmt: skip
    assert "Labels require a schema" in errors[0]["message"]
    assert "not active" in errors[1]["message"]
    assert errors[2]["message"] == "This schema does not exist."
    assert imports.count() == 0


_FIELDS = [
    make_field("vendor", "span", label="Vendor", multiple=True),
    make_field("sentiment", "choice", options=[{"value": "good", "label": "Good"}]),
    make_field("note", "text"),
]


def _annotate(start: int, end: int, **members: Any) -> dict[str, Any]:
    value = {"start": start, "end": end, "text": _TEXT[start:end], "labels": ["Vendor"]}
    marks = {"from_name": "ner", "to_name": "text", "type": "labels", "value": value}
    choice = {"from_name": "sentiment", "type": "choices", "value": {"choices": ["Good"]}}
    return {"id": 1, "result": [marks, choice], **members}


@pytest.mark.parametrize("required", [1, 2])
def test_an_export_of_label_studio(imports: Imports, required: int) -> None:
    schema_id = str(imports.workspace.schema(fields=_FIELDS, labels_per_artifact=required))
    annotations = [_annotate(0, 7), _annotate(15, 23, ground_truth=True), _annotate(0, 3)]
    tasks = [
        {"id": 5, "data": {"text": _TEXT, "lot": 7}, "annotations": annotations},
        {"id": 6, "data": {"text": "Not labeled"}, "annotations": []},
    ]
    job = imports.make(orjson.dumps(tasks), "export.json", schema_id=schema_id)
    assert (job["format"], job["status"]) == ("label_studio", "completed")
    labeled, other = imports.items(job["id"])
    artifact = imports.artifact(labeled["artifact_id"])
    assert (artifact["external_id"], artifact["metadata"]) == ("5", {"lot": 7})
    assert artifact["status"] == "in_review"
    tag_sets = _list_tag_sets(imports, labeled["artifact_id"])
    vendors = {tag_set["tags"][0]["value"] for tag_set in tag_sets}
    assert vendors == {"Acme Ltd", "Invoice"} if required == 2 else {"Acme Ltd"}
    assert all(tag_set["tags"][1]["value"] == "good" for tag_set in tag_sets)
    assert imports.artifact(other["artifact_id"])["status"] == "ready"


def test_a_task_whose_labels_do_not_fit_fails_alone(imports: Imports) -> None:
    schema_id = str(imports.workspace.schema(fields=_FIELDS))
    wrong = _annotate(0, 7)
    wrong["result"][0]["value"]["labels"] = ["Person"]
    shifted = _annotate(0, 7)
    shifted["result"][0]["value"]["text"] = "Receipt"
    tasks = [
        {"data": {"text": _TEXT}, "annotations": [wrong]},
        {"data": {"text": _TEXT}, "annotations": [shifted]},
        {"data": {"image": "https://x.example/1.png"}, "annotations": [{"result": [{}]}]},
        {"data": {"text": _TEXT}, "annotations": [_annotate(0, 7)]},
    ]
    job = imports.make(orjson.dumps(tasks), "export.json", schema_id=schema_id)
    assert job["counts"] == counts(found=4, created=1, failed=3)
    first, second, third = imports.items(job["id"], status="failed")
    assert first["error"]["message"] == "The schema has no span field `Person`."
    assert "is not `Receipt`" in second["error"]["message"]
    assert "are not supported" in third["error"]["message"]


def test_a_damaged_export_of_label_studio(imports: Imports) -> None:
    job = imports.make(b'[{"data": {"text": "x"}}, {"data"', "export.json")
    assert job["status"] == "failed"
    assert "Malformed JSON" in job["error"]["message"]
    assert imports.count() == 0


def test_an_export_of_doccano(imports: Imports) -> None:
    schema_id = str(imports.workspace.schema(fields=_FIELDS))
    data = lines(
        {"id": 5, "text": _TEXT, "label": [[15, 23, "Vendor"], [0, 7, "Vendor"]], "lot": 7},
        {"id": 6, "text": "All is well", "label": ["Good"]},
        {"id": 7, "text": "Not labeled", "label": []},
    )
    job = imports.make(data, "admin.jsonl", schema_id=schema_id)
    assert (job["format"], job["status"]) == ("doccano", "completed")
    spans, category, none = (
        _list_tag_sets(imports, item["artifact_id"]) for item in imports.items(job["id"])
    )
    assert [saved_tag["value"] for saved_tag in spans[0]["tags"]] == ["Acme Ltd", "Invoice"]
    assert [saved_tag["value"] for saved_tag in category[0]["tags"]] == ["good"]
    assert none == []


def test_an_export_of_doccano_that_begins_with_a_long_document(imports: Imports) -> None:
    schema_id = str(imports.workspace.schema(fields=_FIELDS))
    data = lines({"id": 5, "text": _TEXT + " x" * 100_000, "label": [[15, 23, "Vendor"]]})
    job = imports.make(data, "admin.jsonl", schema_id=schema_id)
    assert (job["format"], job["status"]) == ("doccano", "completed")


def test_a_retry_imports_the_labels_of_what_failed(imports: Imports) -> None:
    schema_id = imports.workspace.schema(status="inactive")
    data = lines({"text": "One", "tags": [tag("number", "1")]})
    job = imports.make(data, schema_id=str(schema_id))
    assert job["status"] == "completed_with_errors"
    imports.sql("UPDATE schemas SET status = 'active' WHERE id = :id", id=schema_id)
    imports.retry(job["id"])
    imports.work()
    (item,) = imports.items(job["id"])
    assert item["status"] == "created"
    assert len(_list_tag_sets(imports, item["artifact_id"])) == 1
