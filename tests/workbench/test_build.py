"""The sources and the build of the workbench."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools import licences

ROOT = Path(__file__).parents[2]


def test_the_logic_of_the_workbench() -> None:
    """Run the unit tests of web/, which vitest collects."""
    command = [sys.executable, "tools/npm.py", "--prefix", "web", "run", "--silent", "test"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_list_of_licences_has_the_packages_of_the_build(build: Path) -> None:
    assert licences.BUNDLED.is_relative_to(build)
    page = licences.PAGE.read_text(encoding="utf-8")
    assert page.endswith(licences.render_bundled()), "run `make licences`"


@pytest.mark.parametrize("suffix", [".js", ".css"])
def test_every_larger_file_is_compressed(build: Path, suffix: str) -> None:
    files = [
        path for path in (build / "workbench").glob(f"*{suffix}") if path.stat().st_size > 1024
    ]
    assert files
    for file in files:
        for coding in (".br", ".gz"):
            compressed = file.with_name(file.name + coding)
            assert compressed.stat().st_size < file.stat().st_size
