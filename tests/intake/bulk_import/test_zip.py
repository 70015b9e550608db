"""Import of ZIP archives: each file is parsed, and bad entries fail alone."""

import io
import stat
import struct
import zipfile
from typing import Any

import pytest

from app.engines.imports import archives
from app.intake.bulk_import.service import running
from app.kit import container
from tests.documents.artifacts.conftest import make_pdf, make_png
from tests.factories import run_jobs_of
from tests.intake.conftest import Imports, counts


def _build_zip(files: dict[str, bytes], **options: Any) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _settle_job(imports: Imports) -> None:
    imports.sql(
        "UPDATE jobs SET due_at = now() WHERE due_at > now() AND organization_id = :org"
        " AND function = 'ingestion_jobs.settle'",
        org=imports.org.id,
    )
    run_jobs_of(imports.org, "default")


def _import_archive(
    imports: Imports, data: bytes, name: str = "files.zip", **form: Any
) -> dict[str, Any]:
    job = imports.make(data, name, **form)
    run_jobs_of(imports.org, "documents")
    _settle_job(imports)
    return imports.get(job["id"])


def _import_with_one_failure(imports: Imports, data: bytes) -> dict[str, Any]:
    """Import an archive of two files of which one fails, and return the failed item."""
    job = _import_archive(imports, data)
    assert job["counts"] == counts(found=2, created=1, failed=1)
    (item,) = imports.items(job["id"], status="failed")
    return item


def test_names_from_macos(imports: Imports) -> None:
    data = _build_zip({"Ma\u0308rz.txt": b"first", "plain.txt": b"second"})
    # The archive utility of macOS does not set the flag for UTF-8 (bit 11).
    data = data.replace(b"\x00\x08\x08\x00", b"\x00\x00\x08\x00")
    (entry, _) = zipfile.ZipFile(io.BytesIO(data)).infolist()
    assert (entry.flag_bits, entry.filename) == (0, "Ma╠êrz.txt")
    # A name in code page 437 stays as it is.
    dos = data.replace("Ma\u0308rz".encode(), "Ärger!".encode("cp437"))
    for content, name in ((data, "M\u00e4rz.txt"), (dos, "Ärger!.txt")):
        job = _import_archive(imports, content)
        (item, _) = imports.items(job["id"])
        assert item["uri"] == f"files.zip/{name}"


def test_each_file_becomes_a_parsed_document(imports: Imports) -> None:
    schema_id = str(imports.workspace.schema())
    files = {
        "in/a.pdf": make_pdf("First page", "Second page"),
        "in/b.png": make_png(),
        "c.txt": b"Plain words",
        "in/": b"",
        "__MACOSX/._c.txt": b"x",
        "in/.DS_Store": b"x",
    }
    job = _import_archive(imports, _build_zip(files), schema_id=schema_id)
    assert (job["format"], job["status"]) == ("zip", "completed")
    assert job["counts"] == counts(found=5, created=3, skipped=2)
    items = imports.items(job["id"])
    assert [item["uri"] for item in items[:3]] == [
        "files.zip/in/a.pdf",
        "files.zip/in/b.png",
        "files.zip/c.txt",
    ]
    assert [item["status"] for item in items] == ["created"] * 3 + ["skipped"] * 2
    artifacts = [imports.artifact(item["artifact_id"]) for item in items[:3]]
    assert [artifact["name"] for artifact in artifacts] == ["a.pdf", "b.png", "c.txt"]
    assert {artifact["status"] for artifact in artifacts} == {"ready"}
    assert {(artifact["schema_id"], artifact["ingestion_job_id"]) for artifact in artifacts} == {
        (schema_id, job["id"])
    }
    assert artifacts[0]["page_count"] == 2
    content = imports.api.get(f"/artifacts/{artifacts[0]['id']}/content")
    assert content.data == files["in/a.pdf"]
    announced = imports.events("artifact.ingested")
    assert sorted(row["artifact_id"] for row in announced) == sorted(row["id"] for row in artifacts)
    assert {payload["ingestion_job_id"] for payload in announced} == {job["id"]}


