"""Attachments of emails become separate documents."""

from collections import Counter
from email.message import EmailMessage
from typing import Any
from uuid import UUID

import pytest

from app.documents.artifacts.service import attaching
from app.documents.artifacts.service import parsing as artifact_parsing
from app.engines.documents.readers import attachments
from app.kit import container, db, tenancy
from app.kit.jobs import handlers, runs
from app.kit.storage import build_blob_key
from tests.documents.artifacts.conftest import (
    create_text,
    make_pdf,
    make_png,
    read_document,
    upload_document,
)
from tests.engines.documents.outlook_files import inner_mail, outlook_mail
from tests.factories import Org, claim_jobs_of, run_jobs_of
from tests.factories.counts import run_sql


def _write_mail(subject: str = "Your invoice", **attached: bytes) -> EmailMessage:
    """Return an email; a name such as `a_pdf` stands for the attachment `a.pdf`."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@b.example", "c@d.example", subject
    mail.set_content("See the attachment.")
    for name, data in attached.items():
        file_name = ".".join(name.rsplit("_", 1))
        mail.add_attachment(data, "application", "octet-stream", filename=file_name)
    return mail


def _upload(org: Org, mail: EmailMessage | bytes, name: str = "mail.eml", **form: Any) -> str:
    data = mail if isinstance(mail, bytes) else mail.as_bytes()
    document = upload_document(org.api("reviewer"), data, name, **form)
    run_jobs_of(org)
    return str(document["id"])


def _list_children(org: Org, artifact_id: str) -> list[dict[str, Any]]:
    path = f"/artifacts?parent_id={artifact_id}&sort=created_at"
    answer = org.api("viewer").get(path).json
    assert answer["meta"]["total"] == len(answer["data"])
    data: list[dict[str, Any]] = answer["data"]
    return data


def _list_all(org: Org) -> list[dict[str, Any]]:
    data: list[dict[str, Any]] = org.api("viewer").get("/artifacts").json["data"]
    return data


def test_each_attachment_is_a_document(org: Org) -> None:
    mail = _write_mail(invoice_pdf=make_pdf("Total 12.50"), photo_png=make_png(70))
    parent = _upload(org, mail, priority="80", metadata='{"box": "billing"}')
    children = _list_children(org, parent)
    assert [child["name"] for child in children] == ["invoice.pdf", "photo.png"]
    assert {child["media_type"] for child in children} == {"application/pdf", "image/png"}
    assert {(child["status"], child["priority"]) for child in children} == {("ready", 80)}
    assert children[0]["metadata"] == {"box": "billing"}
    assert {child["parent_id"] for child in children} == {parent}
    assert {child["created_by"] for child in children} == {str(org.users["reviewer"])}
    assert {child["attachment_count"] for child in children} == {None}
    email = read_document(org, parent)
    assert (email["parent_id"], email["attachment_count"]) == (None, 2)


def test_files_that_cannot_be_read_are_left_out(org: Org) -> None:
    known = make_pdf("Known already")
    upload_document(org.api("labeler"), known, "known.pdf")
    mail = _write_mail(known_pdf=known, program_exe=b"MZ\x90\x00\x03" * 9, empty_txt=b"",
                       note_txt=b"Read me")  # fmt: skip
    mail.add_attachment(make_png(), "image", "png", disposition="inline", cid="<logo>")
    parent = _upload(org, mail)
    names = {document["name"] for document in _list_children(org, parent)}
    assert names == {"note.txt", "known.pdf"}
    (email,) = [document for document in _list_all(org) if document["id"] == parent]
    assert email["attachment_count"] == 3


def test_known_content_is_linked_to_the_first_email(org: Org) -> None:
    known = make_pdf("Known already")
    uploaded = upload_document(org.api("labeler"), known, "known.pdf", priority="7")
    parents = [_upload(org, _write_mail(f"Mail {n}", a_pdf=known), priority="9") for n in range(2)]
    (linked,) = _list_children(org, parents[0])
    assert (linked["id"], linked["name"], linked["priority"]) == (uploaded["id"], "known.pdf", 7)
    assert linked["revision"] == uploaded["revision"]
    assert _list_children(org, parents[1]) == []
    assert org.api("admin").delete(f"/artifacts/{parents[0]}").status_code == 204
    third = _upload(org, _write_mail("Mail 3", a_pdf=known))
    assert [child["id"] for child in _list_children(org, third)] == [uploaded["id"]]
    for parent in (parents[1], third):
        assert read_document(org, parent)["attachment_count"] == 1


def test_an_email_without_attachments_has_a_count_of_zero(org: Org) -> None:
    parent = _upload(org, _write_mail())
    assert read_document(org, parent)["attachment_count"] == 0


def test_forwarded_emails_and_their_attachments(org: Org) -> None:
    inner = _write_mail("Order 7", order_pdf=make_pdf("Order 7"))
    outer = _write_mail("Fwd: Order 7")
    outer.add_attachment(inner)
    (forwarded,) = _list_children(org, _upload(org, outer))
    assert (forwarded["name"], forwarded["media_type"]) == ("Order 7.eml", "message/rfc822")
    (order,) = _list_children(org, forwarded["id"])
    assert order["name"] == "order.pdf"


def test_an_email_inside_an_email_of_outlook(org: Org) -> None:
    inner = inner_mail("Order 7", "See the order", files={"order.pdf": make_pdf("Order 7")})
    data = outlook_mail("Fwd: Order 7", "Forwarded", mails=(inner,))
    (forwarded,) = _list_children(org, _upload(org, data, "fwd.msg"))
    assert (forwarded["name"], forwarded["media_type"]) == ("Order 7.eml", "message/rfc822")
    assert [document["name"] for document in _list_children(org, forwarded["id"])] == ["order.pdf"]
    again = outlook_mail("Fwd again", "The same order", mails=(inner,))
    assert _list_children(org, _upload(org, again, "again.msg")) == []


def test_nested_emails_are_read_to_a_maximum_depth(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attaching, "MAX_DEPTH", 2)
    mail = _write_mail("Mail 0")
    for number in range(1, 5):
        outer = _write_mail(f"Mail {number}")
        outer.add_attachment(mail)
        mail = outer
    names, parent = [], _upload(org, mail)
    while children := _list_children(org, parent):
        names.append(children[0]["name"])
        parent = children[0]["id"]
    assert names == ["Mail 3.eml", "Mail 2.eml"]


def test_the_emails_of_a_mailbox(org: Org) -> None:
    mails = [_write_mail("First", a_txt=b"In the first"), _write_mail("Second")]
    data = b"\n".join(b"From a@b.example Mon Jan  1 10:00:00 2024\n" + m.as_bytes() for m in mails)
    children = _list_children(org, _upload(org, data, "inbox.mbox"))
    assert [document["name"] for document in children] == ["First.eml", "Second.eml"]
    assert [document["name"] for document in _list_children(org, children[0]["id"])] == ["a.txt"]


def test_an_interrupted_run_creates_no_duplicates(org: Org) -> None:
    mail = _write_mail(**{f"note{number}_txt": f"Note {number}".encode() for number in range(5)})
    parent = upload_document(org.api("reviewer"), mail.as_bytes(), "mail.eml")["id"]
    committed: list[int] = []

    def stop_after_two(_position: str) -> None:
        db.session().commit()
        committed.append(1)
        if len(committed) == 3:
            raise RuntimeError("killed")

    with org.app.app_context(), tenancy.organization(org.id):
        with pytest.raises(RuntimeError, match="killed"):
            attaching.create_documents(UUID(parent), stop_after_two)
        db.session().rollback()
    assert len(_list_children(org, parent)) == 2
    run_jobs_of(org)
    names = [document["name"] for document in _list_children(org, parent)]
    assert names == [f"note{number}.txt" for number in range(5)]


def test_each_run_continues_after_the_attachments_of_earlier_runs(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run yields at its second checkpoint, so the first attachment must not take it again."""
    notes = {f"note{number}_txt": f"Note {number}".encode() for number in range(3)}
    email = _upload_for_attaching(org, _write_mail(**notes))
    checkpoint_counts: Counter[float] = Counter()

    def must_yield(job: handlers.Job) -> bool:
        checkpoint_counts[job.started_at] += 1
        return checkpoint_counts[job.started_at] == 2

    monkeypatch.setattr(handlers.Job, "_must_yield", must_yield)
    child_counts = []
    for _ in range(4):
        (attaching_job,) = [
            job
            for job in claim_jobs_of(org, "documents")
            if job.function == artifact_parsing.ATTACH_JOB
        ]
        with org.app.app_context():
            runs.run(org.app, "documents", [attaching_job])
        child_counts.append(len(_list_children(org, email["id"])))
        _update_attach_job(org, "due_at = due_at - interval '1 hour'")
    assert child_counts == [1, 2, 3, 3]
    assert read_document(org, email["id"])["attachment_count"] == 3


