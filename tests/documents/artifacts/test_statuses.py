"""The statuses of artifacts are the same as in the guide, and only change as in the table."""

import re
from pathlib import Path

import pytest

from app.documents.artifacts.statuses import TRANSITIONS, ArtifactStatus, is_transition

GUIDE = Path(__file__).parents[3] / "docs/integrators/documents.md"


def test_the_guide_shows_each_status_and_its_transitions() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .+ \| (.+?) \|$", GUIDE.read_text(), re.MULTILINE)
    shown = {
        status: frozenset(re.findall(r"`(\w+)`", following))
        for status, following in rows
        if status in tuple(ArtifactStatus)
    }
    assert shown == TRANSITIONS


@pytest.mark.parametrize("old", ArtifactStatus)
@pytest.mark.parametrize("new", ArtifactStatus)
def test_a_status_only_changes_as_in_the_table(old: ArtifactStatus, new: ArtifactStatus) -> None:
    assert is_transition(old, new) == (new is old or new in TRANSITIONS[old])
