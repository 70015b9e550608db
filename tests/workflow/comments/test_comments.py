"""The discussion of a label set: comments, replies, who may take part."""

from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.errors import check_conflict, check_error, check_invalid_field, check_stale
from tests.factories.orgs import get_data
from tests.factories.queueing import run_concurrently
from tests.factories.workspace import Workspace
from tests.workflow.actions import get_tag_set, set_role, submit


def _say(workspace: Workspace, tag_set: Any, *, by: str = "labeler", **body: Any) -> Any:
    path = f"/tag-sets/{tag_set['id']}/comments"
    return workspace.org.api(by).post(path, json={"body": "Look.", **body})


def _said(
    workspace: Workspace, tag_set: Any, *, by: str = "labeler", **body: Any
) -> dict[str, Any]:
    return dict(get_data(_say(workspace, tag_set, by=by, **body), 201))


def _listed(
    workspace: Workspace, tag_set: Any, query: str = "", *, by: str = "reviewer"
) -> list[str]:
    answer = workspace.org.api(by).get(f"/tag-sets/{tag_set['id']}/comments{query}")
    assert answer.status_code == 200, answer.json
    assert answer.json["meta"]["total"] == len(answer.json["data"])
    return [item["id"] for item in answer.json["data"]]


def _resolve(workspace: Workspace, comment: Any, *, by: str, **kwargs: Any) -> Any:
    path = f"/tag-sets/{comment['tag_set_id']}/comments/{comment['id']}/resolve"
    return workspace.org.api(by).post(path, **kwargs)


def _person(workspace: Workspace, name: str) -> dict[str, str]:
    return {
        "id": str(workspace.org.users[name]),
        "email": workspace.org.email(name),
        "name": name.title(),
    }


def test_a_comment_is_kept_as_it_was_said(workspace: Workspace) -> None:
    draft = workspace.draft()
    mentioned = str(workspace.org.users["reviewer"])
    said = _said(workspace, draft, body="**Which** of both?\n", field="total", mentions=[mentioned])
    assert said == {
        "id": said["id"],
        "tag_set_id": draft["id"],
        "thread_id": said["id"],
        "parent_id": None,
        "author": _person(workspace, "labeler"),
        "field": "total",
        "body": "**Which** of both?\n",
        "mentions": [mentioned],
        "resolved_at": None,
        "resolved_by": None,
        "created_at": said["created_at"],
        "updated_at": said["updated_at"],
        "revision": 1,
    }
    listed = workspace.org.api("reviewer").get(f"/tag-sets/{draft['id']}/comments").json["data"]
    assert listed == [said]
    assert workspace.events("tag_set.commented") == [
        {
            "tag_set_id": draft["id"],
            "artifact_id": draft["artifact_id"],
            "comment_id": said["id"],
            "author_id": str(workspace.org.users["labeler"]),
            "mentions": [mentioned],
        }
    ]


def test_threads_are_listed_together_and_in_order(workspace: Workspace) -> None:
    draft = workspace.draft()
    first, second = _said(workspace, draft), _said(workspace, draft, field="number")
    reply = _said(workspace, draft, by="reviewer", parent_id=first["id"])
    deeper = _said(workspace, draft, parent_id=reply["id"], field=None)
    other = _said(workspace, draft, parent_id=second["id"])
    assert (reply["parent_id"], reply["thread_id"]) == (first["id"], first["id"])
    assert (deeper["parent_id"], deeper["thread_id"]) == (reply["id"], first["id"])
    # What the thread is about, the reply is about.
    assert (other["field"], deeper["field"]) == ("number", None)
    thread = [first["id"], reply["id"], deeper["id"]]
    assert _listed(workspace, draft) == [*thread, second["id"], other["id"]]
    in_time = [first["id"], second["id"], reply["id"], deeper["id"], other["id"]]
    assert _listed(workspace, draft, "?sort=created_at") == in_time
    assert _listed(workspace, draft, "?sort=-created_at") == in_time[::-1]
    for query, expected in (
        (f"thread_id={first['id']}", thread),
        (f"parent_id={first['id']}", [reply["id"]]),
        ("field=number", [second["id"], other["id"]]),
        (f"author_id={workspace.org.users['reviewer']}", [reply["id"]]),
        (f"created_after={other['created_at']}", [other["id"]]),
        (f"created_before={second['created_at']}", [first["id"]]),
    ):
        assert _listed(workspace, draft, f"?{query}") == expected, query


