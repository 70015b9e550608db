"""A browser that walks through the workbench: tools/browser/walks.mjs, driven line by line."""

import re
from pathlib import Path
from typing import Any

from tests.factories.browsers import TOOLS, BrowserProcess

WALKS = Path(__file__).parent / "walks"
_STEPS = re.compile(r"^export async function (\w+)", re.MULTILINE)


class Walker(BrowserProcess):
    """A browser process that runs walks on one service."""

    def __init__(self, base: str, password: str, mail: Path, screenshots: Path) -> None:
        super().__init__(TOOLS / "walks.mjs", base, password, str(mail), str(screenshots))
        self.base = base

    def walk(self, file: Path, name: str, **arguments: Any) -> Any:
        """Run a function of a file, and return its answer. Fails if an assertion in it fails."""
        return self.send({"file": str(file), "name": name, "options": arguments})


def list_walks(folder: Path = WALKS) -> list[tuple[Path, str]]:
    """Return all walks: exported functions of the files in the folder."""
    return [
        (file, name)
        for file in sorted(folder.glob("*.mjs"))
        for name in _STEPS.findall(file.read_text(encoding="utf-8"))
    ]