def test_a_job_runs_until_its_documents_are_parsed(imports: Imports) -> None:
    bad = b"%PDF-1.7\nnot really"
    job = imports.make(_build_zip({"a.txt": b"Words", "b.pdf": bad}), "files.zip")
    assert (job["status"], job["progress"]["done"]) == ("running", 2)
    assert job["counts"] == counts(found=2)
    assert {item["status"] for item in imports.items(job["id"])} == {"processing"}
    page = imports.api.get(
        f"/ingestion-jobs/{job['id']}/items", query_string={"status": "processing"}
    ).json
    assert page["meta"]["total"] == 2
    _settle_job(imports)
    assert imports.get(job["id"])["status"] == "running"
    run_jobs_of(imports.org, "documents")
    _settle_job(imports)
    job = imports.get(job["id"])
    assert job["status"] == "completed_with_errors"
    assert job["counts"] == counts(found=2, created=1, failed=1)
    (item,) = imports.items(job["id"], status="failed")
    failed = imports.artifact(item["artifact_id"])
    assert item["error"] == failed["failure"]
    assert item["error"]["code"] == "unreadable"


def test_a_retry_parses_again_what_could_not_be_parsed(imports: Imports) -> None:
    job = _import_archive(
        imports, _build_zip({"a.txt": b"Words", "b.pdf": b"%PDF-1.7\nnot really"})
    )
    assert job["counts"] == counts(found=2, created=1, failed=1)
    imports.retry(job["id"])
    imports.work()
    running_job = imports.get(job["id"])
    assert (running_job["status"], running_job["counts"]["failed"]) == ("running", 0)
    run_jobs_of(imports.org, "documents")
    _settle_job(imports)
    again = imports.get(job["id"])
    assert again["status"] == "completed_with_errors"
    assert again["counts"] == counts(found=2, created=1, failed=1)
    assert imports.count() == 2
    assert imports.api.get("/ingestion-jobs?kind=reprocess").json["data"] == []


def test_documents_are_settled_after_a_cancel(imports: Imports) -> None:
    job = imports.make(_build_zip({"a.txt": b"Words"}), "files.zip")
    answer = imports.admin.post(f"/ingestion-jobs/{job['id']}/cancel")
    assert answer.json["data"]["status"] == "cancelled"
    run_jobs_of(imports.org, "documents")
    _settle_job(imports)
    job = imports.get(job["id"])
    assert (job["status"], job["counts"]) == ("cancelled", counts(found=1, created=1))


def test_known_contents_are_duplicates(imports: Imports) -> None:
    answer = imports.api.post("/artifacts", {"name": "a.txt", "text": "Words"})
    job = _import_archive(
        imports, _build_zip({"a.txt": b"Words", "b.txt": b"More", "c.txt": b"More"})
    )
    assert job["counts"] == counts(found=3, created=1, duplicate=2)
    items = imports.items(job["id"])
    assert items[0]["artifact_id"] == answer.json["data"]["id"]
    assert items[2]["artifact_id"] == items[1]["artifact_id"]


def _encrypt(data: bytes) -> bytes:
    """Set the flag of encryption in every header of an archive."""
    changed = bytearray(data)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(signature)
        while at >= 0:
            changed[at + offset] |= 1
            at = data.find(signature, at + 1)
    return bytes(changed)


