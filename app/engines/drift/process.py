"""Compare samples in a child process, because scipy would stay in the memory of the worker."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from app.engines.drift.model import (
    Comparison,
    Hypothesis,
    Limits,
    Verdict,
    encode_sample,
    parse_sample,
)
from app.engines.drift.testing import compare, decide

TIMEOUT_SECONDS = 300.0
_ROOT = Path(__file__).parents[3]
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_PATHS = {
    name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "TMPDIR") if name in os.environ
}


class ComparisonFailed(Exception):  # noqa: N818 - the name says it
    """The child process failed or took too long."""


def find_drift(hypotheses: Iterable[Hypothesis], limits: Limits | None = None) -> list[Comparison]:
    """Compare the samples of a run in a child process, and return the result of each.

    The hypotheses go through a file, one by one, so that memory does not grow with their number.

    Raises:
        ComparisonFailed: the child process failed or took too long.
    """
    with tempfile.TemporaryFile() as source:
        for one in hypotheses:
            line = {
                "key": one.key,
                "baseline": encode_sample(one.baseline),
                "current": encode_sample(one.current),
            }
            source.write(json.dumps(line, allow_nan=False).encode() + b"\n")
        if not source.tell():
            return []
        source.seek(0)
        chosen = json.dumps(asdict(limits or Limits()))
        command = [sys.executable, "-m", "app.engines.drift", chosen]
        try:
            finished = subprocess.run(  # noqa: S603 - our own module, without a shell
                command,
                stdin=source,
                capture_output=True,
                check=True,
                timeout=TIMEOUT_SECONDS,
                cwd=_ROOT,
                env={**_PATHS, **_ONE_THREAD},
            )
        except subprocess.CalledProcessError as failure:
            tail = failure.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise ComparisonFailed(f"exit status {failure.returncode}: {tail[:200]}") from None
        except subprocess.TimeoutExpired:
            raise ComparisonFailed("the comparison took too long") from None
    results = (json.loads(line) for line in finished.stdout.splitlines())
    return [Comparison(**{**one, "verdict": Verdict(one["verdict"])}) for one in results]


def run(lines: Iterable[bytes], limits: Limits) -> list[str]:
    """Compare the hypotheses in `lines`, and return the results as lines of JSON."""
    comparisons = []
    for line in lines:
        data = json.loads(line)
        samples = parse_sample(data["baseline"]), parse_sample(data["current"])
        comparisons.append(compare(Hypothesis(data["key"], *samples), limits))
    return [json.dumps(asdict(one), allow_nan=False) for one in decide(comparisons, limits)]
