"""Packages are installed by uv with pip's configuration, and by pip if uv fails."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tools.install import read_uv_environment

TOOL = Path(__file__).resolve().parents[2] / "tools/install.py"


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    """Create a folder with one wheel, as a registry."""
    folder = tmp_path / "registry"
    folder.mkdir()
    info = "parcel_of_the_tests-1.0.dist-info"
    with zipfile.ZipFile(folder / "parcel_of_the_tests-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("parcel.py", "")
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: parcel-of-the-tests\nVersion: 1.0\n"
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return folder


def _install(registry: Path, target: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PIP_FIND_LINKS": str(registry), **variables}
    command = [sys.executable, str(TOOL), "--target", str(target), "parcel-of-the-tests==1.0"]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def test_uv_takes_packages_from_where_pip_would(registry: Path, tmp_path: Path) -> None:
    done = _install(registry, tmp_path / "target")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "target/parcel.py").is_file()


def test_pip_installs_what_uv_cannot(registry: Path, tmp_path: Path) -> None:
    done = _install(registry, tmp_path / "target", UV_CACHE_DIR="/dev/null/cache")
    assert done.returncode == 0
    assert "pip tries" in done.stderr
    assert (tmp_path / "target/parcel.py").is_file()


def test_a_package_that_is_nowhere_is_an_error(registry: Path, tmp_path: Path) -> None:
    (registry / "parcel_of_the_tests-1.0-py3-none-any.whl").unlink()
    assert _install(registry, tmp_path / "target").returncode != 0


@pytest.mark.parametrize(
    ("line", "variable", "value"),
    [
        ("global.index-url='https://a.example/simple'", "UV_DEFAULT_INDEX", "https://a.example/simple"),
        ("global.find-links='\\n/a\\n/b'", "UV_FIND_LINKS", "/a,/b"),
        ("install.trusted-host='a.example'", "UV_INSECURE_HOST", "a.example"),
    ],
)  # fmt: skip
def test_options_of_pip_become_variables_of_uv(line: str, variable: str, value: str) -> None:
    assert read_uv_environment([line])[variable] == value


def test_the_main_registry_comes_before_others() -> None:
    lines = ["global.extra-index-url='file:///a file:///b'"]
    assert read_uv_environment(lines)["UV_INDEX"] == "https://pypi.org/simple file:///a file:///b"
    lines.append("global.index-url='https://a.example'")
    assert read_uv_environment(lines)["UV_INDEX"] == "https://a.example file:///a file:///b"


def test_the_environment_comes_before_files_and_other_commands_do_not_count() -> None:
    lines = [":env:.cert='/env.pem'", "global.cert='/global.pem'", "download.timeout='9'"]
    found = read_uv_environment([*lines, "global.quiet='1'"])
    assert found == {"UV_INDEX_STRATEGY": "unsafe-best-match", "SSL_CERT_FILE": "/env.pem"}