def _link() -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("link.txt")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def test_bad_entries_fail_alone(imports: Imports) -> None:
    names = {
        "../up.txt": "relative",
        "a/../../up.txt": "relative",
        "/etc/passwd": "relative",
        "C:/windows.txt": "relative",
        "a\\b.txt": "relative",
        "n" * 4096 + ".txt": "at most 255",
        "fdp.\u202eexe.txt": "direction",
        "nested.zip": "media type",
        "empty.txt": "empty",
        "program.exe": "media type",
    }
    contents = {
        "nested.zip": _build_zip({"a.txt": b"x"}),
        "empty.txt": b"",
        "program.exe": b"MZ\x90\0",
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("first.txt", "First")
        for name in names:
            archive.writestr(name, contents.get(name, name.encode()))
        archive.writestr(_link(), "/etc/passwd")
        archive.writestr("packed.txt", "Packed", zipfile.ZIP_LZMA)
        archive.writestr("last.txt", "Last")
    job = _import_archive(imports, buffer.getvalue())
    reasons = [*names.values(), "symbolic link", "compression"]
    number = len(reasons)
    assert job["status"] == "completed_with_errors"
    assert job["counts"] == counts(found=number + 2, created=2, failed=number)
    failed = imports.items(job["id"], status="failed")
    for item, reason in zip(failed, reasons, strict=True):
        assert reason in item["error"]["message"], item
        assert len(item["uri"]) < 1100
    blobs = [key for key in imports.files() if "/blobs/" in key]
    assert len(blobs) == 2


def test_a_name_with_nul_and_an_encrypted_file(imports: Imports) -> None:
    data = _build_zip({"aXb.txt": b"Words"}).replace(b"aXb.txt", b"a\0b.txt")
    job = _import_archive(imports, data)
    (item,) = imports.items(job["id"])
    assert "NUL" in item["error"]["message"]
    job = _import_archive(imports, _encrypt(_build_zip({"secret.txt": b"Secret"})))
    (item,) = imports.items(job["id"])
    assert item["error"]["code"] == "password_protected"


def test_a_damaged_file_fails_alone(imports: Imports) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.txt", "Words of a")
        archive.writestr("b.txt", "Words of b")
    data = buffer.getvalue().replace(b"Words of a", b"Wxrds of a")
    item = _import_with_one_failure(imports, data)
    assert (item["number"], item["error"]["code"]) == (1, "unreadable")


def test_a_file_before_the_beginning_of_the_archive_fails_alone(imports: Imports) -> None:
    data = bytearray(_build_zip({"a.txt": b"one", "b.txt": b"two"}))
    end, entry_of_b = data.rindex(b"PK\x05\x06"), data.rindex(b"PK\x01\x02")
    # The directory seems to begin one byte late, so all files begin one byte early. Only b.txt is
    # where the archive says.
    for field in (end + 16, entry_of_b + 42):
        struct.pack_into("<L", data, field, struct.unpack_from("<L", data, field)[0] + 1)
    item = _import_with_one_failure(imports, bytes(data))
    assert (item["number"], item["error"]["code"]) == (1, "unreadable")


@pytest.mark.parametrize("offset", [2**62, 2**64 - 1])
def test_a_file_after_the_end_of_the_archive_fails_alone(imports: Imports, offset: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "one")
        info = zipfile.ZipInfo("b.txt")
        info.extra = struct.pack("<HHQ", 1, 8, offset)
        archive.writestr(info, "two")
    data = bytearray(buffer.getvalue())
    struct.pack_into("<L", data, data.rindex(b"PK\x01\x02") + 42, 2**32 - 1)
    item = _import_with_one_failure(imports, bytes(data))
    assert (item["number"], item["error"]["code"]) == (2, "unreadable")


def test_a_file_without_a_name_fails_alone(imports: Imports) -> None:
    data = _build_zip({"a.txt": b"one", "b": b"two"})
    for signature, field, offset in ((b"PK\x03\x04", 26, 30), (b"PK\x01\x02", 28, 46)):
        position = data.rindex(signature)
        name_end = position + offset
        data = data[:name_end] + data[name_end + 1 :]
        data = data[: position + field] + b"\0\0" + data[position + field + 2 :]
    end = data.rindex(b"PK\x05\x06")
    size, start = struct.unpack_from("<LL", data, end + 12)
    data = data[: end + 12] + struct.pack("<LL", size - 1, start - 1) + data[end + 20 :]
    item = _import_with_one_failure(imports, data)
    assert (item["number"], item["error"]["code"]) == (2, "unprocessable")


def test_a_bomb_fails_at_the_limits(imports: Imports, monkeypatch: pytest.MonkeyPatch) -> None:
    # The largest upload of the tests has 8 MiB.
    bomb = b"x" * (9 * 1024 * 1024)
    data = _build_zip({"a.txt": b"Words", "bomb.txt": bomb})
    item = _import_with_one_failure(imports, data)
    assert item["error"]["code"] == "payload_too_large"
    monkeypatch.setattr(archives, "BASE_UNPACKED_LIMIT_BYTES", 1000)
    monkeypatch.setattr(archives, "MAX_UNPACKED_RATIO", 1)
    parts = {f"{n}.txt": b"%d" % n * 400 for n in range(5)}
    job = _import_archive(imports, _build_zip(parts))
    assert job["counts"] == counts(found=5, created=2, failed=3)
    codes = {item["error"]["code"] for item in imports.items(job["id"], status="failed")}
    assert codes == {"too_large_unpacked"}


def test_an_entry_that_lies_about_its_size_is_cut_there(imports: Imports) -> None:
    data = bytearray(_build_zip({"a.txt": b"x" * 100_000}))
    at = data.find(b"PK\x01\x02")
    struct.pack_into("<L", data, at + 24, 10)
    job = _import_archive(imports, bytes(data))
    assert job["counts"]["created"] + job["counts"]["failed"] == 1
    stored = [key for key in imports.files() if "/blobs/" in key]
    assert all(container.current().storage.get_size(key) <= 10 for key in stored)


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04" + b"\0" * 100,
        _build_zip({"a.txt": b"x"})[:-10],
        _build_zip({"a.txt": b"x"}).replace(b"PK\x01\x02", b"XX\x01\x02"),
    ],
    ids=["zeros", "cut", "directory"],
)
def test_a_damaged_archive_fails_as_a_whole(imports: Imports, data: bytes) -> None:
    job = _import_archive(imports, data)
    assert (job["status"], job["counts"]) == ("failed", counts())
    assert job["error"] == {"code": "validation_error", "message": "The ZIP file is damaged."}


