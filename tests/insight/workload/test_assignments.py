"""The list of work that the caller can label or review now, most urgent first."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from tests.factories import Org
from tests.factories.pages import read_pages
from tests.factories.statements import record_statements
from tests.factories.teams import add_members, make_team
from tests.factories.workspace import Workspace
from tests.workflow.actions import get_data
from tests.workflow.tag_sets.merges import merge

Item = dict[str, Any]


def build_assignees(**assignee_ids: Any) -> list[dict[str, Any]]:
    """Return the assignees of a document in the API's format."""
    return [
        {"user_id": None, "team_id": None, kind: str(assignee_id)}
        for kind, assignee_id in assignee_ids.items()
    ]


def _list_items(workspace: Workspace, query: str = "", *, by: str = "labeler") -> list[Item]:
    answer = workspace.org.api(by).get(f"/users/me/assignments{query}")
    assert answer.status_code == 200, answer.json
    assert answer.json["meta"]["total"] == len(answer.json["data"])
    items: list[Item] = answer.json["data"]
    return items


def _list_documents(workspace: Workspace, query: str = "", *, by: str = "labeler") -> list[UUID]:
    return [UUID(item["artifact"]["id"]) for item in _list_items(workspace, query, by=by)]


def assign_tag_sets(workspace: Workspace, condition: str, name: str) -> None:
    """Assign the tag sets that meet an SQL condition to a user."""
    statement = f"UPDATE tag_sets SET assignee_id = :user WHERE {condition}"
    workspace.sql(statement, user=workspace.org.users[name])


def claim_tag_sets(workspace: Workspace, condition: str, name: str) -> None:
    """Let a user claim the tag sets that meet an SQL condition, for an hour."""
    changes = "claim_user_id = :user, claim_expires_at = now() + interval '1 hour'"
    statement = f"UPDATE tag_sets SET {changes} WHERE {condition}"
    workspace.sql(statement, user=workspace.org.users[name])


def test_a_document_is_listed_for_its_assignees(workspace: Workspace) -> None:
    org, schema = workspace.org, workspace.schema()
    team = make_team(org)
    due = datetime(2031, 1, 1, tzinfo=UTC)
    named = workspace.artifact(
        schema,
        name="a.pdf",
        priority=70,
        due_at=due,
        assignees=build_assignees(user_id=org.users["labeler"], team_id=team["id"]),
    )
    team_artifact_id = workspace.artifact(schema, assignees=build_assignees(team_id=team["id"]))
    workspace.artifact(schema, assignees=build_assignees(user_id=org.users["reviewer"]))
    workspace.artifact(schema)
    assert _list_documents(workspace) == [named]
    add_members(org, team, "labeler")
    first, second = _list_items(workspace)
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
    assert (second["id"], second["team_id"]) == (str(team_artifact_id), team["id"])


def test_the_most_urgent_comes_first(workspace: Workspace) -> None:
    schema, now = workspace.schema(), datetime.now(UTC)
    assignees = build_assignees(user_id=workspace.org.users["reviewer"])
    properties: list[dict[str, Any]] = [
        {"priority": 0, "due_at": now - timedelta(days=30)},
        {"priority": 50, "due_at": now - timedelta(days=1)},
        {"priority": 90, "due_at": now + timedelta(days=9)},
        {"priority": 50},
        {"priority": 40, "due_at": now + timedelta(days=2)},
    ]
    artifact_ids = [
        workspace.artifact(schema, assignees=assignees, **values) for values in reversed(properties)
    ][::-1]
    review = workspace.submitted(workspace.artifact(schema, priority=60))
    assign_tag_sets(workspace, f"id = '{review['id']}'", "reviewer")
    expected = [*artifact_ids[:3], UUID(review["artifact_id"]), *artifact_ids[3:]]
    assert _list_documents(workspace, by="reviewer") == expected
    assert _list_documents(workspace, "?sort=-urgency", by="reviewer") == expected[::-1]
    overdue = [item["overdue"] for item in _list_items(workspace, by="reviewer")]
    assert overdue == [True] * 2 + [False] * 4


