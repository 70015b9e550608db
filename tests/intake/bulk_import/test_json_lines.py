"""Import of JSON Lines: every member, every reason of a failure, and what follows from it."""

import hashlib
import json
from typing import Any

import pytest

from tests.factories import run_jobs_of
from tests.intake.conftest import Imports, counts, lines


def test_a_line_becomes_a_document(imports: Imports) -> None:
    schema_id = str(imports.workspace.schema())
    record = {
        "text": "Invoice A-1\nTotal: 7 EUR",
        "name": "a-1.txt",
        "external_id": "crm-7",
        "metadata": {"lot": 7, "paid": True, "who": "Ann"},
        "schema_id": schema_id,
        "priority": 80,
        "due_at": "2027-01-31T12:00:00+01:00",
    }
    job = imports.make(lines(record))
    assert (job["status"], job["counts"]) == ("completed", counts(found=1, created=1))
    assert (job["kind"], job["format"], job["name"]) == ("import", "jsonl", "texts.jsonl")
    assert job["error"] is None
    (item,) = imports.items(job["id"])
    assert (item["status"], item["uri"], item["error"]) == ("created", "texts.jsonl#1", None)
    artifact = imports.artifact(item["artifact_id"])
    direct_fields = {
        name: value for name, value in record.items() if name not in ("text", "due_at")
    }
    assert {name: artifact[name] for name in direct_fields} == direct_fields
    assert artifact["due_at"] == "2027-01-31T11:00:00Z"
    assert (artifact["status"], artifact["ingestion_job_id"]) == ("ready", job["id"])
    assert artifact["created_by"] == str(imports.org.users["labeler"])
    content = imports.api.get(f"/artifacts/{artifact['id']}/content")
    assert content.data.decode() == record["text"]
    assert artifact["sha256"] == hashlib.sha256(content.data).hexdigest()
    read = imports.api.get(f"/artifacts/{artifact['id']}/text").json["data"]
    assert (read["text"], len(read["pages"])) == (record["text"], 1)
    page = imports.api.get(f"/artifacts/{artifact['id']}/pages").json["data"][0]
    assert [word["text"] for word in page["words"]][:2] == ["Invoice", "A-1"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('{"text": "One", "text": "Two"}', "text"),
        ('{"text": "One", "metadata": {"lot": 1, "lot": 2}}', "lot"),
        ('{"text": "One", "tags": [{"field": "a", "value": "b", "value": "c"}]}', "value"),
    ],
)
def test_a_line_with_a_repeated_member_fails(imports: Imports, line: str, name: str) -> None:
    job = imports.make(f'{line}\n{{"text": "Three"}}\n'.encode())
    assert job["counts"] == counts(found=2, created=1, failed=1)
    (failed,) = imports.items(job["id"], status="failed")
    message = f"`{name}`: Appears more than once."
    assert failed["error"] == {"code": "unprocessable", "message": message}


def test_an_imported_document_equals_a_created_one(imports: Imports) -> None:
    text = "The quick brown fox jumps over the lazy dog and runs away from it."
    answer = imports.api.post("/artifacts", {"name": "one.txt", "text": text})
    assert answer.status_code == 201
    job = imports.make(lines({"text": f"{text} Twice.", "name": "two.txt"}))
    (item,) = imports.items(job["id"])
    created, imported = (
        imports.artifact(answer.json["data"]["id"]),
        imports.artifact(item["artifact_id"]),
    )
    own = {"id", "name", "sha256", "size_bytes", "text_length", "created_at", "updated_at"}
    own |= {"ingestion_job_id"}
    assert {k: v for k, v in created.items() if k not in own} == {
        k: v for k, v in imported.items() if k not in own
    }


def test_each_document_is_announced_counted_found_and_logged(imports: Imports) -> None:
    texts = [f"Bill number {number} of the xylophone maker" for number in range(7)]
    job = imports.make(lines(*({"text": text} for text in texts)))
    made = {item["artifact_id"] for item in imports.items(job["id"])}
    announced = imports.events("artifact.ingested")
    assert {event["artifact_id"] for event in announced} == made
    assert len(announced) == 7
    assert {event["ingestion_job_id"] for event in announced} == {job["id"]}
    page = imports.api.get("/artifacts", query_string={"page_size": 1}).json
    assert page["meta"]["total"] == 7
    hits = imports.api.get("/artifacts", query_string={"q": "xylophone"}).json
    assert {hit["id"] for hit in hits["data"]} == made
    logged = imports.sql(
        "SELECT target_id FROM audit_entries WHERE organization_id = :org"
        " AND action = 'artifacts.create'",
        org=imports.org.id,
    )
    assert {str(row.target_id) for row in logged} == made
    blobs = [key for key in imports.files() if "/blobs/" in key]
    assert len(blobs) == 7


