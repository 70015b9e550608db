"""An idle process does not pay for the libraries of the formats."""

import pytest

from tests.factories.processes import run_script

HEAVY = {"pyarrow", "pandas", "openpyxl", "xlsxwriter", "label_studio_sdk", "spacy", "thinc"}


@pytest.mark.parametrize("module", ["app.factory", "app.engines.formats"])
def test_heavy_libraries_are_not_imported_at_start(module: str) -> None:
    script = f"import {module}, sys; print(sorted({HEAVY!r} & set(sys.modules)))"
    assert run_script(script).strip() == "[]"
