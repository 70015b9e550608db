"""The manifest of an export, and the audit trail."""

from typing import Any

from tests.delivery.exports.conftest import read_answer
from tests.factories.labels import make_labeled

MISSING = "00000000-0000-7000-8000-000000000000"


def _read(exports: Any, export_id: str, status: int = 200) -> dict[str, Any]:
    return read_answer(exports.api.get(f"/exports/{export_id}/manifest"), status)


def test_a_manifest_describes_the_file(exports: Any) -> None:
    labeled = make_labeled(exports.org, 3)
    export = exports.make(filter={"schema_id": str(labeled.schema_id)})
    manifest = _read(exports, export["id"])
    (schema,) = manifest.pop("schemas")
    (version,) = schema["versions"]
    assert schema["id"] == str(labeled.schema_id)
    assert (version["number"], version["row_count"]) == (1, 3)
    assert manifest.pop("tool")["name"] == "labeling-service"
    assert export["started_at"] <= manifest.pop("snapshot_at") <= export["finished_at"]
    assert manifest == {
        "job_id": export["id"],
        "scheduled_export_id": None,
        "format": "jsonl",
        "options": export["options"],
        "filter": export["filter"],
        "include": export["include"],
        "row_count": 3,
        "removed_count": 0,
        "file": {
            "name": f"export-{export['id']}.jsonl",
            "media_type": "application/x-ndjson",
            "size_bytes": export["size_bytes"],
            "sha256": export["sha256"],
        },
    }


def test_a_manifest_outlives_its_file(exports: Any) -> None:
    export = exports.make()
    before = _read(exports, export["id"])
    exports.update_export(export["id"], "expires_at = now() - interval '1 day', storage_key = NULL")
    assert _read(exports, export["id"]) == before


def test_exports_without_a_file_have_no_manifest(exports: Any) -> None:
    export_id = exports.start()
    assert _read(exports, export_id, 409)["details"]["state"] == "queued"
    assert _read(exports, MISSING, 404)["code"] == "not_found"
    exports.work()
    # Exports of an earlier release.
    exports.update_export(export_id, "manifest = NULL")
    assert _read(exports, export_id, 409)["details"]["state"] == "unknown"


def _audit(exports: Any, **query: Any) -> list[dict[str, Any]]:
    answer = exports.org.api("admin").get("/exports/audit", query_string=query)
    assert answer.status_code == 200, answer.json
    entries = list(answer.json["data"])
    assert answer.json["meta"]["total"] == len(entries)
    return entries


def test_the_audit_trail_has_the_actions_of_users(exports: Any) -> None:
    export = exports.make()
    exports.download_file(export["id"])
    other = exports.start("csv")
    exports.api.post(f"/exports/{other}/cancel")
    entries = _audit(exports)
    by_users = [entry for entry in reversed(entries) if entry["actor"]["kind"] == "user"]
    assert [(entry["action"], entry["job_id"], entry["format"]) for entry in by_users] == [
        ("exports.create", export["id"], "jsonl"),
        ("exports.download", export["id"], "jsonl"),
        ("exports.create", other, "csv"),
        ("exports.cancel", other, "csv"),
    ]
    assert {entry["actor"]["id"] for entry in by_users} == {str(exports.org.users["reviewer"])}
    assert "exports.run" in {entry["action"] for entry in entries}


def test_the_audit_trail_is_filtered(exports: Any) -> None:
    first, second = exports.make(), exports.make()
    exports.download_file(first["id"])
    assert {entry["job_id"] for entry in _audit(exports, job_id=second["id"])} == {second["id"]}
    (download,) = _audit(exports, action="exports.download")
    assert download["job_id"] == first["id"]
    reviewer = str(exports.org.users["reviewer"])
    own = _audit(exports, actor_id=reviewer, job_id=first["id"])
    assert [entry["action"] for entry in own] == ["exports.download", "exports.create"]
    assert _audit(exports, created_before=first["created_at"]) == []


def test_the_trail_of_another_organization_is_not_seen(exports: Any, other_exports: Any) -> None:
    export = exports.make()
    assert _audit(other_exports) == []
    assert _audit(other_exports, job_id=export["id"]) == []
