"""Run the shell blocks of a page like a reader who pastes them."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = 300
_PYTHON = ".reader-python"
_NEEDED = (
    *(".venv", "Makefile", "constraints.txt", "requirements.txt", "requirements-dev.txt"),
    *("requirements-build.txt", "examples", "tools", "web"),
)


def blocks(page: str, kind: str) -> str:
    """Return all blocks of a page that are marked `sh <kind>`, joined."""
    found = re.findall(rf"```sh {kind}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert len(found) >= 4
    return "".join(found)


@cache
def _find_reader_python() -> Path:
    """Return the interpreter that the reader's `python3` starts, or this one if there is none.

    The `python3` of a version manager is a script, which looks for it five times as long as it
    takes to start. The walks start it hundreds of times.
    """
    found = shutil.which("python3") or sys.executable
    command = [found, "-c", "import sys; print(sys.executable)"]
    return Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())


@contextlib.contextmanager
def _checkout() -> Iterator[Path]:
    """Yield a folder that looks like the repository to a script; its new files are deleted."""
    with tempfile.TemporaryDirectory(prefix="labeling-docs-") as name:
        for needed in _NEEDED:
            (Path(name) / needed).symlink_to(ROOT / needed)
        (Path(name) / _PYTHON).mkdir()
        (Path(name) / _PYTHON / "python3").symlink_to(_find_reader_python())
        yield Path(name)


def paste(script: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a script in bash's strict mode; kill its remaining processes and delete its files."""
    command = ["bash", "-euo", "pipefail", "-c", script]
    path = f"{os.environ['PATH']}:{Path(sys.executable).parent}"
    with (
        _checkout() as folder,
        tempfile.TemporaryFile("w+") as output,
        subprocess.Popen(
            command,
            env={"PATH": f"{folder / _PYTHON}:{path}", "HOME": str(folder), **environ},
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            output.write(f"\nstill running after {SECONDS} s\n")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        return subprocess.CompletedProcess(command, process.returncode, output.read())