def test_a_directory_over_the_limit_is_not_read(
    imports: Imports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MAX_DIRECTORY_BYTES", 500)
    job = _import_archive(imports, _build_zip({f"{n}.txt": b"x" for n in range(100)}))
    assert job["status"] == "failed"
    assert "too many files" in job["error"]["message"]


def test_an_archive_without_files_is_completed(imports: Imports) -> None:
    job = _import_archive(imports, _build_zip({}))
    assert (job["status"], job["counts"]) == ("completed", counts())


def test_a_document_that_is_an_archive_is_no_archive(imports: Imports) -> None:
    answer = imports.send(_build_zip({"word/document.xml": b"<x/>"}), "letter.docx")
    assert (answer.status_code, answer.json["error"]["field"]) == (400, "format")


def test_a_killed_run_continues_with_the_next_file(imports: Imports) -> None:
    job_id = imports.start(_build_zip({f"{n}.txt": b"Words %d" % n for n in range(5)}), "files.zip")

    # Start, total, then two commits for each file: one before it is unpacked, one after.
    imports.run(running.run_import, job_id, checkpoints=2 + 2 * 2 + 1)
    assert imports.get(job_id)["progress"]["done"] == 2
    imports.run(running.run_import, job_id, checkpoints=1 + 2)
    assert imports.get(job_id)["progress"]["done"] == 3
    imports.run(running.run_import, job_id)
    run_jobs_of(imports.org, "documents")
    _settle_job(imports)
    job = imports.get(job_id)
    assert (job["status"], job["counts"]) == ("completed", counts(found=5, created=5))
    assert imports.count() == 5
    assert len(imports.events("artifact.created")) == 5