def test_pages_go_through_threads(workspace: Workspace) -> None:
    draft = workspace.draft()
    roots = [_said(workspace, draft)["id"] for _ in range(3)]
    replies = [_said(workspace, draft, parent_id=root)["id"] for root in roots]
    listed_ids: list[str] = []
    cursor = ""
    for _ in range(3):
        path = f"/tag-sets/{draft['id']}/comments?page_size=2{cursor}"
        answer = workspace.org.api("reviewer").get(path).json
        assert answer["meta"]["total"] == 6
        listed_ids += [item["id"] for item in answer["data"]]
        cursor = f"&cursor={answer['meta']['next_cursor']}"
    assert listed_ids == [id_ for pair in zip(roots, replies, strict=True) for id_ in pair]
    other = workspace.draft()
    path = f"/tag-sets/{other['id']}/comments?page_size=2{cursor}"
    assert workspace.org.api("reviewer").get(path).status_code == 422


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"body": " \n"}, 422, "body"),
        ({"body": "x" * 10_001}, 422, "body"),
        ({"body": "a\x00b"}, 422, "body"),
        ({"body": None}, 422, "body"),
        ({"resolved_at": "2026-01-01T00:00:00Z"}, 422, "resolved_at"),
        ({"field": "nope"}, 400, "field"),
        ({"field": "lines.nope"}, 400, "field"),
        ({"field": ""}, 400, "field"),
        ({"field": "x" * 130}, 422, "field"),
        ({"parent_id": str(uuid7())}, 400, "parent_id"),
        ({"parent_id": "x"}, 422, "parent_id"),
        ({"mentions": [str(uuid4())]}, 400, "mentions.0"),
        ({"mentions": ["x"]}, 422, "mentions.0"),
        ({"mentions": [str(uuid4())] * 51}, 422, "mentions"),
    ],
)
def test_what_does_not_fit_is_refused(
    workspace: Workspace, body: dict[str, Any], status: int, field: str
) -> None:
    draft = workspace.draft()
    answer = _say(workspace, draft, **body)
    assert (answer.status_code, answer.json["error"]["field"]) == (status, field)
    assert _listed(workspace, draft) == []


@pytest.mark.parametrize("field", ["number", "lines", "lines.item", "clause"])
def test_every_field_table_and_column_can_be_spoken_of(workspace: Workspace, field: str) -> None:
    assert _said(workspace, workspace.draft(), field=field)["field"] == field


