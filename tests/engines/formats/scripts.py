"""Scripts that write files in a process of their own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.factories.processes import run_script

_PEAK = r"""
import re
class Nothing:
    def write(self, data): pass
def peak():  # of this process alone: ru_maxrss includes that of its parent before exec
    return int(re.search("VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


def hash_sample_file(
    format_id: str, env: Mapping[str, str] | None = None, *, preparation: str = ""
) -> str:
    """Write the sample in a process of its own, and return the hash of the file.

    The process first runs the statement `preparation`, which may use the module `os`.
    """
    return run_script(
        f"""
import hashlib, io, json, os
from app.engines.formats import FORMATS
from app.engines.formats.sample import SAMPLE_FIELDS, SAMPLE_ROW
{preparation}
out = io.BytesIO()
writer = FORMATS["{format_id}"].create_writer(out, SAMPLE_FIELDS, {{}})
writer.write_json(json.dumps(SAMPLE_ROW).encode())
writer.close()
print(hashlib.sha256(out.getvalue()).hexdigest())
""",
        env=env,
    )


def run_with_library(folder: Path, *command: str | Path) -> Any:
    """Run Python with the library in a folder, and return the JSON that it prints."""
    run = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def measure_peaks(script: str) -> tuple[int, int]:
    """Run a script that sets `early`, and return the memory `early` and at its end in KiB.

    The script can use the file `Nothing()`, which keeps nothing, and the function `peak`.
    """
    early, late = run_script(f"{_PEAK}{script}print(early, peak())").split()
    return int(early), int(late)


def measure_peaks_of_format(
    format_id: str, *, early_rows: int, rows: int, **members: Any
) -> tuple[int, int]:
    """Write many sample rows, and return the memory after `early_rows` and at the end in KiB.

    `members` are in each row, beside those of the sample.
    """
    return measure_peaks(
        f"""
import json
from app.engines.formats import FORMATS
from app.engines.formats.sample import SAMPLE_FIELDS, SAMPLE_ROW
writer = FORMATS["{format_id}"].create_writer(Nothing(), SAMPLE_FIELDS, {{}})
for number in range({rows}):
    row = {{**SAMPLE_ROW, **{members!r}, "tag_set_id": str(number)}}
    writer.write_json(json.dumps(row).encode())
    if number == {early_rows}:
        early = peak()
writer.close()
"""
    )
