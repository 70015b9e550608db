"""The statuses of artifacts and schemas are the same as in the guides."""

import re
from pathlib import Path

from app.documents.artifacts.statuses import TRANSITIONS, ArtifactStatus

GUIDE = Path(__file__).parents[3] / "docs/integrators/documents.md"


def test_the_guide_shows_each_status_and_its_transitions() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .+ \| (.+?) \|$", GUIDE.read_text(), re.MULTILINE)
    shown = {
        status: frozenset(re.findall(r"`(\w+)`", following))
        for status, following in rows
        if status in tuple(ArtifactStatus)
    }
    assert shown == TRANSITIONS
