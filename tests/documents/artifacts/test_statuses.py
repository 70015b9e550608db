"""The statuses of artifacts and schemas are those of the guides."""

import re
from pathlib import Path

from app.documents.artifacts.statuses import TRANSITIONS, ArtifactStatus

GUIDE = Path(__file__).parents[3] / "docs/integrators/documents.md"


def test_the_guide_shows_each_status_and_what_it_may_become() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .+ \| (.+?) \|$", GUIDE.read_text(), re.MULTILINE)
    shown = {
        status: frozenset(re.findall(r"`(\w+)`", following))
        for status, following in rows
        if status in tuple(ArtifactStatus)
    }
    assert shown == TRANSITIONS