def test_begun_documents_are_listed(workspace: Workspace) -> None:
    schema = workspace.schema()
    claimed, drafted = workspace.artifact(schema), workspace.artifact(schema)
    assert workspace.org.api("labeler").post(f"/artifacts/{claimed}/claim").status_code == 200
    draft = workspace.draft(drafted)
    items = {UUID(item["id"]): item for item in _list_items(workspace)}
    assert set(items) == {claimed, drafted}
    assert items[claimed]["tag_set_id"] is None
    assert items[drafted]["tag_set_id"] == draft["id"]
    for item in items.values():
        assert item["claimed_until"] is not None
    workspace.sql("UPDATE artifacts SET claim_expires_at = now() - interval '1 second'")
    (remaining,) = _list_items(workspace)
    assert (remaining["id"], remaining["claimed_until"]) == (str(drafted), None)


def test_returned_documents_are_listed_and_finished_ones_are_not(workspace: Workspace) -> None:
    assignees = build_assignees(user_id=workspace.org.users["labeler"])
    sent = workspace.submitted(workspace.artifact(assignees=assignees))
    assert _list_items(workspace) == []
    workspace.act(sent, "reject", reason="x", send_to="labeler")
    (item,) = _list_items(workspace)
    assert (item["id"], item["tag_set_id"]) == (sent["artifact_id"], sent["id"])


def test_skipped_or_finished_documents_are_not_listed(workspace: Workspace) -> None:
    org = workspace.org
    org.add_user("other", "labeler")
    schema = workspace.schema()
    skipped, finished = workspace.artifact(schema), workspace.artifact(schema)
    for artifact_id in (skipped, finished):
        workspace.draft(artifact_id)
    path = f"/artifacts/{skipped}"
    assert org.api("labeler").post(f"{path}/release", {"reason": "Too hard"}).status_code == 200
    assert _list_documents(workspace) == [finished]
    # A new claim makes the document available to the labeler again.
    assert org.api("labeler").post(f"{path}/claim").status_code == 200
    workspace.release(skipped)
    assert _list_documents(workspace) == [skipped, finished]
    workspace.release(finished)
    assert org.api("other").post(f"/artifacts/{finished}/claim").status_code == 200
    sent = workspace.submitted(finished, by="other")
    workspace.act(sent, "accept")
    assert _list_documents(workspace) == [skipped]
    next_artifact = org.api("labeler").post("/artifacts/next", json={}).json["data"]
    assert next_artifact["id"] == str(skipped)


def test_documents_that_cannot_be_begun_are_not_listed(workspace: Workspace) -> None:
    org = workspace.org
    org.add_user("other", "labeler")
    assignees = build_assignees(user_id=org.users["labeler"])
    schema = workspace.schema()
    available, claimed = (workspace.artifact(schema, assignees=assignees) for _ in range(2))
    workspace.artifact(schema, assignees=assignees, archived=True)
    workspace.artifact(schema, assignees=assignees, status="processing")
    workspace.artifact(schema, assignees=assignees, status="done")
    workspace.artifact(workspace.schema(status="inactive"), assignees=assignees)
    unlabeled = workspace.artifact(schema, assignees=assignees)
    workspace.sql("UPDATE artifacts SET schema_id = NULL WHERE id = :id", id=unlabeled)
    assert org.api("other").post(f"/artifacts/{claimed}/claim").status_code == 200
    assert _list_documents(workspace) == [available]
    workspace.release(claimed, by="other")
    assert _list_documents(workspace) == [available, claimed]


def test_each_labeler_gets_one_independent_tag_set(workspace: Workspace) -> None:
    org = workspace.org
    for name in ("second", "third"):
        org.add_user(name, "labeler")
    team = make_team(org)
    add_members(org, team, "labeler", "second", "third")
    artifact = workspace.artifact(
        workspace.schema(labels_per_artifact=2), assignees=build_assignees(team_id=team["id"])
    )
    workspace.submitted(artifact)
    assert _list_documents(workspace) == []
    for name in ("second", "third"):
        assert _list_documents(workspace, by=name) == [artifact]
    workspace.draft(artifact, by="second")
    # Another labeler's claim does not prevent an independent tag set.
    for name in ("second", "third"):
        assert _list_documents(workspace, by=name) == [artifact]
    workspace.draft(artifact, by="third")
    assert org.api("second").get("/users/me/assignments").json["data"][0]["tag_set_id"]


