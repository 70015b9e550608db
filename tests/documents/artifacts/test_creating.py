"""Tests of creating documents from text and from files."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import pytest

from app.kit.ids import uuid7
from app.kit.storage import build_blob_key
from tests.documents.artifacts.conftest import Stored, create_text, make_pdf, upload
from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.orgs import get_data
from tests.factories.statements import record_statements
from tests.factories.workspace import Workspace

TEXT = "Invoice 4711 of the vendor ACME.\nTotal due within thirty days: EUR 120.50.\n"


def test_text_is_ready_immediately(org: Org, stored: Stored) -> None:
    api = org.api("labeler")
    answer = api.post("/artifacts", {"name": "a.txt", "text": TEXT})
    document = get_data(answer, 201)
    digest = sha256(TEXT.encode()).hexdigest()
    assert document == {
        "id": document["id"],
        "name": "a.txt",
        "schema_id": None,
        "external_id": None,
        "metadata": {},
        "priority": 50,
        "due_at": None,
        "gold": None,
        "archived": False,
        "media_type": "text/plain",
        "size_bytes": len(TEXT),
        "sha256": digest,
        "page_count": 1,
        "language": "en",
        "text_length": len(TEXT),
        "has_text_layer": True,
        "ocr": "none",
        "status": "ready",
        "failure": None,
        "connector_id": None,
        "ingestion_job_id": None,
        "parent_id": None,
        "attachment_count": None,
        "prediction": None,
        "assignees": [],
        "claim": None,
        "label_counts": {"draft": 0, "submitted": 0, "accepted": 0, "rejected": 0},
        "created_by": str(org.users["labeler"]),
        "created_at": document["created_at"],
        "updated_at": document["created_at"],
        "revision": 1,
    }
    assert answer.headers["ETag"] == '"1"'
    assert api.get(f"/artifacts/{document['id']}").json["data"] == document
    assert stored() == [build_blob_key(org.id, digest)]
    assert Workspace(org).events("artifact.ingested") == [
        {
            "artifact_id": document["id"],
            "name": "a.txt",
            "media_type": "text/plain",
            "sha256": digest,
            "page_count": 1,
            "schema_id": None,
            "connector_id": None,
            "ingestion_job_id": None,
            "parent_id": None,
        }
    ]


def test_every_property_is_stored(org: Org) -> None:
    schema = org.api("admin").post("/schemas", {"name": "S"}).json["data"]
    members: dict[str, Any] = {
        "schema_id": schema["id"],
        "external_id": "erp-7",
        "metadata": {"batch": 3, "urgent": True, "from": "Köln", "share": 0.5},
        "priority": 90,
        "due_at": "2030-01-02T03:04:05+01:00",
        "gold": True,
        "archived": True,
    }
    kept = {**members, "due_at": "2030-01-02T02:04:05Z"}
    document = create_text(org.api("reviewer"), "by text", **members)
    assert {name: document[name] for name in kept} == kept
    form = {
        **members, "priority": "90", "gold": "true", "archived": "true",
        "metadata": '{"batch": 3, "urgent": true, "from": "Köln", "share": 0.5}',
    }  # fmt: skip
    answer = upload(org.api("reviewer"), b"by file", "f.txt", **form)
    assert answer.status_code == 201, answer.json
    assert {name: answer.json["data"][name] for name in kept} == kept
    read = org.api("reviewer").get(f"/artifacts/{answer.json['data']['id']}").json["data"]
    assert {name: read[name] for name in kept} == kept


def test_a_file_is_read_by_a_job(org: Org, stored: Stored, work: Callable[[], None]) -> None:
    api = org.api("labeler")
    data = make_pdf("Lease of the premises", "Second page")
    document = get_data(upload(api, data, "lease.pdf", "application/pdf", name="Lease"), 201)
    assert (document["name"], document["status"]) == ("Lease", "processing")
    assert (document["page_count"], document["text_length"]) == (None, 0)
    assert stored() == [build_blob_key(org.id, sha256(data).hexdigest())]
    work()
    read = api.get(f"/artifacts/{document['id']}").json["data"]
    assert (read["status"], read["page_count"], read["media_type"]) == (
        "ready", 2, "application/pdf",
    )  # fmt: skip
    assert read["revision"] == 1
    (event,) = Workspace(org).events("artifact.ingested")
    assert (event["artifact_id"], event["page_count"]) == (document["id"], 2)
    text = api.get(f"/artifacts/{document['id']}/text").json["data"]
    assert "Lease of the premises" in text["text"]
    assert text["length"] == len(text["text"]) == read["text_length"]


def test_the_file_name_is_the_default_name(org: Org) -> None:
    answer = upload(org.api("labeler"), b"some text", "Überweisung 3.txt")
    assert answer.json["data"]["name"] == "Überweisung 3.txt"
    assert answer.json["data"]["media_type"] == "text/plain"


def test_the_same_content_is_stored_once(org: Org, other_org: Org, stored: Stored) -> None:
    first = create_text(org.api("labeler"), TEXT)
    before = stored()
    for answer in (
        org.api("labeler").post("/artifacts", {"name": "b.txt", "text": TEXT}),
        upload(org.api("labeler"), TEXT.encode(), "c.txt"),
    ):
        check_error(answer, 409, "artifact_duplicate", details={"artifact_id": first["id"]})
    assert stored() == before
    assert org.api("viewer").get("/artifacts").json["meta"]["total"] == 1
    assert create_text(other_org.api("labeler"), TEXT)["id"] != first["id"]


def test_only_one_of_many_uploads_of_a_content_is_accepted(org: Org, stored: Stored) -> None:
    apis = [org.api("labeler") for _ in range(4)]

    def send(number: int) -> int:
        if number % 2:
            return int(upload(apis[number], TEXT.encode(), "a.txt").status_code)
        return apis[number].post("/artifacts", {"name": "a.txt", "text": TEXT}).status_code

    with ThreadPoolExecutor(4) as threads:
        statuses = sorted(threads.map(send, range(4)))
    assert statuses == [201, 409, 409, 409]
    assert len(stored()) == 1
    assert org.api("viewer").get("/artifacts").json["meta"]["total"] == 1


def test_the_schema_must_belong_to_the_organization(
    org: Org, other_org: Org, stored: Stored
) -> None:
    foreign = other_org.api("admin").post("/schemas", {"name": "S"}).json["data"]["id"]
    answers = []
    for schema_id in (foreign, str(uuid7())):
        answers.append(org.api("labeler").post(
            "/artifacts", {"name": "a", "text": TEXT, "schema_id": schema_id}
        ))  # fmt: skip
        answers.append(upload(org.api("labeler"), b"text", "a.txt", schema_id=schema_id))
    for answer in answers:
        check_error(answer, 400, "validation_error", field="schema_id")
    assert stored() == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "a"}, "text"),
        ({"text": "a"}, "name"),
        ({"text": "a\x00b"}, "text"),
        ({"priority": 101}, "priority"),
        ({"priority": "5"}, "priority"),
        ({"metadata": {"a": None}}, "metadata.a"),
        ({"metadata": {"a": {"b": 1}}}, "metadata.a"),
        ({"metadata": {"a\x00": 1}}, "metadata"),
        ({"metadata": {str(n): n for n in range(101)}}, "metadata"),
        ({"due_at": "2030-01-02T03:04:05"}, "due_at"),
        ({"file": "x"}, "file"),
        ({"status": "done"}, "status"),
    ],
)
def test_an_invalid_body_is_422(org: Org, stored: Stored, body: dict[str, Any], field: str) -> None:
    whole = body if field in ("name", "text") else {"name": "a", "text": "a", **body}
    if body.get("text") == "a\x00b":
        whole = {"name": "a", **body}
    answer = org.api("labeler").post("/artifacts", whole)
    assert answer.status_code == 422
    assert answer.json["error"]["field"].startswith(field)
    assert stored() == []


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"priority": "high"}, "priority"),
        ({"gold": "perhaps"}, "gold"),
        ({"metadata": "{"}, "metadata"),
        ({"metadata": "[1]"}, "metadata"),
        ({"metadata": '{"a": [1]}'}, "metadata.a"),
        ({"schema_id": "x"}, "schema_id"),
        ({"text": "x"}, "text"),
    ],
)
def test_an_invalid_form_is_422(org: Org, stored: Stored, form: dict[str, str], field: str) -> None:
    answer = upload(org.api("labeler"), b"text", "a.txt", **form)
    assert answer.status_code == 422
    assert answer.json["error"]["field"] == field
    assert stored() == []


@pytest.mark.parametrize("text", ["", " \n\t\u2003"])
def test_text_must_not_be_empty(org: Org, stored: Stored, text: str) -> None:
    answer = org.api("labeler").post("/artifacts", {"name": "a", "text": text})
    check_error(answer, 400, "validation_error", field="text")
    assert stored() == []


def test_an_idempotency_key_creates_once(org: Org) -> None:
    headers = {"Idempotency-Key": "one"}
    api = org.api("labeler")
    first = api.post("/artifacts", {"name": "a", "text": TEXT}, headers=headers)
    again = api.post("/artifacts", {"name": "a", "text": TEXT}, headers=headers)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json == first.json
    assert again.headers["Idempotency-Replayed"] == "true"


def test_creating_reading_and_listing_take_few_statements(org: Org) -> None:
    api = org.api("labeler")
    document = create_text(api, "warm up")
    api.get(f"/artifacts/{document['id']}")
    with record_statements(org.app) as creating:
        create_text(api, TEXT)
    with record_statements(org.app) as reading:
        api.get(f"/artifacts/{document['id']}")
    with record_statements(org.app) as listing:
        api.get("/artifacts?status=ready&q=invoice&assignee=" + str(org.users["labeler"]))
    assert len(creating) <= 5, creating
    assert len(reading) <= 2, reading
    assert len(listing) <= 3, listing


def test_timestamps_are_the_creation_time(org: Org) -> None:
    before = datetime.now(UTC)
    document = create_text(org.api("labeler"), TEXT)
    assert before <= datetime.fromisoformat(document["created_at"]) <= datetime.now(UTC)
