"""Only reviewers and higher roles see which documents are gold (have known correct labels)."""

from typing import Any

import pytest

from tests.factories.workspace import Workspace


def _list_documents(workspace: Workspace, by: str, **marks: Any) -> list[dict[str, Any]]:
    """Return the document from every response that contains it."""
    api = workspace.org.api(by)
    artifact_id = workspace.artifact(gold=True, **marks)
    answers = [api.get(f"/artifacts/{artifact_id}"), api.get("/artifacts")]
    if by != "viewer":
        answers += [
            api.post("/artifacts/next", json={}),
            api.post(f"/artifacts/{artifact_id}/claim"),
            api.post(f"/artifacts/{artifact_id}/release", json={}),
            api.post("/artifacts", json={"name": "n.txt", "text": "A text", "gold": True}),
        ]
    assert all(answer.status_code in (200, 201) for answer in answers)
    found = [answer.json["data"] for answer in answers]
    return [document for data in found for document in (data if isinstance(data, list) else [data])]


@pytest.mark.parametrize(("by", "gold"), [("viewer", None), ("labeler", None), ("reviewer", True)])
def test_only_reviewers_see_the_mark(workspace: Workspace, by: str, gold: bool | None) -> None:
    documents = _list_documents(workspace, by)
    assert len(documents) >= 2
    assert {document["gold"] for document in documents} == {gold}
    stats = workspace.org.api(by).get("/artifacts/stats").json["data"]
    assert stats["gold"] == (None if gold is None else 2)


@pytest.mark.parametrize(("by", "status"), [("viewer", 403), ("labeler", 403), ("reviewer", 200)])
@pytest.mark.parametrize("gold", ["true", "false"])
def test_only_reviewers_filter_by_it(workspace: Workspace, by: str, status: int, gold: str) -> None:
    assert workspace.org.api(by).get(f"/artifacts?gold={gold}").status_code == status


@pytest.mark.parametrize(("by", "shown"), [("viewer", False), ("labeler", False), ("admin", True)])
def test_only_reviewers_read_of_it_in_the_history(
    workspace: Workspace, by: str, shown: bool
) -> None:
    artifact_id = workspace.artifact()
    admin = workspace.org.api("admin")
    for changes in ({"gold": True}, {"gold": False, "priority": 90}):
        assert admin.patch(f"/artifacts/{artifact_id}", json=changes).status_code == 200
    entries = workspace.org.api(by).get(f"/artifacts/{artifact_id}/history").json["data"]
    updates = [entry["changes"] for entry in entries if entry["action"] == "artifacts.update"]
    expected = [{"gold": [True, False], "priority": [50, 90]}, {"gold": [False, True]}]
    assert updates == (expected if shown else [{"priority": [50, 90]}])
    assert any("gold" in entry["changes"] for entry in entries) is shown
