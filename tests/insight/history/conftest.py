"""What a document's history tells."""

from typing import Any

import pytest

from tests.factories import Org
from tests.factories.desk import Desk


@pytest.fixture
def desk(org: Org) -> Desk:
    return Desk(org)


def history(org: Org, artifact_id: Any, by: str = "reviewer", query: str = "") -> list[Any]:
    """The entries, the newest first."""
    answer = org.api(by).get(f"/artifacts/{artifact_id}/history?{query}")
    assert answer.status_code == 200, answer.json
    if not query:
        assert answer.json["meta"]["total"] == len(answer.json["data"])
    return list(answer.json["data"])


def actions(org: Org, artifact_id: Any, by: str = "reviewer") -> list[str]:
    """What was done, the oldest first."""
    return [entry["action"] for entry in reversed(history(org, artifact_id, by))]


def entry(org: Org, artifact_id: Any, action: str, by: str = "reviewer") -> dict[str, Any]:
    """The one entry of an action."""
    (found,) = [one for one in history(org, artifact_id, by) if one["action"] == action]
    return dict(found)


def sent(answer: Any) -> dict[str, Any]:
    """The data of an answer that is no refusal."""
    assert answer.status_code < 300, answer.json
    return dict(answer.json["data"])