def test_a_reply_stays_with_its_label_set_and_its_field(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    draft, other = (workspace.draft(workspace.artifact(schema_id)) for _ in range(2))
    said = _said(workspace, draft, field="total")
    check_invalid_field(_say(workspace, other, parent_id=said["id"]), "parent_id")
    check_invalid_field(_say(workspace, draft, parent_id=said["id"], field="number"), "field")
    assert _said(workspace, draft, parent_id=said["id"], field="total")["field"] == "total"


def test_who_writes_and_who_reads(workspace: Workspace) -> None:
    draft = workspace.draft()
    for role in ("labeler", "reviewer", "admin", "owner"):
        _said(workspace, draft, by=role)
    check_error(_say(workspace, draft, by="viewer"), 403, "insufficient_role")
    assert len(_listed(workspace, draft)) == 4


def test_mentions_are_of_members_once_each(workspace: Workspace, other_org: Org) -> None:
    draft = workspace.draft()
    reviewer, admin = (str(workspace.org.users[name]) for name in ("reviewer", "admin"))
    assert _said(workspace, draft, mentions=[reviewer, admin, reviewer])["mentions"] == [
        reviewer,
        admin,
    ]
    stranger = str(other_org.users["reviewer"])
    check_invalid_field(_say(workspace, draft, mentions=[reviewer, stranger]), "mentions.1")


def test_who_must_label_blind_neither_reads_nor_is_mentioned(workspace: Workspace) -> None:
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=2))
    workspace.org.add_user("second", "labeler")
    draft = workspace.saved(artifact_id)
    said = _said(workspace, draft)
    second = workspace.org.api("second")
    path = f"/tag-sets/{draft['id']}/comments"
    hidden = [
        second.get(path),
        second.post(path, json={"body": "x"}),
        second.post(f"{path}/{said['id']}/resolve"),
    ]
    assert {answer.status_code for answer in hidden} == {404}
    mention = [str(workspace.org.users["second"])]
    check_invalid_field(_say(workspace, draft, mentions=mention), "mentions.0")
    workspace.release(artifact_id)
    workspace.submitted(artifact_id, by="second")
    assert submit(workspace, draft).status_code == 200
    assert _said(workspace, draft, by="reviewer", mentions=mention)["mentions"] == mention
    assert second.get(path).status_code == 200


def test_who_labels_blind_does_not_learn_who_is_done(workspace: Workspace) -> None:
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=2))
    workspace.org.add_user("second", "labeler")
    workspace.org.add_user("third", "labeler")
    workspace.submitted(artifact_id, by="second")
    draft = workspace.saved(artifact_id)
    refused = [
        _say(workspace, draft, mentions=[str(workspace.org.users[n])]) for n in ("second", "third")
    ]
    assert [answer.status_code for answer in refused] == [400, 400]
    assert refused[0].json["error"] == refused[1].json["error"]
    allowed = [str(workspace.org.users[name]) for name in ("reviewer", "labeler")]
    assert _said(workspace, draft, mentions=allowed)["mentions"] == allowed
    second = [str(workspace.org.users["second"])]
    assert submit(workspace, draft).status_code == 200
    assert _said(workspace, draft, by="reviewer", mentions=second)["mentions"] == second


def test_a_thread_is_resolved_once_and_a_reply_opens_it(workspace: Workspace) -> None:
    draft = workspace.draft()
    said, other = _said(workspace, draft), _said(workspace, draft)
    reply = _said(workspace, draft, parent_id=said["id"])
    resolved = _resolve(workspace, said, by="reviewer").json["data"]
    assert resolved["resolved_at"] is not None
    assert resolved["resolved_by"] == _person(workspace, "reviewer")
    assert resolved["revision"] == 2
    again = _resolve(workspace, said, by="admin")
    assert (again.status_code, again.json["data"]) == (200, resolved)
    assert _listed(workspace, draft, "?resolved=true") == [said["id"], reply["id"]]
    assert _listed(workspace, draft, "?resolved=false") == [other["id"]]
    _said(workspace, draft, parent_id=reply["id"])
    assert _listed(workspace, draft, "?resolved=true") == []
    listed = workspace.org.api("reviewer").get(f"/tag-sets/{draft['id']}/comments").json["data"]
    assert (listed[0]["resolved_at"], listed[0]["resolved_by"]) == (None, None)
    assert listed[0]["revision"] == 3


