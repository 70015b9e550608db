"""The files of exports: whole, in ranges, on record, and for a time."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from app.kit import container, db, tenancy
from app.kit.jobs import enqueue
from app.kit.storage import Storage, StorageUnavailable
from tests.delivery.exports.conftest import read_answer
from tests.factories.labels import make_labeled
from tests.factories.orgs import get_data


@pytest.fixture
def completed_export(exports: Any) -> dict[str, Any]:
    """A completed export of three label sets."""
    make_labeled(exports.org, 3)
    return dict(exports.make())


def download(exports: Any, completed_export: dict[str, Any], **headers: str) -> Any:
    return exports.api.get(completed_export["download_path"], headers=headers)


def test_the_whole_file(exports: Any, completed_export: dict[str, Any]) -> None:
    answer = download(exports, completed_export)
    assert answer.status_code == 200
    assert answer.mimetype == "application/x-ndjson"
    assert answer.headers["ETag"] == f'"{completed_export["sha256"]}"'
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert answer.content_length == completed_export["size_bytes"]
    name = f'filename="export-{completed_export["id"]}.jsonl"'
    assert name in answer.headers["Content-Disposition"]
    assert hashlib.sha256(answer.data).hexdigest() == completed_export["sha256"]
    csv = download(exports, exports.make("csv"))
    assert csv.headers["Content-Type"] == "text/csv; charset=utf-8"


def test_ranges_put_together_are_the_file(exports: Any, completed_export: dict[str, Any]) -> None:
    size = completed_export["size_bytes"]
    parts = []
    for start in range(0, size, 1000):
        answer = download(exports, completed_export, Range=f"bytes={start}-{start + 999}")
        assert answer.status_code == 206
        end = min(start + 999, size - 1)
        assert answer.headers["Content-Range"] == f"bytes {start}-{end}/{size}"
        parts.append(answer.data)
    assert hashlib.sha256(b"".join(parts)).hexdigest() == completed_export["sha256"]
    tail = download(exports, completed_export, Range="bytes=-10")
    assert tail.data == b"".join(parts)[-10:]
    outside = download(exports, completed_export, Range=f"bytes={size}-")
    assert outside.status_code == 416
    assert outside.headers["Content-Range"] == f"bytes */{size}"


def test_a_copy_that_is_still_right_is_not_sent_again(
    exports: Any, completed_export: dict[str, Any]
) -> None:
    tag = f'"{completed_export["sha256"]}"'
    for tags in (tag, "*", f"W/{tag}", f'"other", {tag}'):
        unchanged = download(exports, completed_export, **{"If-None-Match": tags})
        assert unchanged.status_code == 304, tags
    assert download(exports, completed_export, **{"If-None-Match": '"other"'}).status_code == 200
    resumed = download(exports, completed_export, **{"Range": "bytes=5-9", "If-Range": tag})
    assert (resumed.status_code, len(resumed.data)) == (206, 5)
    changed = download(exports, completed_export, **{"Range": "bytes=5-9", "If-Range": '"other"'})
    assert (changed.status_code, len(changed.data)) == (200, completed_export["size_bytes"])


def test_every_download_is_on_record(exports: Any, completed_export: dict[str, Any]) -> None:
    download(exports, completed_export)
    assert exports.list_events("export.downloaded") == [
        {
            "job_id": completed_export["id"],
            "format": "jsonl",
            "sha256": completed_export["sha256"],
            "user_id": str(exports.org.users["reviewer"]),
        }
    ]


def list_download_entries(exports: Any, completed_export: dict[str, Any]) -> list[dict[str, Any]]:
    """The audit log's entries about an export's downloads."""
    query = {"target_id": completed_export["id"], "action": "exports.download"}
    path = f"/organizations/{exports.org.slug}/audit-log"
    return list(get_data(exports.org.api("admin").get(path, query_string=query)))


def test_the_audit_log_has_an_entry_for_each_download(
    exports: Any, completed_export: dict[str, Any]
) -> None:
    download(exports, completed_export)
    exports.org.api("admin").get(completed_export["download_path"])
    download(exports, completed_export)
    entries = list_download_entries(exports, completed_export)
    people = [exports.org.email(role) for role in ("reviewer", "admin", "reviewer")]
    assert [entry["actor"]["label"] for entry in entries] == people
    for entry in entries:
        assert entry["actor"]["kind"] == "user"
        assert entry["operation"] == "download_export"
        assert entry["target"] == {
            "type": "exports",
            "id": completed_export["id"],
            "label": "jsonl",
        }
    assert entries[0]["changes"] == {"download_count": [2, 3]}
    assert exports.get(completed_export["id"])["updated_at"] == completed_export["updated_at"]


def test_ranges_by_one_caller_are_one_download(
    exports: Any, completed_export: dict[str, Any]
) -> None:
    with ThreadPoolExecutor(4) as threads:
        ranges = [f"bytes={start}-{start + 9}" for start in range(1, 50, 10)]
        answers = list(threads.map(lambda r: download(exports, completed_export, Range=r), ranges))
    assert {answer.status_code for answer in answers} == {206}
    assert len(list_download_entries(exports, completed_export)) == 1
    exports.org.api("admin").get(completed_export["download_path"], headers={"Range": "bytes=1-9"})
    assert len(list_download_entries(exports, completed_export)) == 2
    # What was sent whole is one each.
    download(exports, completed_export)
    assert len(list_download_entries(exports, completed_export)) == 3


def test_what_sends_nothing_is_no_download(exports: Any, completed_export: dict[str, Any]) -> None:
    tag = f'"{completed_export["sha256"]}"'
    assert download(exports, completed_export, **{"If-None-Match": tag}).status_code == 304
    outside = f"bytes={completed_export['size_bytes']}-"
    assert download(exports, completed_export, Range=outside).status_code >= 400
    exports.api.request("HEAD", completed_export["download_path"])
    assert exports.org.api("labeler").get(completed_export["download_path"]).status_code == 403
    assert list_download_entries(exports, completed_export) == []
    assert exports.list_events("export.downloaded") == []


def test_an_export_that_is_not_done_has_no_file(exports: Any) -> None:
    export_id = exports.start()
    for state in ("queued", "running", "failed", "cancelled"):
        exports.update_export(export_id, "status = :state", state=state)
        error = read_answer(exports.api.get(f"/exports/{export_id}/download"), 409)
        assert (error["code"], error["details"]) == ("conflict", {"state": state})
    assert exports.list_events("export.downloaded") == []


def make_older(exports: Any, export_id: str, interval: str) -> None:
    """Let a file's time have ended an interval ago."""
    exports.update_export(export_id, f"expires_at = now() - interval '{interval}'")


