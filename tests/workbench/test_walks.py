"""People use the workbench in a real browser: each exported function of walks/*.mjs is a test."""

from pathlib import Path

import pytest

from tests.workbench.driver import Walker, list_walks

# All walks use one service, on one process.
pytestmark = pytest.mark.xdist_group("workbench")


@pytest.mark.parametrize(
    ("file", "name"), [pytest.param(*walk, id=f"{walk[0].stem}-{walk[1]}") for walk in list_walks()]
)
def test_walk(walker: Walker, file: Path, name: str) -> None:
    walker.walk(file, name)
