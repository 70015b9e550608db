"""Entries that the triggers write: who changed what in which record, when and from where."""

from collections.abc import Callable
from io import BytesIO
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from app.kit import audit, db, jobs, tenancy
from app.kit.jobs import handlers
from app.kit.jobs import runs as runs_of_jobs
from app.kit.jobs.handlers import Job
from tests.factories import Api, Org
from tests.factories.counts import run_sql
from tests.factories.labels import make_labeled, make_schema
from tests.factories.orgs import PASSWORD, get_data
from tests.identity.audit.conftest import HOOK, Entries, Owner, Rows


def _get_last_entry(rows: Rows, action: str) -> Any:
    matching_rows = [row for row in rows if row.action == action]
    assert matching_rows, sorted({row.action for row in rows})
    return matching_rows[-1]


def test_a_person_creates_changes_and_deletes(org: Org, entries: Entries) -> None:
    api = org.api("admin")
    made = api.post("/webhooks", json=HOOK, headers={"X-Request-ID": "r-77"}).json["data"]
    api.patch(f"/webhooks/{made['id']}", json={"description": "new"})
    assert api.delete(f"/webhooks/{made['id']}").status_code == 204
    rows = entries(org.id)
    entry = _get_last_entry(rows, "webhooks.create")
    assert (entry.actor_kind, entry.actor_id) == ("user", org.users["admin"])
    assert entry.actor_label == org.email("admin")
    assert (entry.operation, entry.request_id) == ("create_webhook", "r-77")
    assert entry.ip_address == "127.0.0.1"
    assert (entry.target_type, str(entry.target_id)) == ("webhooks", made["id"])
    assert entry.target_label == HOOK["url"]
    assert entry.changes["events"] == [None, HOOK["events"]]
    assert entry.changes["active"] == [None, True]
    assert _get_last_entry(rows, "webhooks.update").changes == {"description": ["", "new"]}
    assert _get_last_entry(rows, "webhooks.delete").changes["url"] == [HOOK["url"], None]


def test_an_operation_on_one_record_updates_other_records(org: Org, entries: Entries) -> None:
    labeled = make_labeled(org, 1)
    api = org.api("owner")
    get_data(api.post(f"/schemas/{labeled.schema_id}/publish", json={"note": "second"}), 201)
    rows = entries(org.id)
    assert _get_last_entry(rows, "schemas.publish").changes["current_version_number"] == [1, 2]
    made = _get_last_entry(rows, "schema_versions.create")
    assert made.operation == "publish_schema"
    assert made.target_label == "2"


def test_an_api_key_acts_under_its_own_name(org: Org, entries: Entries) -> None:
    body = {"name": "Nightly", "role": "admin"}
    key = org.api("owner").post(f"/organizations/{org.slug}/api-keys", json=body).json["data"]
    api = Api(org.app.test_client(), None, org.slug)
    get_data(api.post("/webhooks", json=HOOK, headers={"X-API-Key": key["key"]}), 201)
    entry = _get_last_entry(entries(org.id), "webhooks.create")
    assert (entry.actor_kind, str(entry.actor_id)) == ("api_key", key["id"])
    assert entry.actor_label == f"Nightly ({org.email('owner')})"


def test_the_operator_acts_for_the_control_plane(org: Org, entries: Entries) -> None:
    token = org.app.test_client()
    headers = {"Authorization": "Bearer control-plane-token-of-the-tests"}
    path = f"/internal/organizations/{org.slug}/suspend"
    get_data(Api(token, None, None).post(path, json={"reason": "unpaid"}, headers=headers))
    entry = _get_last_entry(entries(org.id), "organizations.suspend")
    assert (entry.actor_kind, entry.actor_id, entry.actor_label) == (
        "control_plane",
        None,
        "operator",
    )
    assert entry.changes["status"] == ["active", "suspended"]


def test_a_job_acts_for_the_system_with_the_request_that_caused_it(
    org: Org, entries: Entries, work: Callable[[], None]
) -> None:
    form = {"file": (BytesIO(b"Some words"), "a.txt", "text/plain")}
    answer = org.api("labeler").post("/artifacts", data=form, headers={"X-Request-ID": "r-78"})
    assert answer.status_code == 201, answer.json
    work()
    artifact_rows = [row for row in entries(org.id) if row.target_type == "artifacts"]
    assert (artifact_rows[0].action, artifact_rows[0].actor_kind) == ("artifacts.create", "user")
    by_job = artifact_rows[-1]
    assert (by_job.actor_kind, by_job.actor_id) == ("system", None)
    assert by_job.actor_label == by_job.operation
    assert by_job.operation.startswith("artifacts.")
    assert by_job.changes["status"] == ["processing", "ready"]
    assert by_job.request_id == "r-78"
    assert by_job.ip_address is None


