"""Starting, reading, saving and discarding drafts."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.desk import MEMBERS, Desk, counts, tag


def test_a_draft_starts_empty_and_takes_the_claim(desk: Desk) -> None:
    artifact_id = desk.artifact()
    answer = desk.org.api("labeler").post(f"/artifacts/{artifact_id}/tag-sets", json={})
    assert answer.status_code == 201
    assert answer.headers["ETag"] == '"1"'
    made = answer.json["data"]
    assert made.keys() == MEMBERS
    assert made["labeler"]["id"] == str(desk.org.users["labeler"])
    assert made["labeler"].keys() == {"id", "email", "name"}
    assert (made["status"], made["source"], made["tags"]) == ("draft", "human", [])
    assert made["reviewer"] is None
    row = desk.artifact_row(artifact_id)
    assert row.status == "in_progress"
    assert row.label_counts == counts(draft=1)
    assert row.claim_user_id == desk.org.users["labeler"]
    assert row.claim_expires_at > datetime.now(UTC) + timedelta(minutes=29)
    assert [r.kind for r in desk.revisions(made["id"])] == ["create"]
    assert desk.events("tag_set.created")[0]["tag_set_id"] == made["id"]
    read = desk.org.api("reviewer").get(f"/tag-sets/{made['id']}")
    assert read.json["data"] == made
    assert read.headers["ETag"] == '"1"'


@pytest.mark.parametrize("status", ["processing", "failed", "done"])
def test_a_document_that_is_not_open_is_refused(status: str, desk: Desk) -> None:
    artifact_id = desk.artifact(status=status)
    answer = desk.org.api("labeler").post(f"/artifacts/{artifact_id}/tag-sets", json={})
    assert answer.status_code == 409
    assert answer.json["error"]["details"] == {"state": status}


def test_an_archived_document_is_refused(desk: Desk) -> None:
    artifact_id = desk.artifact(archived=True)
    answer = desk.org.api("labeler").post(f"/artifacts/{artifact_id}/tag-sets", json={})
    assert answer.json["error"]["details"] == {"state": "archived"}


def test_what_the_schema_lacks_is_named(desk: Desk) -> None:
    bare = desk.artifact()
    desk.sql("UPDATE artifacts SET schema_id = NULL WHERE id = :id", id=str(bare))
    closed = desk.artifact(desk.schema(status="inactive"))
    for artifact_id, details in ((bare, {"missing": "schema"}), (closed, {"state": "inactive"})):
        answer = desk.org.api("labeler").post(f"/artifacts/{artifact_id}/tag-sets", json={})
        assert answer.status_code == 409
        assert answer.json["error"]["details"] == details


def test_unknown_and_foreign_documents_are_not_found(desk: Desk, other_org: Org) -> None:
    foreign = Desk(other_org).artifact()
    for artifact_id in (foreign, uuid7()):
        answer = desk.org.api("labeler").post(f"/artifacts/{artifact_id}/tag-sets", json={})
        assert answer.status_code == 404


def test_one_open_draft_per_labeler(desk: Desk) -> None:
    draft = desk.draft()
    answer = desk.org.api("labeler").post(f"/artifacts/{draft['artifact_id']}/tag-sets", json={})
    assert answer.status_code == 409
    assert answer.json["error"]["details"] == {"tag_set_id": draft["id"]}


def test_anothers_live_claim_stands_and_an_expired_one_does_not(desk: Desk) -> None:
    draft = desk.draft()
    path = f"/artifacts/{draft['artifact_id']}/tag-sets"
    desk.org.add_user("second", "labeler")
    refused = desk.org.api("second").post(path, json={})
    assert refused.status_code == 409
    claim = refused.json["error"]["details"]["claim"]
    assert claim["user_id"] == str(desk.org.users["labeler"])
    assert claim["expires_at"].endswith("Z")
    desk.sql(
        "UPDATE artifacts SET claim_expires_at = now() - interval '1 second' WHERE id = :id",
        id=draft["artifact_id"],
    )
    assert desk.org.api("second").post(path, json={}).status_code == 201
    row = desk.artifact_row(draft["artifact_id"])
    assert row.claim_user_id == desk.org.users["second"]
    assert row.label_counts == counts(draft=2)


def test_overlapping_label_sets_need_no_claim_but_different_people(desk: Desk) -> None:
    artifact_id = desk.artifact(desk.schema(labels_per_artifact=2))
    first = desk.submitted(artifact_id)
    desk.org.add_user("second", "labeler")
    desk.draft(artifact_id, by="second")
    again = desk.org.api("labeler").post(f"/artifacts/{artifact_id}/tag-sets", json={})
    assert again.status_code == 409
    assert again.json["error"]["details"] == {"tag_set_id": first["id"]}


def test_a_draft_may_start_from_another_label_set(desk: Desk) -> None:
    first = desk.saved()
    desk.release(first["artifact_id"])
    answer = desk.org.api("reviewer").post(
        f"/artifacts/{first['artifact_id']}/tag-sets", json={"from": first["id"]}
    )
    assert answer.status_code == 201
    assert answer.json["data"]["tags"] == first["tags"]


def _predict(desk: Desk, artifact_id: Any, value: str) -> list[Any]:
    """Let a model say something of a document; the tags."""
    draft = desk.draft(artifact_id, by="admin")
    said = desk.save(draft, [tag("number", value)], by="admin").json["data"]
    as_model = "UPDATE tag_sets SET source = 'model', labeler_id = NULL, status = 'rejected'"
    desk.sql(f"{as_model} WHERE id = :id", id=said["id"])
    desk.release(artifact_id, by="admin")
    return list(said["tags"])


def test_a_draft_may_start_from_the_latest_prediction(desk: Desk) -> None:
    artifact_id = desk.artifact()
    _predict(desk, artifact_id, "A-1")
    latest = _predict(desk, artifact_id, "A-2")
    path = f"/artifacts/{artifact_id}/tag-sets"
    answer = desk.org.api("labeler").post(path, json={"from": "prediction"})
    assert answer.status_code == 201
    made = answer.json["data"]
    assert (made["tags"], made["source"], made["revision"]) == (latest, "human", 1)


def test_who_labels_blind_does_not_start_from_a_prediction(desk: Desk) -> None:
    artifact_id = desk.artifact(desk.schema(labels_per_artifact=2))
    path = f"/artifacts/{artifact_id}/tag-sets"
    none = desk.org.api("labeler").post(path, json={"from": "prediction"})
    assert (none.status_code, none.json["error"]["field"]) == (400, "from")
    _predict(desk, artifact_id, "A-1")
    assert desk.org.api("labeler").post(path, json={"from": "prediction"}).data == none.data
    assert desk.org.api("reviewer").post(path, json={"from": "prediction"}).status_code == 201


def test_copied_tags_that_no_longer_fit_stay_behind(desk: Desk) -> None:
    schema_id = desk.schema()
    first = desk.draft(desk.artifact(schema_id))
    saved = desk.save(first, [tag("number", "A-1"), tag("pages", 3)]).json["data"]
    version_id = uuid7()
    desk.sql(
        "INSERT INTO schema_versions (organization_id, id, schema_id, number, fields,"
        " review_policy, published_at, changes, breaking, created_at, updated_at)"
        " SELECT organization_id, :version, schema_id, 2, fields - 3, review_policy, now(), '[]',"
        " true, now(), now() FROM schema_versions WHERE schema_id = :schema",
        version=version_id,
        schema=schema_id,
    )
    desk.sql(
        "UPDATE schemas SET current_version_id = :version WHERE id = :schema",
        version=version_id,
        schema=schema_id,
    )
    desk.release(first["artifact_id"])
    copy = desk.org.api("reviewer").post(
        f"/artifacts/{first['artifact_id']}/tag-sets", json={"from": saved["id"]}
    )
    assert copy.json["data"]["schema_version_id"] == str(version_id)
    assert [t["field"] for t in copy.json["data"]["tags"]] == ["number"]


def test_from_names_a_label_set_of_the_same_document(desk: Desk, other_org: Org) -> None:
    elsewhere = desk.draft()
    foreign = Desk(other_org).draft()
    path = f"/artifacts/{desk.artifact()}/tag-sets"
    for source in ("prediction", "nonsense", elsewhere["id"], foreign["id"], str(uuid7())):
        answer = desk.org.api("labeler").post(path, json={"from": source})
        assert answer.status_code == 400
        assert answer.json["error"]["code"] == "validation_error"
        assert answer.json["error"]["field"] == "from"


def test_an_idempotency_key_starts_one_draft(desk: Desk) -> None:
    path = f"/artifacts/{desk.artifact()}/tag-sets"
    send = {"json": {}, "headers": {"Idempotency-Key": "one"}}
    first = desk.org.api("labeler").post(path, **send)
    again = desk.org.api("labeler").post(path, **send)
    assert again.status_code == 201
    assert again.json == first.json
    assert again.headers["Idempotency-Replayed"] == "true"


def test_a_draft_can_be_discarded(desk: Desk) -> None:
    draft = desk.saved()
    api = desk.org.api("labeler")
    stale = api.delete(f"/tag-sets/{draft['id']}", headers={"If-Match": '"1"'})
    assert stale.json["error"]["code"] == "stale_precondition"
    assert api.delete(f"/tag-sets/{draft['id']}").status_code == 204
    assert api.get(f"/tag-sets/{draft['id']}").status_code == 404
    assert desk.revisions(draft["id"]) == []
    row = desk.artifact_row(draft["artifact_id"])
    assert (row.status, row.label_counts, row.claim_user_id) == ("ready", counts(), None)
    assert desk.events("tag_set.deleted")[0]["tag_set_id"] == draft["id"]


def test_another_tenants_label_sets_do_not_exist(desk: Desk, other_org: Org) -> None:
    draft = desk.draft()
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
    assert desk.org.api("reviewer").get(path).json["data"]["revision"] == 1
    assert api.get("/tag-sets").json["data"] == []
