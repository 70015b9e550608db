"""Documents beyond the limits of the plan are refused, and nothing of them is kept."""

from email.message import EmailMessage
from typing import Any

from app.kit import container
from tests.documents.artifacts.conftest import create_text, make_pdf, upload
from tests.factories import Org, run_jobs_of
from tests.factories.errors import check_error
from tests.factories.usage import find_usage_differences, set_plan


def _list_files(org: Org) -> list[str]:
    return [entry.key for entry in container.current().storage.list(f"organizations/{org.id}")]


def _check_refused(answer: Any, **details: object) -> None:
    check_error(answer, 402, "plan_limit_reached", details=details)
    assert f"allows {details['limit']} " in answer.json["error"]["message"]


def test_a_refused_file_is_not_kept(org: Org) -> None:
    api, first = org.api("labeler"), make_pdf("First")
    set_plan(org, "free", {"documents_per_month": 1})
    assert upload(api, first, "first.pdf").status_code == 201
    files = _list_files(org)
    answer = upload(api, make_pdf("Second"), "second.pdf")
    _check_refused(answer, meter="documents_per_month", limit=1, used=1, plan="free")
    answer = api.post("/artifacts", json={"name": "third", "text": "Third"})
    _check_refused(answer, meter="documents_per_month", limit=1, used=1, plan="free")
    assert _list_files(org) == files
    # Duplicate content is reported as a duplicate, not as a plan limit.
    assert upload(api, first, "first.pdf").json["error"]["code"] == "artifact_duplicate"
    assert find_usage_differences(org) == []


def test_deleting_frees_bytes_but_no_documents_of_the_month(org: Org) -> None:
    api = org.api("admin")
    set_plan(org, "free", {"stored_bytes": 10, "documents_per_month": 2})
    first = api.post("/artifacts", json={"name": "first", "text": "8 bytes!"}).json["data"]["id"]
    answer = api.post("/artifacts", json={"name": "second", "text": "3 b"})
    _check_refused(answer, meter="stored_bytes", limit=10, used=8, plan="free")
    assert api.delete(f"/artifacts/{first}").status_code == 204
    assert api.post("/artifacts", json={"name": "second", "text": "3 b"}).status_code == 201
    answer = api.post("/artifacts", json={"name": "third", "text": "4 by"})
    _check_refused(answer, meter="documents_per_month", limit=2, used=2, plan="free")


def test_a_refusal_can_be_repeated_with_the_same_key(org: Org) -> None:
    api, headers = org.api("labeler"), {"Idempotency-Key": "once"}
    body = {"name": "first", "text": "First"}
    set_plan(org, "free", {"documents_per_month": 0})
    answer = api.post("/artifacts", json=body, headers=headers)
    _check_refused(answer, meter="documents_per_month", limit=0, used=0, plan="free")
    set_plan(org, "unlimited")
    for _ in range(2):
        assert api.post("/artifacts", json=body, headers=headers).status_code == 201


def test_attachments_beyond_the_limit_are_left_out(org: Org) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@b.example", "c@d.example", "Invoices"
    mail.set_content("See the attachments.")
    for number in range(3):
        pdf = make_pdf(f"Invoice {number}")
        mail.add_attachment(pdf, "application", "pdf", filename=f"{number}.pdf")
    set_plan(org, "free", {"documents_per_month": 3})
    parent = upload(org.api("labeler"), mail.as_bytes(), "mail.eml").json["data"]["id"]
    run_jobs_of(org)
    listed = org.api("viewer").get(f"/artifacts?parent_id={parent}&sort=name").json["data"]
    assert [artifact["name"] for artifact in listed] == ["0.pdf", "1.pdf"]
    shown = org.api("viewer").get(f"/artifacts/{parent}").json["data"]
    assert (shown["status"], shown["attachment_count"]) == ("ready", 3)
    assert find_usage_differences(org) == []
    set_plan(org, "free", {"documents_per_month": 4})
    assert org.api("admin").post(f"/artifacts/{parent}/reprocess").status_code == 202
    run_jobs_of(org)
    listed = org.api("viewer").get(f"/artifacts?parent_id={parent}&sort=name").json["data"]
    assert [artifact["name"] for artifact in listed] == ["0.pdf", "1.pdf", "2.pdf"]


def test_changes_of_a_document_are_not_limited(org: Org) -> None:
    artifact = create_text(org.api("labeler"), "Some text")["id"]
    set_plan(org, "free", {"documents_per_month": 0, "stored_bytes": 0})
    path = f"/artifacts/{artifact}"
    assert org.api("admin").patch(path, json={"priority": 90}).status_code == 200