def test_the_rules_run_before_a_document_is_ready(imports: Imports) -> None:
    user = str(imports.org.users["labeler"])
    rule = {"name": "All", "conditions": {"all": []}, "action": {"user_id": user}}
    assert imports.admin.post("/routing-rules", rule).status_code == 201
    job = imports.make(lines({"text": "One"}, {"text": "Two"}))
    items = imports.items(job["id"])
    assert {imports.artifact(item["artifact_id"])["status"] for item in items} == {"processing"}
    assert imports.events("artifact.ingested") == []
    run_jobs_of(imports.org, "routing")
    for item in items:
        artifact = imports.artifact(item["artifact_id"])
        assert artifact["status"] == "ready"
        assert [assignee["user_id"] for assignee in artifact["assignees"]] == [user]
    run_jobs_of(imports.org, "routing")
    announced = [event["artifact_id"] for event in imports.events("artifact.ingested")]
    assert sorted(announced) == sorted(item["artifact_id"] for item in items)


def test_a_known_content_is_a_duplicate(imports: Imports) -> None:
    answer = imports.api.post("/artifacts", {"name": "known.txt", "text": "Known"})
    known = answer.json["data"]["id"]
    job = imports.make(lines({"text": "Known"}, {"text": "New"}, {"text": "New"}))
    assert job["counts"] == counts(found=3, created=1, duplicate=2)
    assert job["status"] == "completed"
    first, second, third = imports.items(job["id"])
    assert (first["status"], first["artifact_id"]) == ("duplicate", known)
    assert (second["status"], third["status"]) == ("created", "duplicate")
    assert second["artifact_id"] == third["artifact_id"]
    assert imports.count() == 2
    again = imports.make(lines({"text": "New"}))
    assert again["counts"] == counts(found=1, duplicate=1)


def test_another_organization_has_its_own_copy(imports: Imports, other_org: Any) -> None:
    other_imports = Imports(other_org)
    data = lines({"text": "The same text"})
    job, other_job = imports.make(data), other_imports.make(data)
    assert job["counts"] == other_job["counts"] == counts(found=1, created=1)
    assert other_imports.api.get(f"/ingestion-jobs/{job['id']}").status_code == 404
    assert other_imports.api.get(f"/ingestion-jobs/{job['id']}/items").status_code == 404


_BAD = [
    (b'{"text": ', "Malformed JSON"),
    (b"[1]", "must be a JSON object"),
    (b'{"name": "x"}', "`text` is missing"),
    (b'{"text": null}', "`text` is missing"),
    (b'{"text": 7}', "`text`: Not a valid string"),
    (b'{"text": "a\\u0000b"}', "`text`: NUL"),
    (b'{"text": "\xff"}', "Malformed JSON"),
    (b'{"text": "a\\ud800"}', "Malformed JSON"),
    (b'{"text": "x", "label": 1}', "`label`: Unknown field"),
    (b'{"text": "x", "a\\u0000b": 1}', "Unknown field"),
    (b'{"text": "x", "name": "../../etc/passwd"}', "`name`: Slashes"),
    (b'{"text": "x", "name": ".."}', '`name`: Must not be "." or ".."'),
    (b'{"text": "x", "name": "a\\u0000b"}', "`name`: NUL"),
    (b'{"text": "x", "name": "fdp.\\u202eexe"}', "`name`: Characters that change the direction"),
    (b'{"text": "x", "name": "' + b"n" * 4096 + b'"}', "`name`: Longer than"),
    (b'{"text": "x", "external_id": 7}', "`external_id`: Not a valid string"),
    (b'{"text": "x", "metadata": [1]}', "`metadata`: Not a valid object"),
    (b'{"text": "x", "metadata": {"a": [1]}}', "`metadata`: Values must be"),
    (b'{"text": "x", "metadata": {"a": "\\u0000"}}', "`metadata`: NUL"),
    (b'{"text": "x", "metadata": {"a": 9007199254740993}}', "`metadata`: Numbers"),
    (b'{"text": "x", "metadata": {"": 1}}', "`metadata`: Keys"),
    (b'{"text": "x", "priority": true}', "`priority`: Must be"),
    (b'{"text": "x", "priority": 101}', "`priority`: Must be"),
    (b'{"text": "x", "due_at": "2027-01-31T12:00:00"}', "`due_at`: Must include"),
    (b'{"text": "x", "due_at": "soon"}', "`due_at`: Must be an ISO 8601 time"),
    (b'{"text": "x", "due_at": "0001-01-01T00:00:00+14:00"}', "`due_at`: Must be an ISO 8601 time"),
    (b'{"text": "x", "schema_id": "7"}', "`schema_id`: Not a valid UUID"),
]


