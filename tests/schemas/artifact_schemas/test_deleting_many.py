"""A schema is gone at once; a job removes it from its documents in batches."""

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from sqlalchemy import text

from app.kit import bulk, db, tenancy
from app.schemas.artifact_schemas.service import deleting, versions
from tests.factories import Org, run_jobs_of
from tests.factories.queueing import KilledError, build_killing_checkpoint
from tests.factories.waiting import wait_until
from tests.factories.workspace import Workspace

_NUMBER = 7


@pytest.fixture
def workspace(org: Org, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(bulk, "BATCH_SIZE", 2)
    return Workspace(org)


@pytest.fixture
def schema_id(workspace: Workspace) -> UUID:
    return workspace.schema()


@pytest.fixture(autouse=True)
def artifact_ids(workspace: Workspace, schema_id: UUID) -> list[UUID]:
    return [workspace.artifact(schema_id) for _ in range(_NUMBER)]


def _count_attached(workspace: Workspace, schema_id: UUID) -> int:
    sql = "SELECT count(*) FROM artifacts WHERE schema_id = :id"
    return int(workspace.sql(sql, id=str(schema_id))[0][0])


def _count_schemas(workspace: Workspace, schema_id: UUID) -> int:
    return len(workspace.sql("SELECT id FROM schemas WHERE id = :id", id=str(schema_id)))


def _delete(workspace: Workspace, schema_id: UUID) -> int:
    return int(workspace.org.api("admin").delete(f"/schemas/{schema_id}").status_code)


def test_the_schema_is_gone_at_once(workspace: Workspace, schema_id: UUID) -> None:
    admin = workspace.org.api("admin")
    version_id = admin.get(f"/schemas/{schema_id}").json["data"]["current_version"]["id"]
    assert _delete(workspace, schema_id) == 204
    assert _count_attached(workspace, schema_id) > 0
    for path in ("", "/versions", "/stats"):
        assert admin.get(f"/schemas/{schema_id}{path}").status_code == 404
    assert admin.get(f"/schema-versions/{version_id}").status_code == 404
    assert admin.get("/schemas").json["meta"]["total"] == 0
    for action in ("activate", "deactivate", "publish", "duplicate", "ai-assist/enable"):
        assert admin.post(f"/schemas/{schema_id}/{action}", {}).status_code == 404
    assert _delete(workspace, schema_id) == 404


def test_its_documents_have_no_schema_at_once(
    workspace: Workspace, schema_id: UUID, artifact_ids: list[UUID]
) -> None:
    _delete(workspace, schema_id)
    org = workspace.org
    listed = org.api("viewer").get("/artifacts").json["data"]
    assert {row["schema_id"] for row in listed} == {None}
    shown = org.api("viewer").get(f"/artifacts/{artifact_ids[-1]}").json["data"]
    assert shown["schema_id"] is None
    answer = org.api("labeler").post(f"/artifacts/{artifact_ids[-1]}/tag-sets", {})
    assert answer.json["error"]["details"] == {"missing": "schema"}
    assert org.api("labeler").post("/artifacts/next", {}).json["data"] is None


def test_new_documents_do_not_get_it(workspace: Workspace, schema_id: UUID) -> None:
    admin, value = workspace.org.api("admin"), str(schema_id)
    body = {"name": "R", "conditions": {"all": []}, "action": {"schema_id": value}}
    rule = admin.post("/routing-rules", body).json["data"]
    body = {"name": "C", "type": "local", "settings": {"path": "/srv"}, "schema_id": value}
    connector = admin.post("/connectors", body).json["data"]
    assert _delete(workspace, schema_id) == 204
    rule = admin.get(f"/routing-rules/{rule['id']}").json["data"]
    assert (rule["enabled"], rule["disabled_reason"]) == (False, "schema_deleted")
    assert admin.get(f"/connectors/{connector['id']}").json["data"]["schema_id"] is None


@pytest.mark.parametrize("name", ["artifact", "new artifact", "routing rule", "export"])
def test_nothing_new_can_refer_to_it(workspace: Workspace, schema_id: UUID, name: str) -> None:
    _delete(workspace, schema_id)
    admin, value = workspace.org.api("admin"), str(schema_id)
    answer = {
        "artifact": lambda: admin.patch(f"/artifacts/{workspace.artifact()}", {"schema_id": value}),
        "new artifact": lambda: admin.post(
            "/artifacts", {"name": "a.txt", "text": "New", "schema_id": value}
        ),
        "routing rule": lambda: admin.post(
            "/routing-rules",
            {"name": "R", "conditions": {"all": []}, "action": {"schema_id": value}},
        ),
        "export": lambda: admin.post(
            "/exports", {"format": "jsonl", "filter": {"schema_id": value}}
        ),
    }[name]()
    assert answer.status_code == 400
    assert answer.json["error"]["field"].endswith("schema_id")


def test_a_job_removes_it_from_its_documents(
    workspace: Workspace, schema_id: UUID, artifact_ids: list[UUID]
) -> None:
    other_id = workspace.artifact(workspace.schema())
    _delete(workspace, schema_id)
    run_jobs_of(workspace.org, "bulk")
    assert (_count_attached(workspace, schema_id), _count_schemas(workspace, schema_id)) == (0, 0)
    listed = workspace.org.api("viewer").get("/artifacts").json["data"]
    revisions = {row["id"]: row["revision"] for row in listed}
    assert revisions == {**dict.fromkeys(map(str, artifact_ids), 2), str(other_id): 1}


def test_the_deletion_waits_for_those_who_create_a_tag_set(
    workspace: Workspace, schema_id: UUID
) -> None:
    """Otherwise, a tag set could be created for a deleted schema."""
    blocked = "SELECT FROM pg_locks WHERE NOT granted AND :pid = ANY (pg_blocking_pids(pid))"
    organization = tenancy.organization(workspace.org.id)
    with workspace.org.app.app_context(), organization, ThreadPoolExecutor() as pool:
        versions.get_active_version(schema_id)
        pid = db.session().scalar(text("SELECT pg_backend_pid()"))
        deletion = pool.submit(_delete, workspace, schema_id)
        wait_until(lambda: workspace.sql(blocked, pid=pid) or deletion.done())
        assert not deletion.done()
        db.session().rollback()
        assert deletion.result() == 204


def test_the_audit_log_names_who_deleted_it(workspace: Workspace, schema_id: UUID) -> None:
    _delete(workspace, schema_id)
    path = (
        f"/organizations/{workspace.org.slug}/audit-log?target_id={schema_id}&sort=-at&page_size=1"
    )
    (entry,) = workspace.org.api("admin").get(path).json["data"]
    assert entry["action"] == "schemas.delete"
    assert entry["actor"]["id"] == str(workspace.org.users["admin"])


@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_killed_job_is_completed_by_the_next_run(
    workspace: Workspace, schema_id: UUID, number: int
) -> None:
    _delete(workspace, schema_id)
    left = _count_attached(workspace, schema_id)
    organization = tenancy.organization(workspace.org.id)
    with workspace.org.app.app_context(), organization, pytest.raises(KilledError):
        deleting.finish_deletion(schema_id, build_killing_checkpoint(number))
    assert _count_attached(workspace, schema_id) == max(left - 2 * (number - 1), 0)
    assert workspace.org.api("admin").get(f"/schemas/{schema_id}").status_code == 404
    run_jobs_of(workspace.org, "bulk")
    assert (_count_attached(workspace, schema_id), _count_schemas(workspace, schema_id)) == (0, 0)


def _predict(workspace: Workspace, artifact_id: UUID) -> None:
    """Store a prediction, and let its document show it."""
    prediction_id = workspace.predict(artifact_id, [])
    sql = "UPDATE artifacts SET prediction = jsonb_build_object('id', :prediction) WHERE id = :id"
    workspace.sql(sql, prediction=prediction_id, id=str(artifact_id))


def test_its_predictions_are_deleted_too(
    workspace: Workspace, schema_id: UUID, artifact_ids: list[UUID]
) -> None:
    other_id = workspace.artifact(workspace.schema())
    for artifact_id in (*artifact_ids, other_id):
        _predict(workspace, artifact_id)
    _delete(workspace, schema_id)
    run_jobs_of(workspace.org, "bulk")
    sql = "SELECT artifact_id FROM predictions WHERE organization_id = :org"
    assert [row[0] for row in workspace.sql(sql, org=workspace.org.id)] == [other_id]
    sql = "SELECT id FROM artifacts WHERE organization_id = :org AND prediction IS NOT NULL"
    assert [row[0] for row in workspace.sql(sql, org=workspace.org.id)] == [other_id]
