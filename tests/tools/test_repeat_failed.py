"""What continuous integration does with tests that failed."""

import os
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/ci/repeat_failed.py"
TESTS = """
from pathlib import Path

import pytest

def test_that_passes():
    Path("runs").open("a").write("x")

@pytest.mark.xdist_group("sample")
@pytest.mark.parametrize("address", ["a@b"])
def test_that_passes_the_second_time(address):
    marker = Path("marker")
    seen = marker.exists()
    marker.touch()
    assert seen

def test_that_fails():
    assert {passes}
"""
GROUPED = """
import os
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("sample")

@pytest.mark.parametrize("number", range(6))
def test_that_says_where_it_runs(number):
    Path(f"process-{os.environ['PYTEST_XDIST_WORKER']}").touch()
"""


def _run(tmp_path: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "COV_"))
    }
    # Importing the plugins that these tests do not need takes most of the time.
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin"}
    return subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _repeat(tmp_path: Path, *, passes: bool) -> "subprocess.CompletedProcess[str]":
    (tmp_path / "test_sample.py").write_text(TESTS.format(passes=passes))
    first = _run(tmp_path, "-m", "pytest", "-q", "-n", "1", "--dist", "loadgroup")
    assert first.returncode == 1, first.stdout + first.stderr
    return _run(tmp_path, str(TOOL), "-q")


def test_a_test_that_passes_when_repeated_is_named(tmp_path: Path) -> None:
    repeated = _repeat(tmp_path, passes=True)
    assert repeated.returncode == 0, repeated.stdout + repeated.stderr
    flaky = [line for line in repeated.stdout.splitlines() if line.startswith("FLAKY")]
    assert flaky == ["FLAKY test_sample.py::test_that_passes_the_second_time[a@b]"]
    assert (tmp_path / "runs").read_text() == "x", "only failed tests are repeated"


def test_a_test_that_fails_again_fails_the_run(tmp_path: Path) -> None:
    repeated = _repeat(tmp_path, passes=False)
    assert repeated.returncode == 1
    assert "FLAKY test_sample.py::test_that_passes_the_second_time" in repeated.stdout
    assert "FLAKY test_sample.py::test_that_fails" not in repeated.stdout


def test_a_failure_of_something_else_is_not_repeated(tmp_path: Path) -> None:
    repeated = _run(tmp_path, str(TOOL), "-q")
    assert repeated.returncode == 1
    assert "No test failed; something else did." in repeated.stdout


def test_a_repetition_that_breaks_off_fails_the_run(tmp_path: Path) -> None:
    (tmp_path / "test_sample.py").write_text(TESTS.format(passes=True))
    _run(tmp_path, "-m", "pytest", "-q")
    repeated = _run(tmp_path, str(TOOL), "--no-such-option")
    assert repeated.returncode == 1
    assert "FLAKY" not in repeated.stdout


def test_the_tests_of_a_group_stay_on_one_process(tmp_path: Path) -> None:
    """pytest and pytest-xdist must fit together: a mismatch ignores groups without a word."""
    (tmp_path / "test_sample.py").write_text(GROUPED)
    done = _run(tmp_path, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(tmp_path.glob("process-*"))) == 1