def _upload_for_attaching(org: Org, mail: EmailMessage) -> dict[str, Any]:
    """Upload an email, and run all jobs except the one that reads its attachments."""
    email = upload_document(org.api("reviewer"), mail.as_bytes(), "mail.eml")
    (parsing,) = claim_jobs_of(org, "documents")
    with org.app.app_context():
        runs.run(org.app, "documents", [parsing])
    return email


def _update_attach_job(org: Org, change: str) -> str:
    """Change the job that reads attachments, and return its status."""
    statement = f"UPDATE jobs SET {change} WHERE organization_id = :org AND function = :function"
    (row,) = run_sql(org, f"{statement} RETURNING status", function=artifact_parsing.ATTACH_JOB)
    return str(row.status)


def test_a_missing_file_is_an_outage_for_a_day(org: Org) -> None:
    email = _upload_for_attaching(org, _write_mail(note_txt=b"Read me"))
    storage = container.current().storage
    key = build_blob_key(org.id, email["sha256"])
    content = b"".join(storage.stream(key))
    storage.delete(key)
    for _ in range(handlers.HANDLERS[artifact_parsing.ATTACH_JOB].max_attempts + 1):
        run_jobs_of(org, "documents")
        assert _update_attach_job(org, "due_at = now()") == "queued"
    storage.write(key, [content])
    run_jobs_of(org)
    (note,) = _list_children(org, email["id"])
    assert (note["name"], note["status"]) == ("note.txt", "ready")


