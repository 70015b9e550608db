"""Deleting what nothing was labeled with."""

from functools import partial
from typing import Any
from uuid import UUID

import pytest

from tests.factories import Org, run_jobs_of
from tests.factories.errors import check_conflict, check_stale
from tests.factories.queueing import run_concurrently
from tests.factories.workspace import Workspace


@pytest.fixture
def workspace(org: Org) -> Workspace:
    return Workspace(org)


def _rows(workspace: Workspace, table: str, schema_id: Any) -> int:
    column = "id" if table == "schemas" else "schema_id"
    sql = f"SELECT count(*) FROM {table} WHERE {column} = :id"
    return int(workspace.sql(sql, id=str(schema_id))[0][0])


def test_a_schema_goes_with_its_versions(workspace: Workspace) -> None:
    schema = workspace.schema()
    api = workspace.org.api("admin")
    answer = api.delete(f"/schemas/{schema}")
    assert (answer.status_code, answer.data) == (204, b"")
    assert api.get(f"/schemas/{schema}").status_code == 404
    run_jobs_of(workspace.org, "bulk")
    assert _rows(workspace, "schemas", schema) == 0
    assert _rows(workspace, "schema_versions", schema) == 0
    assert api.delete(f"/schemas/{schema}").status_code == 404


def test_its_documents_stay_without_a_schema(workspace: Workspace) -> None:
    schema, other = workspace.schema(), workspace.schema()
    lost, kept = workspace.artifact(schema), workspace.artifact(other)
    assert workspace.org.api("admin").delete(f"/schemas/{schema}").status_code == 204
    run_jobs_of(workspace.org, "bulk")
    admin = workspace.org.api("admin")
    document = admin.get(f"/artifacts/{lost}").json["data"]
    assert (document["schema_id"], document["revision"]) == (None, 2)
    document = admin.get(f"/artifacts/{kept}").json["data"]
    assert (document["schema_id"], document["revision"]) == (str(other), 1)


def test_what_was_labeled_with_stays(workspace: Workspace) -> None:
    schema = workspace.schema()
    for _ in range(2):
        workspace.draft(workspace.artifact(schema))
    free = workspace.artifact(schema)
    check_conflict(workspace.org.api("admin").delete(f"/schemas/{schema}"), tag_sets=2)
    assert _rows(workspace, "schemas", schema) == 1
    assert _rows(workspace, "artifacts", schema) == 3
    assert workspace.org.api("admin").get(f"/artifacts/{free}").json["data"]["revision"] == 1


def test_a_discarded_draft_does_not_stand_in_the_way(workspace: Workspace) -> None:
    schema = workspace.schema()
    draft = workspace.draft(workspace.artifact(schema))
    assert workspace.org.api("labeler").delete(f"/tag-sets/{draft['id']}").status_code == 204
    assert workspace.org.api("admin").delete(f"/schemas/{schema}").status_code == 204


def test_labels_of_a_document_that_has_another_schema_by_now_count(workspace: Workspace) -> None:
    schema, other = workspace.schema(), workspace.schema()
    artifact = workspace.artifact(schema)
    workspace.draft(artifact)
    moved = "UPDATE artifacts SET schema_id = :other WHERE id = :id"
    workspace.sql(moved, other=str(other), id=str(artifact))
    assert workspace.org.api("admin").delete(f"/schemas/{schema}").status_code == 409
    assert workspace.org.api("admin").delete(f"/schemas/{other}").status_code == 204


def test_a_stale_revision_deletes_nothing(workspace: Workspace) -> None:
    schema = workspace.schema()
    api = workspace.org.api("admin")
    check_stale(api.delete(f"/schemas/{schema}", headers={"If-Match": '"7"'}), 1)
    assert api.delete(f"/schemas/{schema}", headers={"If-Match": '"1"'}).status_code == 204


@pytest.mark.parametrize("role", ["viewer", "labeler", "reviewer"])
def test_only_admins_delete(workspace: Workspace, role: str) -> None:
    schema = workspace.schema()
    assert workspace.org.api(role).delete(f"/schemas/{schema}").status_code == 403
    assert _rows(workspace, "schemas", schema) == 1


def _delete(workspace: Workspace, schema: UUID) -> int:
    return int(workspace.org.api("admin").delete(f"/schemas/{schema}").status_code)


def _begin(workspace: Workspace, artifact: UUID) -> int:
    path = f"/artifacts/{artifact}/tag-sets"
    return int(workspace.org.api("labeler").post(path, json={}).status_code)


def _upload(workspace: Workspace, schema: UUID, text: str) -> int:
    body = {"name": "a.txt", "text": text, "schema_id": str(schema)}
    return int(workspace.org.api("admin").post("/artifacts", json=body).status_code)


def test_no_label_set_slips_through_while_its_schema_goes(workspace: Workspace) -> None:
    """Eight labelers begin while the schema is deleted: either somebody is first, and it stays, or
    nobody gets a draft."""
    for _ in range(6):
        schema = workspace.schema()
        artifacts = [workspace.artifact(schema) for _ in range(8)]
        deleted, *begun = run_concurrently(
            partial(_delete, workspace, schema),
            *(partial(_begin, workspace, artifact) for artifact in artifacts),
        )
        created = begun.count(201)
        run_jobs_of(workspace.org, "bulk")
        assert _rows(workspace, "tag_sets", schema) == created
        assert _rows(workspace, "schemas", schema) == (0 if deleted == 204 else 1)
        assert deleted == 204 if created == 0 else deleted in (409, 503)


def test_no_document_slips_through_while_its_schema_goes(workspace: Workspace) -> None:
    workspace.org.api("admin")  # logs the admin in before the requests
    for number in range(4):
        schema = workspace.schema()
        deleted, *uploaded = run_concurrently(
            partial(_delete, workspace, schema),
            *(partial(_upload, workspace, schema, f"Text {number} {n}") for n in range(4)),
        )
        assert deleted in (204, 503)
        assert set(uploaded) <= {201, 400, 409}
        if deleted == 204:
            run_jobs_of(workspace.org, "bulk")
            assert _rows(workspace, "artifacts", schema) == 0
            assert _rows(workspace, "schemas", schema) == 0
