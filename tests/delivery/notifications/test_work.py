"""What people are notified of, once each, whatever happens to the job."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from app.delivery.notifications.service import sending
from app.kit import events
from app.kit.emails import MessageTemplates
from app.kit.ids import uuid7
from app.kit.jobs.handlers import HANDLERS
from tests.factories import make_job
from tests.factories.orgs import get_data
from tests.factories.statements import record_statements
from tests.factories.teams import add_members, make_team, make_teams
from tests.factories.workspace import Workspace

Work = Callable[[], None]


def _list_notifications(workspace: Workspace) -> dict[str, list[Any]]:
    """Return the notifications by user name, oldest first."""
    names = {user_id: name for name, user_id in workspace.org.users.items()}
    notifications: dict[str, list[Any]] = {}
    sql = "SELECT user_id, kind, title, body, link FROM notifications ORDER BY id"
    for row in workspace.sql(sql):
        notifications.setdefault(names[row.user_id], []).append(tuple(row)[1:])
    return notifications


def _list_titles(workspace: Workspace) -> dict[str, list[str]]:
    notifications = _list_notifications(workspace)
    return {name: [title for _, title, *_ in notes] for name, notes in notifications.items()}


def _emit(workspace: Workspace, name: str, **data: Any) -> None:
    with workspace.org.transaction():
        events.emit(name, data)


def _work_twice(workspace: Workspace, work: Work) -> None:
    """Run the jobs, and every handler of this feature's again, as after a worker that died late."""
    work()
    rows = workspace.sql("SELECT * FROM jobs WHERE function LIKE 'notifications.%'")
    handlers = [row for row in rows if row.function != "notifications.email"]
    assert handlers
    for row in handlers:
        handler = HANDLERS[row.function]
        job = make_job(row.organization_id, row.args, id=row.id)
        with workspace.org.transaction():
            handler.function([job] if handler.batch else job)


def _emit_assigned(workspace: Workspace, artifacts: list[UUID], **data: Any) -> None:
    payload = {"user_ids": [], "team_ids": [], "by": workspace.org.users["admin"], "due_at": None}
    counted = {"artifact_ids": artifacts, "count": len(artifacts)}
    _emit(workspace, "artifacts.assigned", **{**payload, **counted, **data})


def test_each_user_is_notified_once_of_assigned_documents(workspace: Workspace, work: Work) -> None:
    workspace.org.add_user("second", "labeler")
    users = workspace.org.users
    team = add_members(
        workspace.org, make_team(workspace.org), "second", "labeler", "viewer", "admin"
    )
    artifacts = [workspace.artifact() for _ in range(3)]
    _emit_assigned(
        workspace, artifacts, user_ids=[users["labeler"], users["reviewer"]], team_ids=[team["id"]]
    )
    _work_twice(workspace, work)
    expected = (
        "assignment",
        "3 documents were assigned to you",
        "Admin assigned them to you.\n\ninvoice.txt, …",
        "/api/v1/users/me/assignments",
    )
    # Not who cannot label, nor who did it.
    assert _list_notifications(workspace) == {
        name: [expected] for name in ("labeler", "reviewer", "second")
    }


def test_each_user_is_notified_of_their_share_of_the_documents(
    workspace: Workspace, work: Work
) -> None:
    workspace.org.add_user("second", "labeler")
    artifacts = [str(workspace.artifact()) for _ in range(3)]
    body = {
        "artifact_ids": artifacts,
        "user_ids": [str(workspace.org.users[name]) for name in ("labeler", "second")],
        "strategy": "round_robin",
    }
    get_data(workspace.org.api("admin").post("/artifacts/bulk-assign", json=body))
    _work_twice(workspace, work)
    assert _list_titles(workspace) == {
        "labeler": ["2 documents were assigned to you"],
        "second": ["A document was assigned to you"],
    }


