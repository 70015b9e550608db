"""Answers about label sets that hold very much."""

from typing import Any

import pytest

from tests.factories.workspace import Workspace, tag
from tests.workflow.tag_sets.merges import merge, submit_all

MIB = 1024 * 1024


@pytest.fixture
def sets(workspace: Workspace) -> list[dict[str, Any]]:
    """Two of 6 MB each that have no note in common."""
    said = (["x" * 99_000 + f"{who}{n}" for n in range(60)] for who in "ab")
    return submit_all(
        workspace,
        *([tag("number", "A"), *(tag("note", value) for value in notes)] for notes in said),
    )


def test_undecided_values_are_listed_as_far_as_there_is_room(
    workspace: Workspace, sets: list[dict[str, Any]]
) -> None:
    refused = merge(workspace, sets)
    assert refused.status_code == 400
    details = refused.json["error"]["details"]
    assert [(one["field"], one["values"]) for one in details["undecided"]] == [("note", [])]
    assert details["truncated"] is True


def test_the_consensus_has_what_fits(workspace: Workspace, sets: list[dict[str, Any]]) -> None:
    path = f"/artifacts/{sets[0]['artifact_id']}/consensus"
    answer = workspace.org.api("reviewer").get(path)
    assert len(answer.data) < 9 * MIB
    data = answer.json["data"]
    assert [field["field"] for field in data["fields"]] == ["number"]
    assert (data["truncated"], data["agreement"]) == (True, pytest.approx(2 / 122))
