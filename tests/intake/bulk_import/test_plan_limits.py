"""Imports record which documents the plan did not allow, and can be tried again."""

import io
import zipfile

from tests.factories import run_jobs_of
from tests.factories.usage import find_usage_differences, set_plan
from tests.intake.conftest import Imports, counts, lines


def test_the_first_texts_of_a_file_are_created(imports: Imports) -> None:
    texts = [{"text": f"Text {number}"} for number in range(8)]
    set_plan(imports.org, "free", {"documents_per_month": 5})
    # What exists already needs no room.
    job = imports.make(lines(*texts[:3], texts[0], *texts[3:]))
    assert job["status"] == "completed_with_errors"
    assert job["counts"] == counts(found=9, created=5, duplicate=1, failed=3)
    failed = imports.items(job["id"], status="failed")
    assert [item["number"] for item in failed] == [7, 8, 9]
    assert {item["error"]["code"] for item in failed} == {"plan_limit_reached"}
    assert imports.count() == 5
    set_plan(imports.org, "free", {"documents_per_month": 8})
    imports.retry(job["id"])
    imports.work()
    assert imports.get(job["id"])["counts"] == counts(found=9, created=8, duplicate=1)
    assert find_usage_differences(imports.org) == []


def test_bytes_of_texts(imports: Imports) -> None:
    set_plan(imports.org, "free", {"stored_bytes": 10})
    job = imports.make(lines({"text": "6 byte"}, {"text": "7 bytes"}, {"text": "4 by"}))
    # A smaller text may still fit.
    assert job["counts"] == counts(found=3, created=2, failed=1)
    assert [item["number"] for item in imports.items(job["id"], status="failed")] == [2]


def test_files_of_an_archive(imports: Imports) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(4):
            archive.writestr(f"{number}.txt", f"File {number}")
    set_plan(imports.org, "free", {"documents_per_month": 3})
    job = imports.make(buffer.getvalue(), "files.zip")
    run_jobs_of(imports.org, "documents")
    failed = imports.items(job["id"], status="failed")
    assert [(item["uri"], item["error"]["code"]) for item in failed] == [
        ("files.zip/3.txt", "plan_limit_reached")
    ]
    assert imports.count() == 3
    assert find_usage_differences(imports.org) == []
