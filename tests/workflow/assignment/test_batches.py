"""Assignment of more than a transaction's worth, and people who work meanwhile."""

from collections import Counter
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy.exc import OperationalError

from app.kit import bulk, events
from tests.factories import Org
from tests.factories.orgs import get_data
from tests.factories.queueing import run_concurrently
from tests.factories.teams import create_team
from tests.factories.workspace import Workspace, tag
from tests.workflow.assignment.conftest import claim_next, get_user_ids, insert_artifacts, to

Work = Callable[[], None]
_ARTIFACT_COUNT = 600


@pytest.fixture
def workspace(org: Org, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(bulk, "BATCH_SIZE", 3)
    return Workspace(org)


def _assign(workspace: Workspace, number: int, *people: str, **body: Any) -> dict[str, Any]:
    users = {"user_ids": get_user_ids(workspace, *people)} if people else {}
    body = {"filter": {}, "expected_count": number, **users, **body}
    return dict(get_data(workspace.org.api("reviewer").post("/artifacts/bulk-assign", body)))


def _list_assignee_ids(workspace: Workspace) -> dict[UUID, list[str]]:
    rows = workspace.sql("SELECT id, assignees FROM artifacts")
    return {row.id: [assignee["user_id"] for assignee in row.assignees] for row in rows}


def test_turns_go_on_from_batch_to_batch(workspace: Workspace) -> None:
    schema = workspace.schema()
    priorities = (3, 9, 1, 7, 5, 8, 2, 6)
    made = {priority: workspace.artifact(schema, priority=priority) for priority in priorities}
    workspace.artifact(schema, priority=4, status="done")
    result = _assign(workspace, 9, "admin", "labeler", "reviewer", strategy="round_robin")
    assert (result["matched"], result["succeeded"], result["failed"]) == (9, 8, 1)
    people = get_user_ids(workspace, "admin", "labeler", "reviewer")
    assignees = _list_assignee_ids(workspace)
    # Batches are in the order of ids; within a batch the most urgent document comes first.
    order = (9, 3, 1, 8, 7, 5, 6, 2)
    turns = [assignees[made[priority]] for priority in order]
    assert turns == [[people[turn % 3]] for turn in range(8)]


def test_the_least_loaded_comes_first_over_all_batches(workspace: Workspace) -> None:
    schema, users = workspace.schema(), workspace.org.users
    held = {
        workspace.artifact(schema, assignees=to(user_id=users["admin"]), gold=True) for _ in "12345"
    }
    for _ in range(7):
        workspace.artifact(schema)
    filters = {"gold": "false"}
    _assign(workspace, 7, "admin", "labeler", strategy="least_loaded", filter=filters)
    whose = Counter(
        one for number, (one,) in _list_assignee_ids(workspace).items() if number not in held
    )
    assert whose == {str(users["labeler"]): 6, str(users["admin"]): 1}


@pytest.mark.parametrize("spread", [False, True])
def test_everybody_is_notified_once_of_all_their_documents(
    workspace: Workspace, work: Work, spread: bool
) -> None:
    schema, users = workspace.schema(), workspace.org.users
    made = {str(workspace.artifact(schema)) for _ in range(8)}
    strategy = "round_robin" if spread else "everyone"
    _assign(workspace, 8, "admin", "labeler", strategy=strategy)
    batches = workspace.events("artifacts.assigned")
    assert [one["count"] for one in batches] == [3, 3, 2]
    assert {artifact_id for batch in batches for artifact_id in batch["artifact_ids"]} == made
    shares = sum((Counter(batch["counts"]) for batch in batches), Counter())
    assert shares == ({str(users["admin"]): 4, str(users["labeler"]): 4} if spread else {})
    work()
    notifications = workspace.sql("SELECT user_id, title FROM notifications")
    title = f"{4 if spread else 8} documents were assigned to you"
    assert sorted(notifications) == sorted((users[name], title) for name in ("admin", "labeler"))
    # Sent again, it gives nothing that they had not.
    _assign(workspace, 8, "admin", "labeler", strategy=strategy)
    assert workspace.events("artifacts.assigned") == batches
    work()
    assert workspace.sql("SELECT user_id, title FROM notifications") == notifications


def test_whoever_leaves_meanwhile_ends_it(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = workspace.schema()
    for _ in range(8):
        workspace.artifact(schema)
    labeler = workspace.org.users["labeler"]
    checkpoint = bulk.db.checkpoint

    def leave() -> None:
        checkpoint()
        workspace.sql("UPDATE memberships SET role = 'viewer' WHERE user_id = :user", user=labeler)

    monkeypatch.setattr(bulk.db, "checkpoint", leave)
    result = _assign(workspace, 8, "labeler")
    assert (result["succeeded"], result["failed"]) == (3, 5)
    assert {outcome["code"] for outcome in result["outcomes"]} == {"validation_error"}
    assert sorted(map(len, _list_assignee_ids(workspace).values())) == [0] * 5 + [1] * 3
    assert [event["count"] for event in workspace.events("artifacts.assigned")] == [3]


def test_assignees_are_notified_of_what_was_assigned_before_an_error(
    workspace: Workspace, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = workspace.schema()
    for _ in range(8):
        workspace.artifact(schema)
    emit, left = events.emit, [True, True]

    def broken(name: str, data: dict[str, Any]) -> None:
        if name == "artifacts.assigned" and not (left and left.pop()):
            raise OperationalError("INSERT INTO outbox_events", None, Exception("no connection"))
        emit(name, data)

    monkeypatch.setattr(events, "emit", broken)
    result = _assign(workspace, 8, "labeler")
    assert (result["matched"], result["succeeded"], result["failed"]) == (8, 6, 2)
    assert {outcome["code"] for outcome in result["outcomes"]} == {"service_unavailable"}
    assert sorted(map(len, _list_assignee_ids(workspace).values())) == [0] * 2 + [1] * 6
    work()
    (notification,) = workspace.sql("SELECT title FROM notifications")
    assert notification.title == "6 documents were assigned to you"


# --- people who work meanwhile ----------------------------------------------------------------


@pytest.fixture
def busy(org: Org, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Batches small enough that many come and go while people draw and save."""
    monkeypatch.setattr(bulk, "BATCH_SIZE", 100)
    return Workspace(org)


@pytest.mark.parametrize("action", ["archive", "delete"])
def test_people_draw_and_save_while_all_goes(busy: Workspace, action: str) -> None:
    org, schema_id = busy.org, busy.schema()
    insert_artifacts(busy, schema_id, _ARTIFACT_COUNT)
    names = [f"person{n}" for n in range(4)]
    for name in names:
        org.add_user(name, "labeler")

    def act() -> Any:
        body = {"filter": {"schema_id": str(schema_id)}, "expected_count": _ARTIFACT_COUNT}
        return org.api("admin").post(f"/artifacts/bulk-{action}", body)

    def label(name: str) -> list[tuple[str, int]]:
        told = []
        while True:
            next_response = org.api(name).post("/artifacts/next", {"skip_held": True})
            told.append(("next", next_response.status_code))
            if next_response.status_code != 200 or next_response.json["data"] is None:
                return told
            path = f"/artifacts/{next_response.json['data']['id']}/tag-sets"
            draft = org.api(name).post(path, {})
            told.append(("draft", draft.status_code))
            if draft.status_code == 201:
                saved = busy.save(draft.json["data"], [tag("number", "A-1")], by=name)
                told.append(("save", saved.status_code))

    answer, *told = run_concurrently(act, *((lambda n=name: label(n)) for name in names))
    assert answer.status_code == 200, answer.json
    assert answer.json["data"] == {
        "matched": _ARTIFACT_COUNT,
        "succeeded": _ARTIFACT_COUNT,
        "failed": 0,
        "outcomes": [],
    }
    codes = Counter(one for some in told for one in some)
    assert {code for kind, code in codes if kind == "next"} == {200}
    assert {code for kind, code in codes if kind == "draft"} <= {201, 404, 409}
    assert {code for kind, code in codes if kind == "save"} <= {200, 404, 409}
    left = busy.sql("SELECT count(*) AS n FROM artifacts WHERE NOT archived")[0].n
    assert left == 0
    if action == "archive":
        # What was saved stands, and each document knows of its drafts.
        saves = busy.sql("SELECT count(*) AS n FROM tag_sets WHERE tags <> '[]'")[0].n
        assert saves == codes["save", 200]
        drafts = busy.sql("SELECT sum(CAST(label_counts ->> 'draft' AS int)) AS n FROM artifacts")
        assert (drafts[0].n or 0) == codes["draft", 201]
        rows = busy.sql("SELECT 1 FROM artifacts WHERE claim_user_id IS NOT NULL")
        assert rows == []


def test_nobody_finds_the_pool_empty_while_all_is_assigned(busy: Workspace) -> None:
    schema_id = busy.schema()
    insert_artifacts(busy, schema_id, _ARTIFACT_COUNT)
    team = create_team(busy.org, "labeler", "admin")
    done: list[bool] = []

    def assign() -> dict[str, Any]:
        try:
            return _assign(busy, _ARTIFACT_COUNT, team_id=team)
        finally:
            done.append(True)

    def label(name: str) -> list[UUID | None]:
        found = []
        while not done:
            found.append(claim_next(busy, name, skip_held=True))
        return found

    result, *drawn = run_concurrently(assign, lambda: label("labeler"), lambda: label("admin"))
    assert (result["succeeded"], result["failed"]) == (_ARTIFACT_COUNT, 0)
    taken = [one for found in drawn for one in found]
    assert len(taken) > 1
    assert None not in taken
    assert len(set(taken)) == len(taken)