def test_a_file_that_is_missing_for_a_day_has_no_attachments(org: Org) -> None:
    email = _upload_for_attaching(org, _write_mail(note_txt=b"Read me"))
    container.current().storage.delete(build_blob_key(org.id, email["sha256"]))
    _update_attach_job(org, "created_at = now() - interval '25 hours'")
    run_jobs_of(org)
    assert read_document(org, email["id"])["attachment_count"] is None
    assert _update_attach_job(org, "error = error") == "completed"


def test_an_email_that_is_deleted_before_it_is_read_has_no_attachments(org: Org) -> None:
    email = _upload_for_attaching(org, _write_mail(note_txt=b"Read me"))
    assert org.api("admin").delete(f"/artifacts/{email['id']}").status_code == 204
    run_jobs_of(org, "fanout", "default", "bulk", "documents")
    assert _update_attach_job(org, "error = error") == "completed"
    assert _list_all(org) == []


def test_invalid_attachment_names_are_replaced(org: Org) -> None:
    mail = _write_mail()
    mail.add_attachment(b"One", "text", "plain", filename="a\u202etxt.exe")
    mail.add_attachment(b"Two", "text", "plain", filename="../../etc/passwd")
    names = [document["name"] for document in _list_children(org, _upload(org, mail))]
    assert names[0] == "attachment-1"
    assert len(names) == 2
    assert not any(".." in name or "\u202e" in name for name in names)


def test_the_number_of_attachments_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachments, "MAX_ATTACHMENTS", 3)
    mail = _write_mail(**{f"note{number}_txt": f"Note {number}".encode() for number in range(9)})
    extracted = list(attachments.extract_attachments(mail.as_bytes()))
    assert [attachment.name for attachment in extracted] == ["note0.txt", "note1.txt", "note2.txt"]
    assert extracted[1].data == b"Note 1"


def test_a_parent_of_another_organization_has_no_attachments(org: Org, other_org: Org) -> None:
    parent = _upload(org, _write_mail(a_txt=b"Mine"))
    create_text(other_org.api("labeler"), "Theirs")
    assert len(_list_children(org, parent)) == 1
    assert _list_children(other_org, parent) == []
