"""The metrics of labelers and reviewers, and who sees them."""

from typing import Any

from tests.factories.quality import NO_RATE, QualityWorkspace
from tests.factories.teams import add_members, make_team
from tests.factories.workspace import tag


def _by_name(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["user"]["name"].lower(): row for row in rows}


def _label_gold_document(quality: QualityWorkspace) -> Any:
    """Let three labelers label a gold document; the third labeler disagrees."""
    schema = quality.schema(labels_per_artifact=3)
    artifact = quality.artifact(schema, gold=True)
    quality.act(quality.label(artifact, "A", seconds=30), "accept")
    quality.label(artifact, "A", by="second", seconds=90)
    quality.label(artifact, "B", by="third")
    return schema


def test_metrics_of_labelers(quality: QualityWorkspace) -> None:
    _label_gold_document(quality)
    rows = _by_name(quality.read("labelers", by="admin"))
    assert rows.keys() == {"labeler", "second", "third"}
    first, second, third = rows["labeler"], rows["second"], rows["third"]
    assert first["id"] == str(quality.org.users["labeler"])
    assert first["acceptance_rate"]["value"] == 1.0
    assert first["gold_accuracy"] == NO_RATE  # The answer is their own.
    assert second["gold_accuracy"]["value"] == 1.0
    assert third["gold_accuracy"]["value"] == 0.0
    assert [row["agreement"]["value"] for row in (first, second, third)] == [0.5, 0.5, 0.0]
    assert first["agreement"]["n"] == 1
    assert second["speed"] == {"timed": 1, "mean_seconds": 90.0, "tag_sets_per_hour": 40.0}
    assert second["throughput"]["submitted"] == 1


def test_pages_of_labelers(quality: QualityWorkspace) -> None:
    schema = _label_gold_document(quality)
    quality.update_metrics()
    api = quality.org.api("admin")
    path = f"/quality/labelers?page_size=2&schema_id={schema}"
    first = api.get(path).json
    rest = api.get(f"{path}&cursor={first['meta']['next_cursor']}").json
    assert first["meta"]["total"] == rest["meta"]["total"] == 3
    ids = [row["id"] for row in (*first["data"], *rest["data"])]
    assert ids == sorted(ids)
    assert len(ids) == 3
    assert rest["meta"]["next_cursor"] is None


def test_reviewers_see_their_teams(quality: QualityWorkspace) -> None:
    org = quality.org
    _label_gold_document(quality)
    # A reviewer without a team reviews the work of all labelers.
    assert len(quality.read("labelers", by="reviewer")) == 3
    team = add_members(org, make_team(org, lead_id=str(org.users["reviewer"])), "second")
    rows = quality.read("labelers", by="reviewer")
    assert _by_name(rows).keys() == {"second"}
    api = org.api("reviewer")
    refused = api.get(f"/quality/labelers?user_id={org.users['third']}")
    assert refused.status_code == 403
    assert refused.json["error"]["code"] == "permission_denied"
    other = make_team(org, name="Others")
    assert api.get(f"/quality/labelers?team_id={other['id']}").status_code == 403
    assert len(api.get(f"/quality/labelers?team_id={team['id']}").json["data"]) == 1
    assert len(quality.read("labelers", by="senior")) == 3


def test_nobody_else_sees_metrics_of_others(quality: QualityWorkspace) -> None:
    org = quality.org
    _label_gold_document(quality)
    quality.update_metrics()
    third = org.users["third"]
    for role in ("viewer", "labeler"):
        api = org.api(role)
        assert api.get("/quality/labelers").status_code == 403
        assert api.get("/quality/reviewers").status_code == 403
        assert api.get(f"/quality/trends?labeler_id={third}").status_code == 403
        team = make_team(org, name=f"Team of {role}")
        for query in ("group_by=team", f"team_id={team['id']}"):
            refused = api.get(f"/quality/trends?{query}")
            assert refused.json["error"]["code"] == "insufficient_role"
        by_labeler = api.get("/quality/trends?group_by=labeler").json["data"]["series"]
        own = [str(org.users["labeler"])] if role == "labeler" else []
        assert [series["key"] for series in by_labeler] == own
    key = org.key(role="viewer")
    response = key.get("/quality/trends?group_by=labeler")
    assert response.json["data"]["series"] == []


def test_metrics_of_reviewers(quality: QualityWorkspace) -> None:
    schema = quality.schema()
    accepted, reopened, wrong, right = (
        quality.label(quality.artifact(schema), "A") for _ in range(4)
    )
    quality.act(accepted, "accept", tags=[tag("number", "B")])
    quality.act(reopened, "accept")
    quality.act(reopened, "reopen", by="admin", reason="x", to="review")
    # This tag set is accepted with the same tags that were rejected.
    quality.reject(wrong)
    quality.act(wrong, "submit", by="labeler")
    quality.act(wrong, "accept", by="senior")
    # This tag set is changed before it is accepted.
    quality.save(quality.reject(right), [tag("number", "C")])
    quality.act(right, "submit", by="labeler")
    quality.act(right, "accept", by="senior")
    rows = _by_name(quality.read("reviewers", by="admin"))
    strict, lenient = rows["reviewer"], rows["senior"]
    assert strict["decisions"] == 4
    assert [strict[name] for name in ("accepted", "corrected", "rejected")] == [1, 1, 2]
    assert (strict["overturned"]["value"], strict["overturned"]["n"]) == (0.5, 4)
    assert strict["acceptance_rate"]["value"] == 0.5
    assert strict["peer_acceptance_rate"]["value"] == 1.0
    assert strict["leniency"] == -0.5
    assert lenient["overturned"]["value"] == 0.0
    assert lenient["leniency"] == 0.5


def test_a_reviewer_without_peers_has_no_leniency(quality: QualityWorkspace) -> None:
    quality.act(quality.label(quality.artifact(), "A"), "accept")
    (row,) = quality.read("reviewers", by="owner")
    assert row["leniency"] is None
    assert row["peer_acceptance_rate"] == NO_RATE
