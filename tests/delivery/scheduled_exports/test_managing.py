"""Create, change and delete scheduled exports."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from app.identity.audit.following import AuditFollower
from app.kit import container

MISSING = "00000000-0000-7000-8000-000000000000"
S3 = {
    "bucket": "results",
    "endpoint_url": "http://127.0.0.2:9",
    "access_key_id": "key",
    "secret_access_key": "hush",
}
SERVER = {
    "host": "127.0.0.2",
    "username": "u",
    "host_key": f"SHA256:{'A' * 43}",
    "private_key": "ssh-ed25519 AAAAC3Nza",
}


def test_a_scheduled_export_with_its_defaults(scheduled: Any) -> None:
    created = scheduled.schedule(cron=" 30  6 * * * ")
    assert scheduled.read(created["id"]) == created
    assert (created["cron"], created["time_zone"]) == ("30 6 * * *", "UTC")
    assert (created["mode"], created["paused"]) == ("full", False)
    assert created["filter"]["statuses"] == ["accepted"]
    assert created["include"] == {
        "tags": "accepted",
        "evidence": True,
        "text": False,
        "history": False,
        "removed": False,
    }
    assert created["destination"] == {"kind": "download", "settings": {}, "stored_secrets": []}
    assert (created["last_run"], created["exported_until"]) == (None, None)
    next_run = datetime.fromisoformat(created["next_run_at"])
    assert (next_run.hour, next_run.minute) == (6, 30)
    assert next_run > datetime.now(UTC)


def test_times_are_those_of_the_time_zone(scheduled: Any) -> None:
    created = scheduled.schedule(time_zone="Asia/Kathmandu")
    at = datetime.fromisoformat(created["next_run_at"]).astimezone(ZoneInfo("Asia/Kathmandu"))
    assert (at.hour, at.minute) == (6, 30)
    changed = scheduled.update(created["id"], time_zone="UTC")
    assert datetime.fromisoformat(changed["next_run_at"]).minute == 30
    zone = {"settings": {"time_zone": "Asia/Kathmandu"}}
    scheduled.org.api("owner").patch(f"/organizations/{scheduled.org.slug}", json=zone)
    assert scheduled.schedule()["time_zone"] == "Asia/Kathmandu"


def test_a_period_without_an_end_stays_without(scheduled: Any) -> None:
    created = scheduled.schedule(filter={"created_after": "2026-01-01T00:00:00Z"})
    assert created["filter"]["created_after"] == "2026-01-01T00:00:00Z"
    assert created["filter"]["created_before"] is None


def test_a_filter_can_be_sent_as_it_was_returned(scheduled: Any) -> None:
    created = scheduled.schedule(filter={"created_after": "2026-01-01T00:00:00Z"})
    changed = scheduled.update(created["id"], filter=created["filter"])
    assert changed["filter"] == created["filter"]
    request = {"format": "jsonl", "filter": created["filter"]}
    assert scheduled.api.post("/exports/preview", json=request).status_code == 200


def test_another_choice_of_parts_selects_the_same_tag_sets(scheduled: Any) -> None:
    created = scheduled.schedule()
    parts = scheduled.update(created["id"], include={"text": True})
    assert parts["include"] == {**created["include"], "text": True}
    # A new filter must not add the statuses that nobody requested.
    labeler = {"labeler_id": str(scheduled.org.users["labeler"])}
    filtered = scheduled.update(created["id"], filter=labeler)
    assert filtered["filter"]["statuses"] == ["accepted"]
    incremental = scheduled.schedule(mode="incremental", filter=created["filter"])
    assert incremental["include"] == created["include"]
    changed = scheduled.update(incremental["id"], include={"evidence": False})
    assert changed["include"] == {**created["include"], "evidence": False}


def test_a_filter_with_a_deleted_document_does_not_prevent_other_changes(
    scheduled: Any, schema_id: UUID
) -> None:
    artifact_id = scheduled.get_artifact(scheduled.label(schema_id, [])).id
    where = {"artifact_ids": [str(artifact_id)]}
    created = scheduled.schedule(filter=where)
    assert scheduled.admin.delete(f"/artifacts/{artifact_id}").status_code in (200, 204)
    for change in ({"format": "csv"}, {"options": {"bom": True}}, {"include": {"tags": "latest"}}):
        changed = scheduled.update(created["id"], **change)
        assert changed["filter"]["artifact_ids"] == where["artifact_ids"]
    assert scheduled.update(created["id"], 400, filter=where)["field"] == "filter.artifact_ids"


def test_the_list_shows_all(scheduled: Any) -> None:
    first, second = scheduled.schedule(name="B"), scheduled.schedule(name="A", paused=True)
    listed = scheduled.api.get("/exports/scheduled").json
    assert [export["id"] for export in listed["data"]] == [second["id"], first["id"]]
    assert listed["meta"]["total"] == 2
    by_name = scheduled.api.get("/exports/scheduled", query_string={"sort": "name"}).json["data"]
    assert [export["name"] for export in by_name] == ["A", "B"]
    paused = scheduled.api.get("/exports/scheduled", query_string={"paused": "true"}).json["data"]
    assert [export["id"] for export in paused] == [second["id"]]


def test_a_paused_export_has_no_next_run(scheduled: Any) -> None:
    created = scheduled.schedule()
    paused = scheduled.update(created["id"], paused=True)
    assert (paused["paused"], paused["next_run_at"]) == (True, None)
    resumed = scheduled.update(created["id"], paused=False)
    assert resumed["next_run_at"] == created["next_run_at"]
    assert resumed["revision"] == 3


def test_an_outdated_revision_changes_nothing(scheduled: Any) -> None:
    created = scheduled.schedule()
    scheduled.update(created["id"], name="New", revision=1)
    error = scheduled.update(created["id"], 409, name="Newer", revision=1)
    assert error["code"] == "stale_precondition"
    assert scheduled.read(created["id"])["name"] == "New"
    path = f"/exports/scheduled/{created['id']}"
    assert scheduled.admin.delete(path, headers={"If-Match": '"1"'}).status_code == 409


def test_a_deleted_export_is_gone_and_its_jobs_stay(scheduled: Any) -> None:
    created = scheduled.schedule()
    run = scheduled.run(created["id"])
    path = f"/exports/scheduled/{created['id']}"
    assert scheduled.admin.delete(path).status_code == 204
    assert scheduled.admin.get(path).status_code == 404
    assert scheduled.api.get(f"{path}/runs").status_code == 404
    assert scheduled.get(run["job_id"])["status"] == "completed"


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"cron": "* * * * *"}, "cron"),
        ({"cron": "* * * * * *"}, "cron"),
        ({"cron": "0 0 30 2 *"}, "cron"),
        ({"time_zone": "Mars/Olympus"}, "time_zone"),
        ({"format": "nothing"}, "format"),
        ({"options": {"no": 1}}, "options.no"),
        ({"filter": {"schema_id": MISSING}}, "filter.schema_id"),
        ({"filter": {"decided_after": "2999-01-01T00:00:00Z"}}, "filter.decided_after"),
        ({"mode": "incremental", "include": {"tags": "all"}}, "include.tags"),
        (
            {"mode": "incremental", "filter": {"decided_after": "2026-01-01T00:00:00Z"}},
            "filter.decided_after",
        ),
        ({"mode": "incremental", "format": "label_studio"}, "mode"),
        (
            {"destination": {"kind": "download", "settings": {"bucket": "x"}}},
            "destination.settings.bucket",
        ),
        ({"destination": {"kind": "s3", "settings": {}}}, "destination.settings.bucket"),
        (
            {"destination": {"kind": "s3", "settings": {**S3, "no": 1}}},
            "destination.settings.no",
        ),
        (
            {
                "destination": {
                    "kind": "s3",
                    "settings": {**S3, "endpoint_url": "http://169.254.169.254"},
                }
            },
            "destination.settings.endpoint_url",
        ),
        (
            {"destination": {"kind": "sftp", "settings": SERVER}},
            "destination.settings.private_key",
        ),
        (
            {"destination": {"kind": "http", "settings": {"url": "http://10.0.0.1/x"}}},
            "destination.settings.url",
        ),
    ],
)
def test_what_is_refused(scheduled: Any, members: dict[str, Any], field: str) -> None:
    error = scheduled.schedule(400, **members)
    assert (error["code"], error["field"]) == ("validation_error", field)
    assert scheduled.api.get("/exports/scheduled").json["meta"]["total"] == 0
    created = scheduled.schedule()
    assert scheduled.update(created["id"], 400, **members)["field"] == field
    assert scheduled.read(created["id"]) == created


@pytest.mark.parametrize("host", ["[x", "[::1", "exam\u2100ple.com", "x:port", "x:99999", "."])
def test_a_malformed_host_is_refused(scheduled: Any, host: str) -> None:
    for kind, name, settings in (
        ("s3", "endpoint_url", {**S3, "endpoint_url": f"http://{host}"}),
        ("http", "url", {"url": f"http://{host}?y=/z"}),
    ):
        error = scheduled.schedule(400, destination={"kind": kind, "settings": settings})
        assert error["field"] == f"destination.settings.{name}"


def test_a_port_with_a_decimal_point_is_an_integer(scheduled: Any) -> None:
    settings = {"host": "127.0.0.2", "port": 22.0, "username": "labels", "password": "hush"}
    settings["host_key"] = "SHA256:uNiVztksCsDhcc0u9e8BrrJXVGDxl4ESKhKmWEoF1jE"
    created = scheduled.schedule(destination={"kind": "sftp", "settings": settings})
    assert repr(created["destination"]["settings"]["port"]) == "22"


def test_an_unknown_kind_of_destination_is_refused(scheduled: Any) -> None:
    error = scheduled.schedule(422, destination={"kind": "pigeon", "settings": {}})
    assert error["field"] == "destination.kind"


def test_secrets_are_encrypted_and_never_shown(scheduled: Any) -> None:
    created = scheduled.schedule(destination={"kind": "s3", "settings": S3})
    destination = created["destination"]
    assert destination["stored_secrets"] == ["secret_access_key"]
    assert destination["settings"] == {k: v for k, v in S3.items() if k != "secret_access_key"}
    (row,) = scheduled.sql("SELECT * FROM scheduled_exports WHERE id = :id", id=created["id"])
    assert "hush" not in str(row)
    assert b"hush" in container.keyring().decrypt(row.credentials)
    entries = scheduled.sql(
        "SELECT CAST(changes AS text) FROM audit_entries WHERE organization_id = :org",
        org=scheduled.org.id,
    )
    assert not any("hush" in entry[0] for entry in entries)


def test_stored_secrets_are_kept_for_the_same_host_only(scheduled: Any) -> None:
    created = scheduled.schedule(destination={"kind": "s3", "settings": S3})
    visible_settings = created["destination"]["settings"]

    def change(status: int, **settings: Any) -> dict[str, Any]:
        destination = {"kind": "s3", "settings": {**visible_settings, **settings}}
        return dict(scheduled.update(created["id"], status, destination=destination))

    kept = change(200, prefix="nightly")
    assert kept["destination"]["stored_secrets"] == ["secret_access_key"]
    error = change(400, endpoint_url="http://127.0.0.2:10")
    assert error["field"] == "destination.settings.secret_access_key"
    moved = change(200, endpoint_url="http://127.0.0.2:10", secret_access_key="other")
    assert moved["destination"]["settings"]["endpoint_url"] == "http://127.0.0.2:10"
    back = scheduled.update(created["id"], destination={"kind": "download"})
    assert back["destination"]["stored_secrets"] == []


SIGNED = "http://127.0.0.2:9/in/{name}?sv=2030&sig=hush"


def _build_destination(url: str, **settings: Any) -> dict[str, Any]:
    return {"kind": "http", "settings": {"url": url, **settings}}


def test_the_query_of_a_url_is_never_shown(scheduled: Any) -> None:
    created = scheduled.schedule(destination=_build_destination(SIGNED, token="quiet"))
    assert created["destination"] == {
        **_build_destination("http://127.0.0.2:9/in/{name}"),
        "stored_secrets": ["token", "url"],
    }
    viewer = scheduled.org.api("viewer")
    for path in ("/exports/scheduled", f"/exports/scheduled/{created['id']}"):
        answer = viewer.get(path)
        assert answer.status_code == 200
        assert "in/{name}" in answer.text
        assert "hush" not in answer.text


def test_the_audit_log_does_not_show_the_query_of_a_url(scheduled: Any) -> None:
    scheduled.schedule(destination=_build_destination(SIGNED))
    org = scheduled.org
    log = org.api("admin").get(f"/organizations/{org.slug}/audit-log")
    with org.app.app_context():
        tail = AuditFollower(org.slug).start(100)
    for output in (log.text, str(tail)):
        assert "in/{name}" in output
        assert "hush" not in output


def _get_stored_url(scheduled: Any, export_id: str) -> str:
    (row,) = scheduled.sql("SELECT settings FROM scheduled_exports WHERE id = :id", id=export_id)
    return str(row.settings["url"])


def test_the_query_of_a_url_is_kept_for_the_same_url_only(scheduled: Any) -> None:
    created = scheduled.schedule(destination=_build_destination(SIGNED))
    visible_url = created["destination"]["settings"]["url"]
    assert "?" not in visible_url
    for unchanged in (_build_destination(visible_url), created["destination"]):
        kept = scheduled.update(created["id"], destination=unchanged)
        assert kept["destination"] == created["destination"]
    assert _get_stored_url(scheduled, created["id"]) == SIGNED
    # New secrets for the same URL keep its query as well.
    scheduled.update(created["id"], destination=_build_destination(visible_url, token="quiet"))
    assert _get_stored_url(scheduled, created["id"]) == SIGNED
    cleared = scheduled.update(
        created["id"], destination=_build_destination(f"{visible_url}?", token="quiet")
    )
    assert cleared["destination"]["stored_secrets"] == ["token"]
    scheduled.update(created["id"], destination=_build_destination(SIGNED, token="quiet"))
    elsewhere = visible_url.replace(":9/", ":10/")
    moved = scheduled.update(
        created["id"], destination=_build_destination(elsewhere, token="quiet")
    )
    assert moved["destination"] == {**_build_destination(elsewhere), "stored_secrets": ["token"]}
    assert _get_stored_url(scheduled, created["id"]) == elsewhere


def test_another_format_starts_an_incremental_export_anew(scheduled: Any) -> None:
    created = scheduled.schedule(mode="incremental")
    scheduled.run(created["id"])
    assert scheduled.read(created["id"])["exported_until"] is not None
    assert scheduled.update(created["id"], name="Other")["exported_until"] is not None
    changed = scheduled.update(created["id"], format="csv")
    assert (changed["format"], changed["exported_until"]) == ("csv", None)
