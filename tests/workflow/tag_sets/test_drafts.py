"""Starting, reading, saving and discarding drafts."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.errors import check_conflict, check_error, check_invalid_field
from tests.factories.orgs import get_data
from tests.factories.workspace import FIELDS, TAG_SET_PROPERTIES, Workspace, counts, tag
from tests.workflow.actions import start_draft


def test_a_draft_starts_empty_and_takes_the_claim(workspace: Workspace) -> None:
    artifact_id = workspace.artifact()
    answer = start_draft(workspace, artifact_id)
    assert answer.status_code == 201
    assert answer.headers["ETag"] == '"1"'
    draft = answer.json["data"]
    assert draft.keys() == TAG_SET_PROPERTIES
    assert draft["labeler"]["id"] == str(workspace.org.users["labeler"])
    assert draft["labeler"].keys() == {"id", "email", "name"}
    assert (draft["status"], draft["source"], draft["tags"]) == ("draft", "human", [])
    assert draft["reviewer"] is None
    row = workspace.artifact_row(artifact_id)
    assert row.status == "in_progress"
    assert row.label_counts == counts(draft=1)
    assert row.claim_user_id == workspace.org.users["labeler"]
    assert row.claim_expires_at > datetime.now(UTC) + timedelta(minutes=29)
    assert [r.kind for r in workspace.revisions(draft["id"])] == ["create"]
    assert workspace.events("tag_set.created")[0]["tag_set_id"] == draft["id"]
    read = workspace.org.api("reviewer").get(f"/tag-sets/{draft['id']}")
    assert read.json["data"] == draft
    assert read.headers["ETag"] == '"1"'


@pytest.mark.parametrize("state", ["processing", "failed", "done", "archived"])
def test_a_document_that_is_not_open_is_refused(state: str, workspace: Workspace) -> None:
    columns = {"archived": True} if state == "archived" else {"status": state}
    check_conflict(start_draft(workspace, workspace.artifact(**columns)), state=state)


def test_what_the_schema_lacks_is_named(workspace: Workspace) -> None:
    bare = workspace.artifact()
    workspace.sql("UPDATE artifacts SET schema_id = NULL WHERE id = :id", id=str(bare))
    closed = workspace.artifact(workspace.schema(status="inactive"))
    for artifact_id, details in ((bare, {"missing": "schema"}), (closed, {"state": "inactive"})):
        check_error(start_draft(workspace, artifact_id), 409, "conflict", details=details)


def test_unknown_and_foreign_documents_are_not_found(workspace: Workspace, other_org: Org) -> None:
    foreign = Workspace(other_org).artifact()
    for artifact_id in (foreign, uuid7()):
        assert start_draft(workspace, artifact_id).status_code == 404


def test_one_open_draft_per_labeler(workspace: Workspace) -> None:
    draft = workspace.draft()
    check_conflict(start_draft(workspace, draft["artifact_id"]), tag_set_id=draft["id"])


def test_a_live_claim_of_another_blocks_a_draft_and_an_expired_one_does_not(
    workspace: Workspace,
) -> None:
    draft = workspace.draft()
    workspace.org.add_user("second", "labeler")
    refused = start_draft(workspace, draft["artifact_id"], by="second")
    assert refused.status_code == 409
    claim = refused.json["error"]["details"]["claim"]
    assert claim["user_id"] == str(workspace.org.users["labeler"])
    assert claim["expires_at"].endswith("Z")
    workspace.sql(
        "UPDATE artifacts SET claim_expires_at = now() - interval '1 second' WHERE id = :id",
        id=draft["artifact_id"],
    )
    assert start_draft(workspace, draft["artifact_id"], by="second").status_code == 201
    row = workspace.artifact_row(draft["artifact_id"])
    assert row.claim_user_id == workspace.org.users["second"]
    assert row.label_counts == counts(draft=2)


def test_overlapping_label_sets_need_no_claim_but_different_people(workspace: Workspace) -> None:
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=2))
    first = workspace.submitted(artifact_id)
    workspace.org.add_user("second", "labeler")
    workspace.draft(artifact_id, by="second")
    check_conflict(start_draft(workspace, artifact_id), tag_set_id=first["id"])


def test_a_draft_may_start_from_another_label_set(workspace: Workspace) -> None:
    first = workspace.saved()
    workspace.release(first["artifact_id"])
    answer = start_draft(workspace, first["artifact_id"], source=first["id"], by="reviewer")
    assert answer.status_code == 201
    assert answer.json["data"]["tags"] == first["tags"]


def _predict(workspace: Workspace, artifact_id: Any, value: str) -> str:
    """Store a prediction of a document; its id."""
    return workspace.predict(artifact_id, [tag("number", value)])


def test_a_draft_may_start_from_the_latest_prediction(workspace: Workspace) -> None:
    artifact_id = workspace.artifact()
    _predict(workspace, artifact_id, "A-1")
    latest = _predict(workspace, artifact_id, "A-2")
    draft = get_data(start_draft(workspace, artifact_id, source="prediction"), 201)
    assert (draft["source"], draft["revision"]) == ("human", 1)
    assert [(copied["value"], copied["source"]) for copied in draft["tags"]] == [("A-2", "model")]
    assert draft["prediction"] == {"id": latest, "model_version": "v1"}
    saved = workspace.save(draft, [tag("number", "A-3")]).json["data"]
    assert saved["prediction"] == draft["prediction"]
    listed = workspace.org.api("reviewer").get("/tag-sets").json["data"]
    assert [tag_set["prediction"] for tag_set in listed] == [draft["prediction"]]


def test_who_labels_blind_does_not_start_from_a_prediction(workspace: Workspace) -> None:
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=2))
    none = start_draft(workspace, artifact_id, source="prediction")
    assert (none.status_code, none.json["error"]["field"]) == (400, "from")
    _predict(workspace, artifact_id, "A-1")
    assert start_draft(workspace, artifact_id, source="prediction").data == none.data
    copy = start_draft(workspace, artifact_id, source="prediction", by="reviewer")
    assert copy.status_code == 201


def test_copied_tags_that_no_longer_fit_stay_behind(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    first = workspace.draft(workspace.artifact(schema_id))
    saved = workspace.save(first, [tag("number", "A-1"), tag("pages", 3)]).json["data"]
    version_id = uuid7()
    workspace.sql(
        "INSERT INTO schema_versions (organization_id, id, schema_id, number, fields,"
        " review_policy, published_at, changes, breaking, created_at, updated_at)"
        " SELECT organization_id, :version, schema_id, 2, fields - 3, review_policy, now(), '[]',"
        " true, now(), now() FROM schema_versions WHERE schema_id = :schema",
        version=version_id,
        schema=schema_id,
    )
    workspace.sql(
        "UPDATE schemas SET current_version_id = :version WHERE id = :schema",
        version=version_id,
        schema=schema_id,
    )
    workspace.release(first["artifact_id"])
    copy = start_draft(workspace, first["artifact_id"], source=saved["id"], by="reviewer")
    assert copy.json["data"]["schema_version_id"] == str(version_id)
    assert [t["field"] for t in copy.json["data"]["tags"]] == ["number"]


def test_one_of_several_copied_tags_stays_if_the_field_allows_only_one_now(
    workspace: Workspace,
) -> None:
    schema_id, admin = workspace.schema(), workspace.org.api("admin")
    artifact_id = workspace.artifact(schema_id)
    notes = [tag("note", "first"), tag("note", "second")]
    draft = workspace.draft(artifact_id)
    assert workspace.save(draft, [tag("number", "A-1"), *notes]).status_code == 200
    workspace.predict(artifact_id, [tag("number", "A-1"), *notes])
    fields = [{**field, "multiple": False} for field in FIELDS]
    body = {"fields": fields, "revision": 1}
    assert admin.patch(f"/schemas/{schema_id}", json=body).status_code == 200
    get_data(admin.post(f"/schemas/{schema_id}/publish", json={"allow_breaking": True}), 201)
    workspace.release(artifact_id)
    for by, source in (("reviewer", draft["id"]), ("admin", "prediction")):
        copy = start_draft(workspace, artifact_id, source=source, by=by)
        assert copy.status_code == 201, copy.json
        assert [t["value"] for t in copy.json["data"]["tags"]] == ["A-1", "first"]
        path = f"/tag-sets/{copy.json['data']['id']}"
        assert workspace.org.api(by).delete(path).status_code == 204


def test_from_names_a_label_set_of_the_same_document(workspace: Workspace, other_org: Org) -> None:
    elsewhere = workspace.draft()
    foreign = Workspace(other_org).draft()
    artifact_id = workspace.artifact()
    for source in ("prediction", "nonsense", elsewhere["id"], foreign["id"], str(uuid7())):
        check_invalid_field(start_draft(workspace, artifact_id, source=source), "from")


def test_an_idempotency_key_starts_one_draft(workspace: Workspace) -> None:
    path = f"/artifacts/{workspace.artifact()}/tag-sets"
    send = {"json": {}, "headers": {"Idempotency-Key": "one"}}
    first = workspace.org.api("labeler").post(path, **send)
    again = workspace.org.api("labeler").post(path, **send)
    assert again.status_code == 201
    assert again.json == first.json
    assert again.headers["Idempotency-Replayed"] == "true"


def test_a_draft_can_be_discarded(workspace: Workspace) -> None:
    draft = workspace.saved()
    api = workspace.org.api("labeler")
    stale = api.delete(f"/tag-sets/{draft['id']}", headers={"If-Match": '"1"'})
    assert stale.json["error"]["code"] == "stale_precondition"
    assert api.delete(f"/tag-sets/{draft['id']}").status_code == 204
    assert api.get(f"/tag-sets/{draft['id']}").status_code == 404
    assert workspace.revisions(draft["id"]) == []
    row = workspace.artifact_row(draft["artifact_id"])
    assert (row.status, row.label_counts, row.claim_user_id) == ("ready", counts(), None)
    assert workspace.events("tag_set.deleted")[0]["tag_set_id"] == draft["id"]


def test_another_tenants_label_sets_do_not_exist(workspace: Workspace, other_org: Org) -> None:
    draft = workspace.draft()
    api = other_org.api("owner")
    path = f"/tag-sets/{draft['id']}"
    answers = [
        api.get(path),
        api.put(f"{path}/tags", json={"tags": [], "revision": 1}),
        api.delete(path),
        api.post(f"{path}/submit"),
        api.post(f"{path}/accept", json={}),
        api.post(f"{path}/reject", json={"reason": "no"}),
    ]
    absent = api.get(f"/tag-sets/{uuid7()}")
    assert {a.data for a in answers} == {absent.data}
    assert {a.status_code for a in answers} == {404}
    assert workspace.org.api("reviewer").get(path).json["data"]["revision"] == 1
    assert api.get("/tag-sets").json["data"] == []
