"""Starting, reading, saving and discarding drafts."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.desk import FIELDS, Desk, counts, tag
from tests.factories.labels import make_field

MEMBERS = {
    "id", "artifact_id", "schema_id", "schema_version_id", "labeler", "reviewer", "source", "tags",
    "tag_count", "status", "submitted_at", "decided_at", "reason", "rejections", "seconds_spent",
    "comment_count", "merged_from", "superseded_by", "provenance", "created_at", "updated_at",
    "revision",
}  # fmt: skip


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
    read = desk.org.api("viewer").get(f"/tag-sets/{made['id']}")
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


def test_a_save_is_a_revision_and_renews_the_claim(desk: Desk) -> None:
    draft = desk.draft()
    desk.sql(
        "UPDATE artifacts SET claim_expires_at = now() + interval '1 minute' WHERE id = :id",
        id=draft["artifact_id"],
    )
    evidence = [{"page": 2, "box": [0.1, 0.2, 0.3, 0.4], "start": 0, "end": 3, "text": "A-1"}]
    answer = desk.save(
        draft, [tag("number", " A-1 ", confidence=1, evidence=evidence)], seconds_spent=12
    )
    assert answer.status_code == 200
    saved = answer.json["data"]
    assert answer.headers["ETag"] == '"2"'
    assert saved.keys() == MEMBERS
    assert saved["tags"] == [
        {"field": "number", "value": "A-1", "row": None, "confidence": 1.0, "source": "human",
         "evidence": evidence}
    ]  # fmt: skip
    assert (saved["revision"], saved["tag_count"], saved["seconds_spent"]) == (2, 1, 12)
    assert desk.org.api("labeler").get(f"/tag-sets/{draft['id']}").json["data"] == saved
    row = desk.artifact_row(draft["artifact_id"])
    assert row.claim_expires_at > datetime.now(UTC) + timedelta(minutes=29)
    second = desk.save(saved, []).json["data"]
    assert second["seconds_spent"] == 12
    kept = desk.revisions(draft["id"])
    assert [(r.number, r.kind) for r in kept] == [(1, "create"), (2, "save"), (3, "save")]
    assert kept[1].tags == saved["tags"]
    assert kept[1].author_id == desk.org.users["labeler"]
    told = desk.events("tag_set.saved")
    assert [t["revision"] for t in told] == [2, 3]


def test_the_claim_lasts_as_long_as_the_organization_says(desk: Desk) -> None:
    desk.settings(claim_minutes=5)
    draft = desk.draft()
    desk.save(draft, [])
    left = desk.artifact_row(draft["artifact_id"]).claim_expires_at - datetime.now(UTC)
    assert timedelta(minutes=4) < left < timedelta(minutes=5, seconds=5)


def test_a_save_leaves_anothers_claim_alone(desk: Desk) -> None:
    draft = desk.draft()
    desk.sql(
        "UPDATE artifacts SET claim_user_id = :user WHERE id = :id",
        user=desk.org.users["reviewer"],
        id=draft["artifact_id"],
    )
    assert desk.save(draft, []).status_code == 200
    row = desk.artifact_row(draft["artifact_id"])
    assert row.claim_user_id == desk.org.users["reviewer"]


def test_a_save_needs_the_revision_that_was_read(desk: Desk) -> None:
    draft = desk.draft()
    path = f"/tag-sets/{draft['id']}/tags"
    api = desk.org.api("labeler")
    missing = api.put(path, json={"tags": []})
    assert missing.status_code == 422
    assert missing.json["error"]["field"] == "revision"
    assert api.put(path, json={"tags": []}, headers={"If-Match": '"1"'}).status_code == 200
    stale = api.put(path, json={"tags": [], "revision": 1})
    assert stale.status_code == 409
    assert stale.json["error"]["code"] == "stale_precondition"
    assert stale.json["error"]["details"] == {"current_revision": 2}
    assert [r.number for r in desk.revisions(draft["id"])] == [1, 2]


def test_only_the_labeler_or_an_admin_writes(desk: Desk) -> None:
    draft = desk.draft()
    desk.org.add_user("second", "labeler")
    for role in ("second", "reviewer"):
        api = desk.org.api(role)
        refused = [
            desk.save(draft, [], by=role),
            api.post(f"/tag-sets/{draft['id']}/submit"),
            api.delete(f"/tag-sets/{draft['id']}"),
        ]
        assert [r.status_code for r in refused] == [403] * 3
        assert {r.json["error"]["code"] for r in refused} == {"permission_denied"}
    saved = desk.save(draft, [tag("number", "A-1")], by="admin")
    assert saved.json["data"]["labeler"]["id"] == str(desk.org.users["labeler"])
    assert desk.revisions(draft["id"])[-1].author_id == desk.org.users["admin"]
    row = desk.artifact_row(draft["artifact_id"])
    assert row.claim_user_id == desk.org.users["labeler"]


@pytest.mark.parametrize(
    ("tags", "field"),
    [
        ([tag("number", "A"), tag("nope", "x")], "tags.1.field"),
        ([tag("number", "A"), tag("number", "B")], "tags.1.field"),
        ([tag("pages", "many")], "tags.0.value"),
        ([tag("pages", "9" * 40)], "tags.0.value"),
        ([tag("number", "A\x00")], "tags.0.value"),
        ([tag("number", None)], "tags.0.value"),
        ([tag("number", {"deep": {"er": [1]}})], "tags.0.value"),
        ([tag("total", {"amount": "1", "currency": "XXXX"})], "tags.0.value"),
        ([tag("lines.item", "x")], "tags.0.row"),
        ([tag("lines", "x")], "tags.0.field"),
        ([tag("number", "A", row=1)], "tags.0.row"),
        ([tag("number", "A", confidence=1.5)], "tags.0.confidence"),
        ([tag("number", "A", evidence=[{"page": 3}])], "tags.0.evidence.0.page"),
        (
            [tag("number", "A", evidence=[{"page": 1, "box": [0, 0, 2, 1]}])],
            "tags.0.evidence.0.box",
        ),
        ([tag("clause", "A", evidence=[{"start": 0, "end": 1001}])], "tags.0.evidence.0.end"),
        ([tag("clause", "A", evidence=[{"start": 5, "end": 5}])], "tags.0.evidence.0.end"),
        ([tag("number", "A", evidence=[{"text": "\x00"}])], "tags.0.evidence.0.text"),
        ([tag("note", "x")] * 5001, "tags"),
    ],
)  # fmt: skip
def test_tags_that_do_not_fit_are_named(tags: list[Any], field: str, desk: Desk) -> None:
    draft = desk.draft()
    answer = desk.save(draft, tags)
    assert answer.status_code == 400, answer.json
    error = answer.json["error"]
    assert error["code"] == "validation_error"
    assert error["field"] == field
    assert error["details"]["errors"][0]["field"] == field
    assert len(desk.revisions(draft["id"])) == 1


def test_all_misfits_are_listed(desk: Desk) -> None:
    answer = desk.save(desk.draft(), [tag("pages", "x"), tag("number", "A"), tag("nope", 1)])
    found = [e["field"] for e in answer.json["error"]["details"]["errors"]]
    assert found == ["tags.0.value", "tags.2.field"]


@pytest.mark.parametrize(
    ("member", "field"),
    [
        ("x", "tags.0"),
        ([], "tags.0"),
        ({"value": 1}, "tags.0.field"),
        ({"field": None}, "tags.0.field"),
        ({"field": 1}, "tags.0.field"),
        ({"field": "number", "row": "1"}, "tags.0.row"),
        ({"field": "number", "row": True}, "tags.0.row"),
        ({"field": "number", "confidence": "1"}, "tags.0.confidence"),
        ({"field": "number", "source": 1}, "tags.0.source"),
        ({"field": "number", "evidence": {}}, "tags.0.evidence"),
        ({"field": "number", "evidence": ["x"]}, "tags.0.evidence.0"),
        ({"field": "number", "evidence": [{"page": 1.5}]}, "tags.0.evidence.0.page"),
        ({"field": "number", "evidence": [{"note": 1}]}, "tags.0.evidence.0.note"),
        ({"field": "number", "colour": "red"}, "tags.0.colour"),
    ],
)
def test_tags_of_another_shape_are_unprocessable(member: Any, field: str, desk: Desk) -> None:
    answer = desk.save(desk.draft(), [member])
    assert answer.status_code == 422, answer.json
    assert answer.json["error"]["field"] == field


def test_offsets_count_code_points(desk: Desk) -> None:
    # "😀 total" has seven code points, and eight UTF-16 units.
    draft = desk.draft(desk.artifact(text_length=7))
    good = tag("clause", "😀 total", evidence=[{"start": 0, "end": 7, "text": "😀 total"}])
    saved = desk.save(draft, [good])
    assert saved.status_code == 200
    assert saved.json["data"]["tags"][0]["value"] == "😀 total"
    units = tag("clause", "😀 total", evidence=[{"start": 0, "end": 8}])
    refused = desk.save(saved.json["data"], [units])
    assert refused.json["error"]["field"] == "tags.0.evidence.0.end"


def test_half_a_surrogate_pair_is_no_text(desk: Desk) -> None:
    draft = desk.draft()
    raw = b'{"revision": 1, "tags": [{"field": "number", "value": "\\ud83d"}]}'
    answer = desk.org.api("labeler").request(
        "PUT", f"/tag-sets/{draft['id']}/tags", data=raw,
        headers={"Content-Type": "application/json"},
    )  # fmt: skip
    assert answer.status_code == 422


def test_five_thousand_tags(desk: Desk) -> None:
    draft = desk.draft()
    tags = [tag("note", f"n{i}", evidence=[{"start": i % 900, "end": i % 900 + 1}])
            for i in range(5000)]  # fmt: skip
    saved = desk.save(draft, tags).json["data"]
    assert saved["tag_count"] == 5000
    assert saved["tags"][4999]["value"] == "n4999"
    (listed,) = desk.org.api("viewer").get("/tag-sets").json["data"]
    assert listed["tag_count"] == 5000
    assert listed["tags"] is None
    (alone,) = desk.org.api("viewer").get("/tag-sets?page_size=1").json["data"]
    assert len(alone["tags"]) == 5000


def test_rows_and_columns_of_a_table(desk: Desk) -> None:
    tags = [tag("lines.item", "a", row=0), tag("lines.item", "b", row=1)]
    saved = desk.save(desk.draft(), tags).json["data"]
    assert [(t["field"], t["row"]) for t in saved["tags"]] == [("lines.item", 0), ("lines.item", 1)]


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
    assert desk.org.api("viewer").get(path).json["data"]["revision"] == 1
    assert api.get("/tag-sets").json["data"] == []


def test_a_field_of_another_schema_is_refused(desk: Desk) -> None:
    other = desk.schema(fields=[*FIELDS, make_field("elsewhere", "text")])
    desk.save(desk.draft(desk.artifact(other)), [tag("elsewhere", "x")])
    desk.org.add_user("second", "labeler")
    answer = desk.save(desk.draft(by="second"), [tag("elsewhere", "x")], by="second")
    assert answer.json["error"]["field"] == "tags.0.field"
