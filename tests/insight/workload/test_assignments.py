"""One's own list: what can be labeled or reviewed now, the most urgent first."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from tests.factories import Org
from tests.factories.desk import Desk
from tests.factories.statements import record_statements
from tests.factories.teams import add_members, make_team

Item = dict[str, Any]


def to(**who: Any) -> list[dict[str, Any]]:
    """Assignees of a document."""
    return [{"user_id": None, "team_id": None, kind: str(one)} for kind, one in who.items()]


def _list(desk: Desk, query: str = "", *, by: str = "labeler") -> list[Item]:
    answer = desk.org.api(by).get(f"/users/me/assignments{query}")
    assert answer.status_code == 200, answer.json
    assert answer.json["meta"]["total"] == len(answer.json["data"])
    found: list[Item] = answer.json["data"]
    return found


def _documents(desk: Desk, query: str = "", *, by: str = "labeler") -> list[UUID]:
    return [UUID(item["artifact"]["id"]) for item in _list(desk, query, by=by)]


def test_a_document_is_there_for_whom_it_is_assigned_to(desk: Desk) -> None:
    org, schema = desk.org, desk.schema()
    team = make_team(org)
    due = datetime(2031, 1, 1, tzinfo=UTC)
    named = desk.artifact(
        schema,
        name="a.pdf",
        priority=70,
        due_at=due,
        assignees=to(user_id=org.users["labeler"], team_id=team["id"]),
    )
    theirs = desk.artifact(schema, assignees=to(team_id=team["id"]))
    desk.artifact(schema, assignees=to(user_id=org.users["reviewer"]))
    desk.artifact(schema)
    assert _documents(desk) == [named]
    add_members(org, team, "labeler")
    first, second = _list(desk)
    assert first == {
        "id": str(named),
        "kind": "label",
        "artifact": {"id": str(named), "name": "a.pdf"},
        "schema": {"id": str(schema), "name": "Invoices"},
        "tag_set_id": None,
        "team_id": None,
        "priority": 70,
        "due_at": "2031-01-01T00:00:00Z",
        "overdue": False,
        "claimed_until": None,
    }
    assert (second["id"], second["team_id"]) == (str(theirs), team["id"])


def test_the_most_urgent_comes_first(desk: Desk) -> None:
    schema, now = desk.schema(), datetime.now(UTC)
    mine = to(user_id=desk.org.users["reviewer"])
    wanted: list[dict[str, Any]] = [
        {"priority": 0, "due_at": now - timedelta(days=30)},
        {"priority": 50, "due_at": now - timedelta(days=1)},
        {"priority": 90, "due_at": now + timedelta(days=9)},
        {"priority": 50},
        {"priority": 40, "due_at": now + timedelta(days=2)},
    ]
    made = [desk.artifact(schema, assignees=mine, **w) for w in reversed(wanted)][::-1]
    review = desk.submitted(desk.artifact(schema, priority=60))
    desk.sql(
        "UPDATE tag_sets SET assignee_id = :user WHERE id = :id",
        user=desk.org.users["reviewer"],
        id=review["id"],
    )
    expected = [*made[:3], UUID(review["artifact_id"]), *made[3:]]
    assert _documents(desk, by="reviewer") == expected
    assert _documents(desk, "?sort=-urgency", by="reviewer") == expected[::-1]
    assert [item["overdue"] for item in _list(desk, by="reviewer")] == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]


def test_what_is_begun_is_there(desk: Desk) -> None:
    schema = desk.schema()
    claimed, drafted = desk.artifact(schema), desk.artifact(schema)
    assert desk.org.api("labeler").post(f"/artifacts/{claimed}/claim").status_code == 200
    draft = desk.draft(drafted)
    found = {UUID(item["id"]): item for item in _list(desk)}
    assert set(found) == {claimed, drafted}
    assert found[claimed]["tag_set_id"] is None
    assert found[drafted]["tag_set_id"] == draft["id"]
    for item in found.values():
        assert item["claimed_until"] is not None
    desk.sql("UPDATE artifacts SET claim_expires_at = now() - interval '1 second'")
    (left,) = _list(desk)
    assert (left["id"], left["claimed_until"]) == (str(drafted), None)


def test_what_came_back_is_there_and_what_is_done_is_not(desk: Desk) -> None:
    mine = to(user_id=desk.org.users["labeler"])
    sent = desk.submitted(desk.artifact(assignees=mine))
    assert _list(desk) == []
    body = {"reason": "x", "send_to": "labeler"}
    answer = desk.org.api("reviewer").post(f"/tag-sets/{sent['id']}/reject", json=body)
    assert answer.status_code == 200
    (item,) = _list(desk)
    assert (item["id"], item["tag_set_id"]) == (sent["artifact_id"], sent["id"])


def test_what_was_begun_is_not_there_once_it_is_skipped_or_done(desk: Desk) -> None:
    org = desk.org
    org.add_user("other", "labeler")
    schema = desk.schema()
    skipped, finished = desk.artifact(schema), desk.artifact(schema)
    for one in (skipped, finished):
        desk.draft(one)
    path = f"/artifacts/{skipped}"
    assert org.api("labeler").post(f"{path}/release", {"reason": "Too hard"}).status_code == 200
    assert _documents(desk) == [finished]
    # As of any other, a claim takes it back.
    assert org.api("labeler").post(f"{path}/claim").status_code == 200
    desk.release(skipped)
    assert _documents(desk) == [skipped, finished]
    desk.release(finished)
    assert org.api("other").post(f"/artifacts/{finished}/claim").status_code == 200
    sent = desk.submitted(finished, by="other")
    answer = org.api("reviewer").post(f"/tag-sets/{sent['id']}/accept", json={})
    assert answer.status_code == 200, answer.json
    assert _documents(desk) == [skipped]
    drawn = org.api("labeler").post("/artifacts/next", json={}).json["data"]
    assert drawn["id"] == str(skipped)


def test_what_cannot_be_begun_is_not_there(desk: Desk) -> None:
    org = desk.org
    org.add_user("other", "labeler")
    mine = to(user_id=org.users["labeler"])
    schema = desk.schema()
    open_one, taken = (desk.artifact(schema, assignees=mine) for _ in range(2))
    desk.artifact(schema, assignees=mine, archived=True)
    desk.artifact(schema, assignees=mine, status="processing")
    desk.artifact(schema, assignees=mine, status="done")
    desk.artifact(desk.schema(status="inactive"), assignees=mine)
    unlabeled = desk.artifact(schema, assignees=mine)
    desk.sql("UPDATE artifacts SET schema_id = NULL WHERE id = :id", id=unlabeled)
    assert org.api("other").post(f"/artifacts/{taken}/claim").status_code == 200
    assert _documents(desk) == [open_one]
    desk.release(taken, by="other")
    assert _documents(desk) == [open_one, taken]


def test_of_independent_sets_each_labels_one(desk: Desk) -> None:
    org = desk.org
    for name in ("second", "third"):
        org.add_user(name, "labeler")
    team = make_team(org)
    add_members(org, team, "labeler", "second", "third")
    artifact = desk.artifact(desk.schema(labels_per_artifact=2), assignees=to(team_id=team["id"]))
    desk.submitted(artifact)
    assert _documents(desk) == []
    assert _documents(desk, by="second") == _documents(desk, by="third") == [artifact]
    desk.draft(artifact, by="second")
    # The claim of another does not keep anybody from an independent label set.
    assert _documents(desk, by="second") == _documents(desk, by="third") == [artifact]
    desk.draft(artifact, by="third")
    assert org.api("second").get("/users/me/assignments").json["data"][0]["tag_set_id"]


def test_reviews_are_there_for_reviewers(desk: Desk) -> None:
    org, schema = desk.org, desk.schema()
    named, claimed, free, taken, own = (
        desk.submitted(desk.artifact(schema, name=name), by=by)
        for name, by in (
            ("named", "labeler"),
            ("claimed", "labeler"),
            ("free", "labeler"),
            ("taken", "labeler"),
            ("own", "reviewer"),
        )
    )
    me, other = org.users["reviewer"], org.users["admin"]
    until = datetime.now(UTC) + timedelta(minutes=5)
    for sent, assignee, claimant in (
        (named, me, None),
        (claimed, None, me),
        (taken, me, other),
        (own, me, None),
    ):
        desk.sql(
            "UPDATE tag_sets SET assignee_id = :assignee, claim_user_id = :claimant,"
            " claim_expires_at = :until WHERE id = :id",
            assignee=assignee,
            claimant=claimant,
            until=until if claimant else None,
            id=sent["id"],
        )
    items = _list(desk, by="reviewer")
    assert [item["id"] for item in items] == [named["id"], claimed["id"]]
    assert {item["kind"] for item in items} == {"review"}
    assert items[0]["tag_set_id"] == named["id"]
    assert items[0]["artifact"] == {"id": named["artifact_id"], "name": "named"}
    assert [item["claimed_until"] is not None for item in items] == [False, True]
    assert [item["id"] for item in _list(desk, by="admin")] == [taken["id"]]
    assert free["id"] not in {item["id"] for item in items}
    desk.settings(allow_self_review=True)
    assert own["id"] in {item["id"] for item in _list(desk, by="reviewer")}
    desk.sql("UPDATE tag_sets SET claim_expires_at = now() - interval '1 second'")
    names = {item["artifact"]["name"] for item in _list(desk, by="reviewer")}
    assert names == {"named", "taken", "own"}
    desk.sql("UPDATE memberships SET role = 'labeler' WHERE user_id = :id", id=me)
    assert _list(desk, by="reviewer") == []


def test_the_list_is_filtered_and_paged(desk: Desk) -> None:
    org = desk.org
    team = add_members(org, make_team(org), "reviewer")
    schema, other = desk.schema(), desk.schema()
    due = datetime(2031, 1, 1, tzinfo=UTC)
    one = desk.artifact(schema, priority=90, assignees=to(team_id=team["id"]))
    two = desk.artifact(other, priority=80, due_at=due, assignees=to(user_id=org.users["reviewer"]))
    sent = desk.submitted(desk.artifact(schema, priority=70))
    desk.sql("UPDATE tag_sets SET assignee_id = :user", user=org.users["reviewer"])
    three = UUID(sent["artifact_id"])
    for query, expected in (
        ("", [one, two, three]),
        ("?kind=label", [one, two]),
        ("?kind=review", [three]),
        (f"?team_id={team['id']}", [one]),
        (f"?schema_id={schema}", [one, three]),
        ("?due_before=2032-01-01T00:00:00Z", [two]),
    ):
        assert _documents(desk, query, by="reviewer") == expected, query
    api, seen, cursor = org.api("reviewer"), [], ""
    while True:
        answer = api.get(f"/users/me/assignments?page_size=1{cursor}")
        assert answer.json["meta"]["total"] == 3
        seen += [UUID(item["artifact"]["id"]) for item in answer.json["data"]]
        if answer.json["meta"]["next_cursor"] is None:
            break
        cursor = f"&cursor={answer.json['meta']['next_cursor']}"
    assert seen == [one, two, three]


def test_the_list_needs_an_organization_and_shows_no_other(desk: Desk, other_org: Org) -> None:
    desk.artifact(assignees=to(user_id=desk.org.users["labeler"]))
    api = desk.org.api("labeler")
    api.slug = None
    assert api.get("/users/me/assignments").status_code == 422
    elsewhere = Desk(other_org)
    elsewhere.artifact(assignees=to(user_id=desk.org.users["labeler"]))
    assert len(_list(desk)) == 1
    assert _list(elsewhere) == []


def test_a_long_list_takes_no_more_statements(desk: Desk) -> None:
    schema = desk.schema()
    mine = to(user_id=desk.org.users["labeler"])

    def count() -> int:
        with record_statements(desk.org.app) as ran:
            desk.org.api("labeler").get("/users/me/assignments")
        return len(ran)

    desk.artifact(schema, assignees=mine)
    few = count()
    for _ in range(30):
        desk.artifact(schema, assignees=mine)
    assert count() == few == 2


def test_what_the_draw_would_not_hand_out_is_not_listed(desk: Desk) -> None:
    org = desk.org
    assignees = to(user_id=org.users["labeler"])
    schema, skilled = desk.schema(), desk.schema()
    desk.sql("UPDATE schemas SET required_skill_keys = '{law}' WHERE id = :id", id=skilled)
    plain = desk.artifact(schema, assignees=assignees, priority=60)
    team = make_team(org, "Law")
    hard = desk.artifact(skilled, assignees=to(team_id=team["id"]))
    add_members(org, team, "labeler")
    assert _documents(desk) == [plain]
    add_members(org, make_team(org, "Lawyers", skills=["Law"]), "labeler")
    assert _documents(desk) == [plain, hard]
    path = f"/artifacts/{plain}"
    assert org.api("labeler").post(f"{path}/claim").status_code == 200
    assert org.api("labeler").post(f"{path}/release", {"reason": "Too hard"}).status_code == 200
    assert _documents(desk) == [hard]
    drawn = org.api("labeler").post("/artifacts/next", json={}).json["data"]
    assert drawn["id"] == str(hard)