def test_who_resolves(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    workspace.org.add_user("second", "labeler")
    draft = workspace.submitted(workspace.artifact(schema_id))
    by_second, by_reviewer = (_said(workspace, draft, by=name) for name in ("second", "reviewer"))
    assert _resolve(workspace, by_second, by="viewer").status_code == 403
    check_error(_resolve(workspace, by_reviewer, by="second"), 403, "permission_denied")
    # Its author; the label set's labeler.
    assert _resolve(workspace, by_second, by="second").status_code == 200
    assert _resolve(workspace, by_reviewer, by="labeler").status_code == 200


def test_what_cannot_be_resolved(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    draft, other = (workspace.draft(workspace.artifact(schema_id)) for _ in range(2))
    said = _said(workspace, draft)
    reply = _said(workspace, draft, parent_id=said["id"])
    check_conflict(_resolve(workspace, reply, by="labeler"), thread_id=said["id"])
    assert _resolve(workspace, {**said, "tag_set_id": other["id"]}, by="labeler").status_code == 404
    check_stale(_resolve(workspace, said, by="labeler", headers={"If-Match": '"7"'}), 1)
    assert _listed(workspace, draft, "?resolved=true") == []


def test_comments_are_counted_and_are_no_revision(workspace: Workspace) -> None:
    draft = workspace.saved()
    writers, each = ("labeler", "reviewer", "admin", "owner"), 5

    def write(name: str) -> list[int]:
        return [_say(workspace, draft, by=name).status_code for _ in range(each)]

    statuses = run_concurrently(*(partial(write, name) for name in writers))
    assert statuses == [[201] * each] * len(writers)
    assert get_tag_set(workspace, draft) == {**draft, "comment_count": each * len(writers)}
    # The labeler's next save is not stale.
    assert workspace.save(draft, []).status_code == 200


def test_resolved_by_many_at_once_is_resolved_by_one(workspace: Workspace) -> None:
    said = _said(workspace, workspace.draft())
    names = ("labeler", "reviewer", "admin", "owner")
    answers = run_concurrently(*(partial(_resolve, workspace, said, by=name) for name in names))
    assert {a.status_code for a in answers} == {200}
    assert len({str(a.json["data"]) for a in answers}) == 1
    assert answers[0].json["data"]["revision"] == 2


def test_comments_go_with_their_label_set(workspace: Workspace) -> None:
    draft = workspace.draft()
    _said(workspace, draft, parent_id=_said(workspace, draft)["id"])
    assert workspace.org.api("labeler").delete(f"/tag-sets/{draft['id']}").status_code == 204
    assert workspace.sql("SELECT FROM tag_set_comments") == []
    assert _say(workspace, draft).status_code == 404


def test_who_left_stays_the_author(workspace: Workspace) -> None:
    draft = workspace.submitted()
    workspace.org.add_user("second", "labeler")
    said = _said(workspace, draft, by="second")
    person = _person(workspace, "second")
    set_role(workspace, "second", None)
    listed = workspace.org.api("reviewer").get(f"/tag-sets/{draft['id']}/comments").json["data"]
    assert listed == [said]
    assert listed[0]["author"] == person


def test_a_retry_with_a_key_says_it_once(workspace: Workspace) -> None:
    draft = workspace.draft()
    path = f"/tag-sets/{draft['id']}/comments"
    answers = [
        workspace.org.api("labeler").post(
            path, json={"body": "x"}, headers={"Idempotency-Key": "k-1"}
        )
        for _ in range(2)
    ]
    assert [a.status_code for a in answers] == [201, 201]
    assert answers[0].json == answers[1].json
    assert len(_listed(workspace, draft)) == 1


def test_the_audit_log_names_who_commented_and_who_resolved(workspace: Workspace) -> None:
    said = _said(workspace, workspace.draft())
    _resolve(workspace, said, by="reviewer")
    entries = workspace.sql(
        "SELECT action, actor_label FROM audit_entries WHERE organization_id = :org"
        " AND target_id = :id ORDER BY at",
        org=workspace.org.id,
        id=said["id"],
    )
    assert [tuple(entry) for entry in entries] == [
        ("tag_set_comments.create", workspace.org.email("labeler")),
        ("tag_set_comments.resolve", workspace.org.email("reviewer")),
    ]