def test_a_bad_line_fails_alone_with_its_reason(imports: Imports) -> None:
    good = [b'{"text": "Good %d"}' % number for number in range(len(_BAD))]
    pairs = zip(good, (line for line, _ in _BAD), strict=True)
    data = b"\n".join(line for pair in pairs for line in pair)
    job = imports.make(data)
    number = len(_BAD)
    assert job["status"] == "completed_with_errors"
    assert job["counts"] == counts(found=2 * number, created=number, failed=number)
    failed = imports.items(job["id"], status="failed")
    assert [item["number"] for item in failed] == list(range(2, 2 * number + 1, 2))
    for item, (line, reason) in zip(failed, _BAD, strict=True):
        assert reason in item["error"]["message"], (line, item["error"])
        assert item["error"]["code"] == "unprocessable"
        assert item["artifact_id"] is None
    assert imports.count() == number


def test_a_text_without_words_and_a_schema_that_does_not_exist(
    imports: Imports, other_org: Any
) -> None:
    foreign = str(Imports(other_org).workspace.schema())
    job = imports.make(lines({"text": " \n"}, {"text": ""}, {"text": "x", "schema_id": foreign}))
    assert job["counts"] == counts(found=3, failed=3)
    codes = [item["error"]["code"] for item in imports.items(job["id"])]
    assert codes == ["empty_document", "empty_document", "validation_error"]


def test_a_line_that_is_too_long_is_skipped_without_memory(imports: Imports) -> None:
    from app.engines.imports import lines as limits  # noqa: PLC0415

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "MAX_LINE_BYTES", 1000)
        data = b'{"text": "a"}\n{"text": "' + b"x" * 3_000_000 + b'"}\n{"text": "b"}'
        job = imports.make(data)
    assert job["counts"] == counts(found=3, created=2, failed=1)
    (item,) = imports.items(job["id"], status="failed")
    assert (item["number"], item["error"]["code"]) == (2, "payload_too_large")


def test_blank_lines_a_byte_order_mark_and_the_default_name(imports: Imports) -> None:
    data = b'\xef\xbb\xbf{"text": "One"}\r\n\r\n   \n{"text": "Zwei \xc3\xbc"}'
    job = imports.make(data, "list.of.texts.jsonl")
    assert job["counts"] == counts(found=2, created=2)
    names = [imports.artifact(i["artifact_id"])["name"] for i in imports.items(job["id"])]
    assert names == ["list.of.texts-1.txt", "list.of.texts-2.txt"]


def test_the_schema_of_the_request_is_the_default(imports: Imports) -> None:
    default, other = str(imports.workspace.schema()), str(imports.workspace.schema())
    data = lines({"text": "One"}, {"text": "Two", "schema_id": other})
    job = imports.make(data, schema_id=default)
    schemas = [imports.artifact(i["artifact_id"])["schema_id"] for i in imports.items(job["id"])]
    assert schemas == [default, other]


def test_the_content_can_be_sent_as_json(imports: Imports) -> None:
    body = {"content": json.dumps({"text": "Sent as JSON"}), "name": "small.jsonl"}
    answer = imports.api.post("/artifacts/bulk-import", body)
    assert answer.status_code == 202
    assert answer.json["data"]["size_bytes"] == len(body["content"])
    imports.work()
    assert imports.get(answer.json["data"]["id"])["counts"] == counts(found=1, created=1)