def test_a_login_is_an_action_of_the_user(org: Org, owner_sql: Owner) -> None:
    anonymous, email = org.anonymous(), org.email("labeler")
    sql = "SELECT * FROM audit_entries WHERE target_type = 'sessions' AND request_id = %s"
    wrong = {"email": email, "password": "wrong-password"}
    anonymous.post("/auth/login", json=wrong, headers={"X-Request-ID": f"no-{org.slug}"})
    assert owner_sql(sql, f"no-{org.slug}") == []
    right = {"email": email, "password": PASSWORD}
    answer = anonymous.post("/auth/login", json=right, headers={"X-Request-ID": f"in-{org.slug}"})
    assert answer.status_code == 200
    (entry,) = owner_sql(sql, f"in-{org.slug}")
    assert (entry.action, entry.actor_id) == ("sessions.login", org.users["labeler"])
    assert entry.organization_id == UUID(int=0)
    api = Api(org.app.test_client(), answer.json["data"]["access_token"], None)
    api.post("/auth/logout", headers={"X-Request-ID": f"out-{org.slug}"})
    (entry,) = owner_sql(sql, f"out-{org.slug}")
    assert entry.action == "sessions.logout"
    assert set(entry.changes) >= {"revoked_at"}


def test_a_statement_over_many_rows_writes_one_entry_for_each(
    org: Org, entries: Entries, owner_sql: Owner
) -> None:
    make_labeled(org, 2500, texts=False)
    run_sql(org, "UPDATE artifacts SET priority = 51 WHERE organization_id = :org")
    rows = [r for r in entries(org.id) if r.action == "artifacts.update"]
    assert len(rows) == 2500
    assert len({row.target_id for row in rows}) == 2500
    assert all(row.changes == {"priority": [50, 51]} for row in rows)
    assert all(row.id.version == 7 for row in rows)
    waiting = owner_sql(
        "SELECT cardinality(entries) AS n FROM audit_unsealed WHERE organization_id = %s", org.id
    )
    assert max(row.n for row in waiting) == 1000


def test_a_change_of_ignored_columns_writes_no_entry(org: Org, entries: Entries) -> None:
    make_labeled(org, 1, texts=False)
    before = len(entries(org.id))
    run_sql(
        org,
        "UPDATE artifacts SET claim_expires_at = now(), updated_at = now(),"
        " revision = revision + 1, label_counts = '{}' WHERE organization_id = :org",
    )
    assert len(entries(org.id)) == before


def test_a_rolled_back_change_leaves_nothing(org: Org, entries: Entries) -> None:
    before = len(entries(org.id))
    with org.app.app_context(), tenancy.organization(org.id):
        db.session().execute(
            text("UPDATE organizations SET name = 'x' WHERE id = :o"), {"o": org.id}
        )
        db.session().rollback()
    assert len(entries(org.id)) == before


def test_a_retried_job_is_recorded_once(
    org: Org, entries: Entries, work: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs_of_jobs, "_BACKOFF_SECONDS", (0,))
    schema_id, _ = make_schema(org, [])
    runs: list[int] = []

    @jobs.handler("schemas.rename")
    def rename(job: Job) -> None:
        runs.append(job.attempt)
        db.session().execute(
            text("UPDATE schemas SET name = 'Renamed' WHERE organization_id = :o AND id = :i"),
            {"o": org.id, "i": schema_id},
        )
        if job.attempt == 1:
            raise jobs.Retry("once more")

    try:
        with org.transaction():
            jobs.enqueue("schemas.rename", {}, organization_id=org.id)
        work()
    finally:
        del handlers.HANDLERS["schemas.rename"]
    assert runs == [1, 2]
    assert [r.action for r in entries(org.id)].count("schemas.rename") == 1


def test_a_large_value_is_recorded_by_size_and_digest(org: Org, entries: Entries) -> None:
    api = org.api("admin")
    schema_id, _ = make_schema(org, [])
    get_data(api.patch(f"/schemas/{schema_id}", json={"guidelines": "é" * 2000, "revision": 1}))
    old, new = _get_last_entry(entries(org.id), "schemas.update").changes["guidelines"]
    assert old == ""
    assert new["bytes"] == 4002
    assert len(new["sha256"]) == 64


def test_manual_sql_is_recorded_with_its_database_role(
    org: Org, entries: Entries, owner_sql: Owner
) -> None:
    owner_sql("UPDATE organizations SET name = 'By hand' WHERE id = %s", org.id)
    entry = entries(org.id)[-1]
    assert (entry.action, entry.actor_kind) == ("organizations.update", "system")
    assert entry.actor_label == "database role labeling"


def test_an_actor_without_a_record_is_recorded(org: Org, entries: Entries) -> None:
    actor = uuid4()
    with (
        org.app.app_context(),
        tenancy.organization(org.id),
        audit.bind_actor("control_plane", actor, "flask org rename", operation="rename"),
        db.transaction() as session,
    ):
        session.execute(text("UPDATE organizations SET name = 'y' WHERE id = :o"), {"o": org.id})
    entry = entries(org.id)[-1]
    assert (entry.actor_kind, entry.actor_id, entry.actor_label) == (
        "control_plane",
        actor,
        "flask org rename",
    )


def test_a_membership_is_labeled_with_the_email_address(org: Org, entries: Entries) -> None:
    email = org.email("viewer")
    path = f"/organizations/{org.slug}/members/{org.users['viewer']}"
    assert org.api("owner").patch(path, json={"role": "labeler"}).status_code == 200
    entry = _get_last_entry(entries(org.id), "members.update")
    assert (entry.target_id, entry.target_label) == (org.users["viewer"], email)
    assert entry.changes == {"role": ["viewer", "labeler"]}