def test_reviews_are_listed_for_reviewers(workspace: Workspace) -> None:
    org, schema = workspace.org, workspace.schema()
    named, claimed, free, taken = (
        workspace.submitted(workspace.artifact(schema, name=name))
        for name in ("named", "claimed", "free", "taken")
    )
    own = workspace.submitted(workspace.artifact(schema, name="own"), by="reviewer")
    me, other = org.users["reviewer"], org.users["admin"]
    until = datetime.now(UTC) + timedelta(minutes=5)
    for sent, assignee, claimant in (
        (named, me, None),
        (claimed, None, me),
        (taken, me, other),
        (own, me, None),
    ):
        workspace.sql(
            "UPDATE tag_sets SET assignee_id = :assignee, claim_user_id = :claimant,"
            " claim_expires_at = :until WHERE id = :id",
            assignee=assignee,
            claimant=claimant,
            until=until if claimant else None,
            id=sent["id"],
        )
    items = _list_items(workspace, by="reviewer")
    assert [item["id"] for item in items] == [named["id"], claimed["id"]]
    assert {item["kind"] for item in items} == {"review"}
    assert items[0]["tag_set_id"] == named["id"]
    assert items[0]["artifact"] == {"id": named["artifact_id"], "name": "named"}
    assert [item["claimed_until"] is not None for item in items] == [False, True]
    assert [item["id"] for item in _list_items(workspace, by="admin")] == [taken["id"]]
    assert free["id"] not in {item["id"] for item in items}
    workspace.settings(allow_self_review=True)
    assert own["id"] in {item["id"] for item in _list_items(workspace, by="reviewer")}
    workspace.sql("UPDATE tag_sets SET claim_expires_at = now() - interval '1 second'")
    names = {item["artifact"]["name"] for item in _list_items(workspace, by="reviewer")}
    assert names == {"named", "taken", "own"}
    workspace.sql("UPDATE memberships SET role = 'labeler' WHERE user_id = :id", id=me)
    assert _list_items(workspace, by="reviewer") == []


def create_merge(workspace: Workspace, *labelers: str, **columns: Any) -> dict[str, Any]:
    """Create a merge of tag sets by these users, of a document with these columns."""
    schema_id = workspace.schema(labels_per_artifact=len(labelers))
    artifact_id = workspace.artifact(schema_id, **columns)
    sources = [workspace.submitted(artifact_id, by=labeler) for labeler in labelers]
    return get_data(merge(workspace, sources, by="owner"))


def test_merges_are_not_listed_for_the_labelers_of_their_sources(workspace: Workspace) -> None:
    due = datetime(2031, 1, 1, tzinfo=UTC)
    workspace.org.add_user("second", "labeler")
    own, other = (
        create_merge(workspace, "labeler", labeler, due_at=due)["id"]
        for labeler in ("reviewer", "second")
    )
    queries = "", "?due_before=2032-01-01T00:00:00Z"

    def list_ids() -> list[set[Any]]:
        return [
            {item["tag_set_id"] for item in _list_items(workspace, query, by="reviewer")}
            for query in queries
        ]

    # The organization has just disallowed self-review, and the job has not run.
    assign_tag_sets(workspace, "source = 'merge'", "reviewer")
    assert list_ids() == [{other}, {other}]
    claim_tag_sets(workspace, "source = 'merge'", "reviewer")
    assert list_ids() == [{other}, {other}]
    workspace.sql("UPDATE tag_sets SET assignee_id = NULL")
    assert list_ids() == [{other}, {other}]
    workspace.settings(allow_self_review=True)
    assert list_ids() == [{own, other}, {own, other}]


