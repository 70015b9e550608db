"""An idle process does not pay for the libraries of the formats."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HEAVY = {"pyarrow", "pandas", "openpyxl", "xlsxwriter", "label_studio_sdk", "spacy", "thinc"}


@pytest.mark.parametrize("module", ["app.factory", "app.engines.formats"])
def test_heavy_libraries_are_not_imported_at_start(module: str) -> None:
    script = f"import {module}, sys; print(sorted({HEAVY!r} & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
