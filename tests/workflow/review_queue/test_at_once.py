"""Reviewers at the same instant: nobody gets another's item, and nothing is decided twice."""

from typing import Any

from tests.factories.orgs import get_data
from tests.factories.queueing import run_concurrently
from tests.factories.submitted import make_submitted_tag_sets
from tests.factories.workspace import Workspace, counts

_REVIEWERS = [f"reviewer{number}" for number in range(8)]


def _add_reviewers(workspace: Workspace) -> None:
    for name in _REVIEWERS:
        workspace.org.add_user(name, "reviewer")


def _submit_tag_sets(workspace: Workspace, number: int) -> list[dict[str, Any]]:
    schema_id = workspace.schema()
    return [workspace.submitted(workspace.artifact(schema_id)) for _ in range(number)]


def test_reviewers_drain_the_queue_and_decide_each_item_once(workspace: Workspace) -> None:
    _add_reviewers(workspace)
    sent = set(make_submitted_tag_sets(workspace, 100, "labeler"))

    def work(name: str) -> list[str]:
        api, done = workspace.org.api(name), []
        while True:
            item = get_data(api.post("/review-queue/next", json={}))
            if item is None:
                return done
            assert api.post(f"/tag-sets/{item['id']}/accept", json={}).status_code == 200
            done.append(item["id"])

    shares = run_concurrently(*(lambda n=n: work(n) for n in _REVIEWERS))
    decided = [one for share in shares for one in share]
    assert sorted(decided) == sorted(sent)
    told = [data["tag_set_id"] for data in workspace.events("tag_set.accepted")]
    assert sorted(told) == sorted(sent)
    kinds = workspace.sql("SELECT kind, count(*) FROM tag_set_revisions GROUP BY kind")
    assert dict(map(tuple, kinds)) == {"accept": 100}


def test_of_claims_at_once_one_stands(workspace: Workspace) -> None:
    _add_reviewers(workspace)
    for one in _submit_tag_sets(workspace, 3):
        path = f"/review-queue/{one['id']}/claim"
        answers = run_concurrently(
            *(lambda n=n, p=path: workspace.org.api(n).post(p) for n in _REVIEWERS)
        )
        assert sorted(a.status_code for a in answers) == [200] + [409] * 7
        (won,) = [a.json["data"]["claim"] for a in answers if a.status_code == 200]
        for lost in (a.json["error"]["details"] for a in answers if a.status_code == 409):
            assert lost == {"claim": won}


def test_of_draws_at_once_each_gets_another_item(workspace: Workspace) -> None:
    _add_reviewers(workspace)
    sent = {one["id"] for one in _submit_tag_sets(workspace, 5)}
    answers = run_concurrently(
        *(lambda n=n: workspace.org.api(n).post("/review-queue/next", json={}) for n in _REVIEWERS)
    )
    drawn = [a.json["data"]["id"] for a in answers if a.json["data"] is not None]
    assert (len(drawn), set(drawn)) == (5, sent)


def test_of_bulk_verdicts_at_once_each_item_has_one(workspace: Workspace) -> None:
    _add_reviewers(workspace)
    ids = make_submitted_tag_sets(workspace, 20, "labeler")
    bodies: list[tuple[str, str, dict[str, Any]]] = [
        (_REVIEWERS[0], "accept", {"tag_set_ids": ids}),
        (_REVIEWERS[1], "accept", {"tag_set_ids": ids[::-1]}),
        (_REVIEWERS[2], "reject", {"tag_set_ids": ids, "reason": "no", "send_to": "pool"}),
    ]
    answers = run_concurrently(
        *(
            lambda by=by, what=what, body=body: workspace.org.api(by).post(
                f"/review-queue/bulk-{what}", json=body
            )
            for by, what, body in bodies
        )
    )
    assert {a.status_code for a in answers} == {200}
    assert sum(a.json["data"]["succeeded"] for a in answers) == 20
    told = workspace.events("tag_set.accepted") + workspace.events("tag_set.rejected")
    assert sorted(data["tag_set_id"] for data in told) == sorted(ids)
    for id_ in ids:
        assert [r.number for r in workspace.revisions(id_)] == [2]


def test_a_bulk_verdict_beside_single_ones_of_the_same_documents_waits_for_them(
    workspace: Workspace,
) -> None:
    for name in ("second", "third", "other"):
        workspace.org.add_user(name, "reviewer" if name == "other" else "labeler")
    schema_id = workspace.schema(labels_per_artifact=2)
    for _ in range(3):
        artifact_id = workspace.artifact(schema_id)
        sent = [workspace.submitted(artifact_id, by=name) for name in ("second", "third")]
        body = {"tag_set_ids": [one["id"] for one in sent]}
        bulk, single = run_concurrently(
            lambda b=body: workspace.org.api("reviewer").post("/review-queue/bulk-accept", json=b),
            lambda s=sent: workspace.org.api("other").post(
                f"/tag-sets/{s[1]['id']}/accept", json={}
            ),
        )
        assert bulk.status_code == 200
        assert bulk.json["data"]["succeeded"] + (single.status_code == 200) == 2
        assert workspace.artifact_row(artifact_id).label_counts == counts(accepted=2)


def test_assigning_documents_and_their_reviews_at_once_never_deadlocks(
    workspace: Workspace,
) -> None:
    """Both lock tag sets: the one because they become urgent with their documents."""
    ids = make_submitted_tag_sets(workspace, 200, "labeler")
    documents = [str(row.artifact_id) for row in workspace.sql("SELECT artifact_id FROM tag_sets")]
    reviewer, admin = workspace.org.users["reviewer"], workspace.org.users["admin"]

    def assign(path: str, body: dict[str, Any]) -> list[int]:
        api = workspace.org.api("admin")
        due = (f"2027-01-{day:02}T00:00:00Z" for day in range(1, 13))
        return [api.post(path, json={**body, "due_at": at}).status_code for at in due]

    labeler = {"artifact_ids": documents, "user_ids": [str(workspace.org.users["labeler"])]}
    reviews = {"tag_set_ids": ids[::-1], "user_ids": [str(reviewer), str(admin)]}
    answers = run_concurrently(
        lambda: assign("/artifacts/bulk-assign", labeler),
        lambda: assign("/review-queue/bulk-assign", reviews),
        lambda: assign("/artifacts/bulk-assign", labeler),
        lambda: assign("/review-queue/bulk-assign", reviews),
    )
    assert {status for found in answers for status in found} == {200}