def test_the_list_is_filtered_and_paged(workspace: Workspace) -> None:
    org = workspace.org
    team = add_members(org, make_team(org), "reviewer")
    schema, other = workspace.schema(), workspace.schema()
    due = datetime(2031, 1, 1, tzinfo=UTC)
    first = workspace.artifact(schema, priority=90, assignees=build_assignees(team_id=team["id"]))
    second = workspace.artifact(
        other, priority=80, due_at=due, assignees=build_assignees(user_id=org.users["reviewer"])
    )
    sent = workspace.submitted(workspace.artifact(schema, priority=70))
    workspace.sql("UPDATE tag_sets SET assignee_id = :user", user=org.users["reviewer"])
    third = UUID(sent["artifact_id"])
    for query, expected in (
        ("", [first, second, third]),
        ("?kind=label", [first, second]),
        ("?kind=review", [third]),
        (f"?team_id={team['id']}", [first]),
        (f"?schema_id={schema}", [first, third]),
        ("?due_before=0001-01-01T00:00:00Z", []),
        ("?due_before=2032-01-01T00:00:00Z", [second]),
    ):
        assert _list_documents(workspace, query, by="reviewer") == expected, query
    pages = read_pages(org.api("reviewer"), "/users/me/assignments?page_size=1")
    assert {page["meta"]["total"] for page in pages} == {3}
    documents = [UUID(item["artifact"]["id"]) for page in pages for item in page["data"]]
    assert documents == [first, second, third]


def test_the_list_requires_an_organization_and_shows_no_other(
    workspace: Workspace, other_org: Org
) -> None:
    workspace.artifact(assignees=build_assignees(user_id=workspace.org.users["labeler"]))
    api = workspace.org.api("labeler")
    api.slug = None
    assert api.get("/users/me/assignments").status_code == 422
    elsewhere = Workspace(other_org)
    elsewhere.artifact(assignees=build_assignees(user_id=workspace.org.users["labeler"]))
    assert len(_list_items(workspace)) == 1
    assert _list_items(elsewhere) == []


def test_a_long_list_takes_no_more_statements(workspace: Workspace) -> None:
    schema = workspace.schema()
    assignees = build_assignees(user_id=workspace.org.users["labeler"])

    def list_statements() -> list[str]:
        with record_statements(workspace.org.app) as ran:
            workspace.org.api("labeler").get("/users/me/assignments")
        return ran

    workspace.artifact(schema, assignees=assignees)
    before = list_statements()
    assert len(before) == 2
    for _ in range(30):
        workspace.artifact(schema, assignees=assignees)
    assert list_statements() == before


def test_documents_that_cannot_be_claimed_are_not_listed(workspace: Workspace) -> None:
    org = workspace.org
    assignees = build_assignees(user_id=org.users["labeler"])
    schema, skilled = workspace.schema(), workspace.schema()
    workspace.sql("UPDATE schemas SET required_skill_keys = '{law}' WHERE id = :id", id=skilled)
    plain = workspace.artifact(schema, assignees=assignees, priority=60)
    team = make_team(org, "Law")
    hard = workspace.artifact(skilled, assignees=build_assignees(team_id=team["id"]))
    add_members(org, team, "labeler")
    assert _list_documents(workspace) == [plain]
    add_members(org, make_team(org, "Lawyers", skills=["Law"]), "labeler")
    assert _list_documents(workspace) == [plain, hard]
    path = f"/artifacts/{plain}"
    assert org.api("labeler").post(f"{path}/claim").status_code == 200
    assert org.api("labeler").post(f"{path}/release", {"reason": "Too hard"}).status_code == 200
    assert _list_documents(workspace) == [hard]
    next_artifact = org.api("labeler").post("/artifacts/next", json={}).json["data"]
    assert next_artifact["id"] == str(hard)


def test_the_list_has_pages_of_documents_that_have_been_due_since_the_year_1(
    workspace: Workspace,
) -> None:
    schema, assignees = workspace.schema(), build_assignees(user_id=workspace.org.users["labeler"])
    due = {"due_at": datetime.min.replace(tzinfo=UTC)}
    artifact_ids = [
        workspace.artifact(schema, assignees=assignees, **due, priority=priority)
        for priority in (100, 50, 0)
    ]
    artifact_ids.append(workspace.artifact(schema, assignees=assignees))
    assert _list_documents(workspace) == artifact_ids
    pages = read_pages(workspace.org.api("labeler"), "/users/me/assignments?page_size=1")
    assert [UUID(item["id"]) for page in pages for item in page["data"]] == artifact_ids
