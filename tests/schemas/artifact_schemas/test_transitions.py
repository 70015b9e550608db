"""Every action in every status of a schema does what the table of transitions says."""

import re
from pathlib import Path

import pytest

from app.schemas.artifact_schemas.transitions import TRANSITIONS, Action, SchemaStatus
from tests.factories import Org

GUIDE = Path(__file__).parents[3] / "docs/integrators/schemas.md"
FIELDS = [{"key": "number", "type": "text"}]


@pytest.mark.parametrize("status", SchemaStatus)
@pytest.mark.parametrize("action", Action)
def test_only_the_actions_of_the_table_change_a_schema(
    org: Org, action: Action, status: SchemaStatus
) -> None:
    api = org.api("admin")
    path = f"/schemas/{api.post('/schemas', {'name': 'A', 'fields': FIELDS}).json['data']['id']}"
    assert api.post(f"{path}/publish", {}).status_code == 201
    if status is not SchemaStatus.DRAFT:
        api.post(f"{path}/activate")
    if status is SchemaStatus.INACTIVE:
        api.post(f"{path}/deactivate")
    assert api.get(path).json["data"]["status"] == status
    answer = api.post(f"{path}/{action}")
    sources, target = TRANSITIONS[action]
    if status in sources:
        assert (answer.status_code, answer.json["data"]["status"]) == (200, target)
    else:
        assert (answer.status_code, answer.json["error"]["code"]) == (409, "conflict")
        assert answer.json["error"]["details"] == {"state": status}
        assert api.get(path).json["data"]["status"] == status


def test_the_guide_shows_the_same_table() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| `(\w+)` \|$", GUIDE.read_text(), re.MULTILINE)
    shown = {
        action: (tuple(re.findall(r"`(\w+)`", sources)), target)
        for action, sources, target in rows
        if action in tuple(Action)
    }
    assert shown == TRANSITIONS