def delete_expired_files(exports: Any) -> None:
    everywhere = tenancy.across_organizations(reason="the job belongs to no organization")
    with exports.org.app.app_context(), everywhere, db.transaction():
        enqueue("exports.expire", {}, organization_id=None, unique_key=uuid4().hex)
    exports.work()


def test_a_file_goes_when_its_time_is_over(exports: Any, completed_export: dict[str, Any]) -> None:
    young = exports.make()
    make_older(exports, completed_export["id"], "10 minutes")
    answer = download(exports, completed_export)
    assert read_answer(answer, 409)["details"] == {"state": "expired"}
    delete_expired_files(exports)
    # Who began in time reads to the end.
    assert exports.is_stored(completed_export["id"])
    make_older(exports, completed_export["id"], "2 hours")
    delete_expired_files(exports)
    assert not exports.is_stored(completed_export["id"])
    assert download(exports, completed_export).json == answer.json
    expired = exports.get(completed_export["id"])
    assert expired["status"] == "completed"
    assert expired["sha256"] == completed_export["sha256"]
    assert expired["expires_at"] < completed_export["expires_at"]
    assert exports.is_stored(young["id"])
    assert download(exports, young).status_code == 200


def test_more_files_than_a_batch_go(
    exports: Any, completed_export: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.delivery.exports.service.running._BATCH_SIZE", 1)
    every = [completed_export["id"], exports.make()["id"], exports.make()["id"]]
    for export_id in every:
        make_older(exports, export_id, "1 day")
    delete_expired_files(exports)
    assert [exports.is_stored(export_id) for export_id in every] == [False, False, False]


def test_the_file_of_a_retry_that_is_cancelled_goes(
    exports: Any, completed_export: dict[str, Any]
) -> None:
    make_older(exports, completed_export["id"], "10 minutes")
    exports.act(completed_export["id"], "retry", 202)
    exports.act(completed_export["id"], "cancel", 200)
    assert exports.get(completed_export["id"])["expires_at"] is None
    delete_expired_files(exports)
    assert not exports.is_stored(completed_export["id"])
    assert exports.sql(
        "SELECT storage_key FROM exports WHERE id = :id", id=completed_export["id"]
    ) == [(None,)]


def test_a_file_that_was_lost(exports: Any, completed_export: dict[str, Any]) -> None:
    container.current().storage.delete(exports.build_storage_key(completed_export["id"]))
    error = read_answer(download(exports, completed_export), 409)
    assert error["details"] == {"state": "expired"}
    assert exports.list_events("export.downloaded") == []


@pytest.mark.parametrize("access", ["get_size", "stream"])
def test_a_storage_that_does_not_answer(
    exports: Any, completed_export: dict[str, Any], monkeypatch: pytest.MonkeyPatch, access: str
) -> None:
    def refuse(*_: Any) -> None:
        raise StorageUnavailable("connection refused")

    monkeypatch.setattr(Storage, access, refuse)
    answer = download(exports, completed_export)
    assert answer.status_code == 503
    assert answer.json["error"]["code"] == "service_unavailable"
    assert answer.headers["Retry-After"] == "10"
    assert exports.list_events("export.downloaded") == []


def test_a_store_with_signed_links_serves_the_file(
    exports: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    completed_export = exports.make()
    signed: list[dict[str, Any]] = []

    def sign(key: str, **options: Any) -> str:
        signed.append({"key": key, **options})
        return "https://store.example/file?signature=x"

    monkeypatch.setattr(container.current().storage, "sign_link", sign)
    path = f"/exports/{completed_export['id']}/download"
    assert exports.api.get(path).status_code == 200
    linked = replace(container.settings(), download_links=True)
    monkeypatch.setattr(container.current(), "settings", linked)
    answer = exports.api.get(path)
    assert answer.status_code == 307
    assert answer.headers["Location"] == "https://store.example/file?signature=x"
    assert answer.headers["Cache-Control"] == "no-store"
    assert signed == [
        {
            "key": exports.build_storage_key(completed_export["id"]),
            "name": f"export-{completed_export['id']}.jsonl",
            "media_type": "application/x-ndjson",
            "seconds": 300,
        }
    ]
    downloads = exports.sql(
        "SELECT download_count FROM exports WHERE id = :id", id=completed_export["id"]
    )
    assert downloads[0][0] == 2
    assert exports.api.request("HEAD", path).status_code == 200
    assert len(signed) == 1