@pytest.mark.parametrize("teams", [1, 2])
def test_users_and_teams_are_notified_of_assignments_by_rules(
    workspace: Workspace, work: Work, teams: int
) -> None:
    workspace.org.add_user("second", "labeler")
    org, names = workspace.org, ("Bills", "Letters")[:teams]
    team_ids = [add_members(org, make_team(org, name), "second")["id"] for name in names]
    labeler = workspace.org.users["labeler"]
    members = {"counts": {str(labeler): 2}, "user_ids": [labeler], "by": None, "count": 5}
    artifacts = [workspace.artifact() for _ in range(5)]
    # Whoever is in two teams got what both did.
    shares = {team_id: 3 // teams + place for place, team_id in enumerate(team_ids)}
    assert sum(shares.values()) == 3
    _emit_assigned(workspace, artifacts, team_ids=list(shares), team_counts=shares, **members)
    _work_twice(workspace, work)
    assert _list_titles(workspace) == {
        "labeler": ["2 documents were assigned to you"],
        "second": ["3 documents were assigned to you"],
    }


def test_users_are_not_notified_of_removed_assignments(workspace: Workspace, work: Work) -> None:
    path = f"/artifacts/{workspace.artifact()}/assign"
    get_data(workspace.org.api("admin").post(path, json={"user_ids": []}))
    work()
    assert _list_notifications(workspace) == {}


def test_a_notification_of_one_document_has_its_name_and_due_time(
    workspace: Workspace, work: Work
) -> None:
    users = workspace.org.users
    workspace.sql("UPDATE users SET time_zone = 'Asia/Tokyo' WHERE id = :id", id=users["labeler"])
    artifact = workspace.artifact(name="Bill 7.pdf")
    members = {"user_ids": [users["labeler"]], "due_at": "2026-12-01T20:00:00Z"}
    _emit_assigned(workspace, [artifact], **members)
    work()
    ((kind, title, body, link),) = _list_notifications(workspace)["labeler"]
    assert (kind, title) == ("assignment", "Bill 7.pdf was assigned to you")
    assert body.startswith("Admin assigned it to you.\n\nIt is due on 2 December 2026, 05:00")
    assert link == f"/api/v1/artifacts/{artifact}"


def test_a_rule_assigns_without_a_name(workspace: Workspace, work: Work) -> None:
    members = {"user_ids": [workspace.org.users["labeler"]], "by": None}
    _emit_assigned(workspace, [workspace.artifact(), workspace.artifact()], **members)
    work()
    assert [note[2] for note in _list_notifications(workspace)["labeler"]] == ["invoice.txt, …"]


def test_former_members_and_deleted_documents_cause_no_notification(
    workspace: Workspace, work: Work
) -> None:
    users = workspace.org.users
    second = workspace.org.add_user("second", "labeler")
    _emit_assigned(workspace, [workspace.artifact(), workspace.artifact()], user_ids=[second])
    _emit_assigned(workspace, [uuid7()], user_ids=[users["labeler"]])
    path = f"/organizations/{workspace.org.slug}/members/{second}"
    assert workspace.org.api("owner").delete(path).status_code == 204
    work()
    assert _list_notifications(workspace) == {}


def test_a_team_of_a_thousand_is_notified_in_few_statements(workspace: Workspace) -> None:
    make_teams(workspace.org, teams=1, users=1000, members_per_team=1000)
    (team,) = workspace.sql("SELECT id FROM teams")
    data = {
        "artifact_ids": [str(workspace.artifact()), str(workspace.artifact())],
        "team_ids": [str(team.id)],
        "by": None,
        "count": 2,
    }
    job = make_job(workspace.org.id, {"event_id": str(uuid7()), "data": data})
    with record_statements(workspace.org.app) as sent, workspace.org.transaction():
        HANDLERS["notifications.artifacts_assigned"].function([job])
    assert workspace.sql("SELECT count(*) FROM notifications")[0].count == 1000
    assert len(sent) <= 7, sent


def test_reviewers_are_notified_of_assigned_reviews(workspace: Workspace, work: Work) -> None:
    users = workspace.org.users
    workspace.org.add_user("senior", "reviewer")
    team = add_members(workspace.org, make_team(workspace.org), "senior", "labeler")
    schema_id = workspace.schema()
    sets = [workspace.submitted(workspace.artifact(schema_id))["id"] for _ in range(2)]
    payload = {"team_id": None, "by": users["admin"], "escalated": False, "reason": None}
    _emit(
        workspace,
        "reviews.assigned",
        **{**payload, "tag_set_ids": sets, "user_ids": [users["reviewer"]]},
    )
    escalated = {"by": users["reviewer"], "escalated": True, "reason": "Two totals?"}
    members = {**payload, **escalated, "user_ids": [], "team_id": team["id"]}
    _emit(workspace, "reviews.assigned", **{**members, "tag_set_ids": sets[:1]})
    _work_twice(workspace, work)
    assert _list_notifications(workspace) == {
        "reviewer": [
            (
                "assignment",
                "2 tag sets were assigned to you for review",
                "Admin assigned them to you.\n\ninvoice.txt, …",
                "/api/v1/users/me/assignments?kind=review",
            )
        ],
        "senior": [
            (
                "assignment",
                "The review of invoice.txt was escalated to you",
                "Reviewer asks you to decide.\n\nTwo totals?",
                f"/api/v1/review-queue/{sets[0]}",
            )
        ],
    }


def _comment(workspace: Workspace, tag_set: Any, body: str, *names: str) -> None:
    mentions = [str(workspace.org.users[name]) for name in names]
    path = f"/tag-sets/{tag_set['id']}/comments"
    answer = workspace.org.api("labeler").post(path, json={"body": body, "mentions": mentions})
    assert answer.status_code == 201, answer.json


def test_who_is_mentioned_reads_the_comment_and_gets_mail(workspace: Workspace, work: Work) -> None:
    draft = workspace.submitted()
    _comment(workspace, draft, "Nobody in particular")
    _comment(workspace, draft, "Which **total**?", "reviewer", "labeler")
    _comment(workspace, draft, "x" * 10_000, "viewer")
    _work_twice(workspace, work)
    notifications = _list_notifications(workspace)
    link = f"/api/v1/tag-sets/{draft['id']}/comments"
    title = "Labeler mentioned you on invoice.txt"
    assert notifications["reviewer"] == [("mention", title, "Which **total**?", link)]
    assert notifications["viewer"] == [("mention", title, "x" * 499 + "…", link)]
    assert set(notifications) == {"reviewer", "viewer"}
    assert len(workspace.sql("SELECT FROM jobs WHERE function = 'letters.send'")) == 2


def test_nobody_is_notified_of_a_deleted_comment(workspace: Workspace, work: Work) -> None:
    draft = workspace.draft()
    _comment(workspace, draft, "Hm", "reviewer")
    assert workspace.org.api("labeler").delete(f"/tag-sets/{draft['id']}").status_code == 204
    work()
    assert _list_notifications(workspace) == {}


def _reject(workspace: Workspace, tag_set: Any, send_to: str) -> None:
    body = {"reason": "The total is wrong.", "send_to": send_to}
    get_data(workspace.org.api("reviewer").post(f"/tag-sets/{tag_set['id']}/reject", json=body))


@pytest.mark.parametrize("by_name", [True, False])
def test_a_labeler_is_notified_of_what_to_correct(
    workspace: Workspace, work: Work, by_name: bool
) -> None:
    sent = workspace.submitted()
    _reject(workspace, sent, str(workspace.org.users["labeler"]) if by_name else "labeler")
    _work_twice(workspace, work)
    assert _list_notifications(workspace) == {
        "labeler": [
            (
                "review_rejected",
                "Your labels for invoice.txt were sent back",
                "The total is wrong.\n\nCorrect them and submit them again.",
                f"/api/v1/tag-sets/{sent['id']}",
            )
        ]
    }


def test_both_labelers_are_notified_of_a_transfer(workspace: Workspace, work: Work) -> None:
    next_labeler_id = workspace.org.add_user("second", "labeler")
    sent = workspace.submitted()
    _reject(workspace, sent, str(next_labeler_id))
    _work_twice(workspace, work)
    (draft,) = workspace.sql("SELECT id FROM tag_sets WHERE status = 'draft'")
    title = "Your labels for invoice.txt were rejected"
    link = f"/api/v1/tag-sets/{sent['id']}"
    assert _list_notifications(workspace) == {
        "labeler": [("review_rejected", title, "The total is wrong.", link)],
        "second": [
            (
                "assignment",
                "invoice.txt was transferred to you",
                "The previous labels were rejected:\n\nThe total is wrong.",
                f"/api/v1/tag-sets/{draft.id}",
            )
        ],
    }


def test_a_labeler_is_notified_of_a_rejection_to_the_pool(workspace: Workspace, work: Work) -> None:
    _reject(workspace, workspace.submitted(), "pool")
    work()
    assert _list_titles(workspace) == {"labeler": ["Your labels for invoice.txt were rejected"]}


def test_everybody_reads_their_own_language(
    workspace: Workspace, work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    english = (Path(sending.__file__).parents[1] / "messages" / "en.toml").read_text()
    german = '[documents_assigned_other]\nsubject = "{count} Dokumente für dich"\ntext = "Neu."\n'
    (tmp_path / "en.toml").write_text(english, encoding="utf-8")
    (tmp_path / "de.toml").write_text(german, encoding="utf-8")
    monkeypatch.setattr(sending, "messages", MessageTemplates(tmp_path))
    second = workspace.org.add_user("second", "labeler")
    workspace.sql("UPDATE users SET locale = 'de-AT' WHERE id = :id", id=second)
    ids = [second, workspace.org.users["labeler"]]
    _emit_assigned(workspace, [workspace.artifact(), workspace.artifact()], user_ids=ids)
    work()
    notifications = _list_notifications(workspace)
    assert notifications["second"][0][1:3] == ("2 Dokumente für dich", "Neu.")
    assert notifications["labeler"][0][1] == "2 documents were assigned to you"
