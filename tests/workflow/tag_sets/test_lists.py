"""Lists, and what labelers who must label blind may see."""

from typing import Any

import pytest

from app.workflow.tag_sets.queries import listing
from tests.factories import Org
from tests.factories.errors import check_invalid_field
from tests.factories.statements import record_statements
from tests.factories.workspace import Workspace
from tests.workflow.actions import accept, publish, reject, start_draft, submit


def _ids(workspace: Workspace, query: str = "", *, by: str = "reviewer") -> list[str]:
    answer = workspace.org.api(by).get(f"/tag-sets{query}")
    assert answer.status_code == 200, answer.json
    assert answer.json["meta"]["total"] == len(answer.json["data"])
    return [item["id"] for item in answer.json["data"]]


def test_the_list_shows_what_get_shows(workspace: Workspace) -> None:
    saved = workspace.saved()
    answer = workspace.org.api("reviewer").get("/tag-sets")
    assert answer.json["data"] == [saved]


def test_filters(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    sent = workspace.submitted(workspace.artifact(schema_id))
    draft = workspace.draft(workspace.artifact(), by="reviewer")
    assert _ids(workspace) == [draft["id"], sent["id"]]
    assert _ids(workspace, "?sort=created_at") == [sent["id"], draft["id"]]
    assert _ids(workspace, "?sort=-updated_at") == [draft["id"], sent["id"]]
    for query in (
        f"artifact_id={sent['artifact_id']}",
        f"schema_id={schema_id}",
        f"labeler_id={workspace.org.users['labeler']}",
        "status=submitted",
        f"created_before={draft['created_at']}",
    ):
        assert _ids(workspace, f"?{query}") == [sent["id"]], query
    assert _ids(workspace, f"?created_after={draft['created_at']}") == [draft["id"]]
    assert _ids(workspace, "?source=model") == []
    for query in ("status=nope", "artifact_id=1", "source=x", "sort=name"):
        assert workspace.org.api("reviewer").get(f"/tag-sets?{query}").status_code == 422


def test_several_states(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    sent = workspace.submitted(workspace.artifact(schema_id))["id"]
    draft = workspace.draft(workspace.artifact(schema_id))["id"]
    accepted = workspace.submitted(workspace.artifact(schema_id))
    assert accept(workspace, accepted).status_code == 200
    assert _ids(workspace, "?status=draft&status=submitted") == [draft, sent]
    assert _ids(workspace, "?status=accepted&status=rejected") == [accepted["id"]]
    assert workspace.org.api("reviewer").get("/tag-sets?status=draft&status=x").status_code == 422


def test_by_who_decided(workspace: Workspace, other_org: Org) -> None:
    schema_id = workspace.schema()
    waiting, accepted, rejected = (
        workspace.submitted(workspace.artifact(schema_id)) for _ in range(3)
    )
    assert accept(workspace, accepted).status_code == 200
    assert reject(workspace, rejected, by="admin", send_to="pool").status_code == 200
    users = workspace.org.users
    assert _ids(workspace, f"?reviewer_id={users['reviewer']}") == [accepted["id"]]
    assert _ids(workspace, f"?reviewer_id={users['admin']}&status=rejected") == [rejected["id"]]
    assert _ids(workspace, f"?reviewer_id={users['labeler']}") == []
    assert waiting["id"] in _ids(workspace)
    foreign = other_org.api("reviewer").get(f"/tag-sets?reviewer_id={users['reviewer']}")
    assert foreign.json["meta"]["total"] == 0


def test_pages(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    draft_ids = [workspace.draft(workspace.artifact(schema_id))["id"] for _ in range(5)]
    listed_ids: list[str] = []
    cursor = ""
    for _ in range(3):
        answer = workspace.org.api("reviewer").get(f"/tag-sets?page_size=2{cursor}").json
        assert answer["meta"]["total"] == 5
        listed_ids += [item["id"] for item in answer["data"]]
        cursor = f"&cursor={answer['meta']['next_cursor']}"
    assert listed_ids == draft_ids[::-1]
    assert answer["meta"]["next_cursor"] is None


def _save_overlapping_drafts(workspace: Workspace) -> tuple[str, dict[str, Any], dict[str, Any]]:
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=2))
    workspace.org.add_user("second", "labeler")
    first = workspace.saved(artifact_id)
    second = workspace.saved(artifact_id, by="second")
    return str(artifact_id), first, second


def test_labelers_do_not_see_each_other_before_they_submit(workspace: Workspace) -> None:
    artifact_id, first, second = _save_overlapping_drafts(workspace)
    query = f"?artifact_id={artifact_id}"
    labeler = workspace.org.api("labeler")
    path = f"/tag-sets/{second['id']}"
    assert _ids(workspace, query, by="labeler") == [first["id"]]
    assert _ids(workspace, query, by="second") == [second["id"]]
    hidden = [
        labeler.get(path),
        labeler.put(f"{path}/tags", json={"tags": [], "revision": 2}),
        labeler.post(f"{path}/submit"),
        labeler.delete(path),
    ]
    assert {h.status_code for h in hidden} == {404}
    assert _ids(workspace, query, by="viewer") == []
    for role in ("reviewer", "admin", "owner"):
        assert _ids(workspace, query, by=role) == [second["id"], first["id"]]
        assert workspace.org.api(role).get(path).status_code == 200
    submit(workspace, first)
    # The other one has not submitted yet: it is a draft, and labels blind.
    assert _ids(workspace, query, by="labeler") == [first["id"]]
    assert labeler.get(path).status_code == 404
    assert _ids(workspace, query, by="second") == [second["id"]]
    assert workspace.org.api("second").get(f"/tag-sets/{first['id']}").status_code == 404
    submit(workspace, second, by="second")
    for by in ("labeler", "second", "viewer"):
        assert _ids(workspace, query, by=by) == [second["id"], first["id"]]
    assert labeler.get(path).status_code == 200
    assert labeler.delete(path).status_code == 403


@pytest.mark.parametrize("min_rows_to_scan", [listing._MIN_ROWS_TO_SCAN, 1])
def test_a_labeler_lists_the_same_tag_sets_in_every_order(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, min_rows_to_scan: int
) -> None:
    monkeypatch.setattr(listing, "_MIN_ROWS_TO_SCAN", min_rows_to_scan)
    workspace.org.add_user("second", "labeler")
    blind_schema_id = workspace.schema(labels_per_artifact=2)
    shared_id = workspace.artifact(blind_schema_id)
    workspace.submitted(workspace.artifact(blind_schema_id), by="second")
    workspace.draft(by="second")
    visible = [
        workspace.submitted(by="second"),
        workspace.submitted(shared_id, by="second"),
        workspace.submitted(shared_id),
        workspace.draft(workspace.artifact(blind_schema_id)),
        workspace.draft(),
    ]
    ids = [tag_set["id"] for tag_set in visible]
    assert _ids(workspace, "?sort=created_at", by="labeler") == ids
    touch = "UPDATE tag_sets SET updated_at = now() WHERE id = :id"
    ids.append(ids.pop(1))
    workspace.sql(touch, id=ids[-1])
    with record_statements(workspace.org.app) as statements:
        assert _ids(workspace, "?sort=updated_at", by="labeler") == ids
    # The visibility of the other tag sets is not tested one by one.
    assert not [statement for statement in statements if "EXISTS" in statement]
    assert _ids(workspace, "?sort=-updated_at", by="labeler") == ids[::-1]
    assert _ids(workspace, "?sort=updated_at&status=draft", by="labeler") == ids[2:4]
    second = workspace.org.users["second"]
    query = f"?sort=updated_at&labeler_id={second}"
    assert _ids(workspace, query, by="labeler") == [ids[0], ids[-1]]


def test_a_labeler_who_used_another_version_lists_what_get_shows(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    schema_id = workspace.schema(labels_per_artifact=2)
    artifact_id = workspace.artifact(schema_id)
    first = workspace.submitted(artifact_id, by="second")
    own = workspace.submitted(artifact_id)
    publish(workspace, schema_id, labels_per_artifact=1)
    # As if the first tag set had been rejected, and then labeled with the new version.
    workspace.sql(
        "UPDATE tag_sets SET schema_version_id = schemas.current_version_id FROM schemas"
        " WHERE schemas.id = tag_sets.schema_id AND tag_sets.id = :id",
        id=own["id"],
    )
    api = workspace.org.api("labeler")
    assert api.get(f"/tag-sets/{first['id']}").status_code == 200
    for sort in ("created_at", "updated_at"):
        ids = _ids(workspace, f"?sort={sort}", by="labeler")
        assert sorted(ids) == sorted([first["id"], own["id"]]), sort


def test_who_decided_on_a_hidden_label_set_is_not_found_out(workspace: Workspace) -> None:
    artifact_id, first, second = _save_overlapping_drafts(workspace)
    assert submit(workspace, first).status_code == 200
    assert accept(workspace, first).status_code == 200
    query = f"?artifact_id={artifact_id}&reviewer_id={workspace.org.users['reviewer']}"
    assert _ids(workspace, query) == [first["id"]]
    assert _ids(workspace, query, by="second") == []
    states = f"?artifact_id={artifact_id}&status=accepted&status=draft"
    assert _ids(workspace, states, by="second") == [second["id"]]


def test_a_hidden_label_set_cannot_be_copied(workspace: Workspace) -> None:
    artifact_id, first, _ = _save_overlapping_drafts(workspace)
    workspace.release(artifact_id, by="second")
    workspace.org.add_user("third", "labeler")
    check_invalid_field(start_draft(workspace, artifact_id, source=first["id"], by="third"), "from")


def test_a_submission_elsewhere_opens_nothing(workspace: Workspace) -> None:
    _, _, second = _save_overlapping_drafts(workspace)
    workspace.submitted(workspace.artifact(workspace.schema(labels_per_artifact=2)))
    assert workspace.org.api("labeler").get(f"/tag-sets/{second['id']}").status_code == 404


def test_where_one_label_set_is_enough_all_see_all(workspace: Workspace) -> None:
    sent = workspace.submitted()
    draft = workspace.draft()
    workspace.org.add_user("second", "labeler")
    assert _ids(workspace, by="second") == [sent["id"]], "drafts are their labeler's and reviewers'"
    assert workspace.org.api("second").get(f"/tag-sets/{sent['id']}").status_code == 200
    assert workspace.org.api("second").get(f"/tag-sets/{draft['id']}").status_code == 404


def test_a_schema_that_asks_for_more_makes_those_that_come_blind_to_those_before(
    workspace: Workspace,
) -> None:
    schema_id = workspace.schema()
    sent = workspace.submitted(workspace.artifact(schema_id))
    workspace.org.add_user("second", "labeler")
    path = f"/tag-sets/{sent['id']}"
    assert workspace.org.api("second").get(path).status_code == 200
    # The jobs that follow have not run, so the document's status is still that of the old version.
    publish(workspace, schema_id, run_jobs=False, labels_per_artifact=2)
    assert workspace.org.api("second").get(path).status_code == 404
    assert _ids(workspace, by="second") == []
    draft = workspace.saved(sent["artifact_id"], by="second")
    submit(workspace, draft, by="second")
    assert workspace.org.api("second").get(path).status_code == 200
