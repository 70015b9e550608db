"""Compare samples in a child process, because scipy would stay in the memory of the worker."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import asdict

from app.engines import interpreter
from app.engines.drift.comparing import assign_outcomes, compare
from app.engines.drift.model import (
    Comparison,
    DriftOutcome,
    DriftThresholds,
    Hypothesis,
    encode_sample,
    parse_sample,
)

TIMEOUT_SECONDS = 300.0


class ComparisonFailed(Exception):  # noqa: N818 - named after the outcome
    """The child process that compares samples failed or took too long."""


def find_drift(
    hypotheses: Iterable[Hypothesis], thresholds: DriftThresholds | None = None
) -> list[Comparison]:
    """Compare the samples of each hypothesis in a child process, and return one result for each.

    The hypotheses are written to a file one by one, so they are not in memory at the same time.

    Raises:
        ComparisonFailed: the child process failed or took too long.
    """
    with tempfile.TemporaryFile() as source:
        for hypothesis in hypotheses:
            source.write(encode_hypothesis(hypothesis) + b"\n")
        if not source.tell():
            return []
        source.seek(0)
        thresholds_json = json.dumps(asdict(thresholds or DriftThresholds()))
        command = interpreter.build_command("app.engines.drift", thresholds_json, str(os.getpid()))
        try:
            completed_process = subprocess.run(  # noqa: S603 - our own module, without a shell
                command,
                stdin=source,
                capture_output=True,
                check=True,
                timeout=TIMEOUT_SECONDS,
                cwd="/",
                env=interpreter.build_environment(one_thread=True),
            )
        except subprocess.CalledProcessError as failure:
            last_line = failure.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            message = f"exit status {failure.returncode}: {last_line[:200]}"
            raise ComparisonFailed(message) from None
        except subprocess.TimeoutExpired:
            raise ComparisonFailed("the comparison took too long") from None
    return [parse_result(line) for line in completed_process.stdout.splitlines()]


def encode_hypothesis(hypothesis: Hypothesis) -> bytes:
    """Encode a hypothesis as a JSON line, which `compare_samples` parses."""
    line = {
        "key": hypothesis.key,
        "baseline": encode_sample(hypothesis.baseline),
        "current": encode_sample(hypothesis.current),
    }
    return json.dumps(line, allow_nan=False).encode()


def parse_result(line: bytes | str) -> Comparison:
    """Parse a result from a JSON line that `compare_samples` returned."""
    fields = json.loads(line)
    return Comparison(**{**fields, "outcome": DriftOutcome(fields["outcome"])})


def compare_samples(lines: Iterable[bytes], thresholds: DriftThresholds) -> list[str]:
    """Compare the two samples of each hypothesis.

    Each line is a hypothesis in JSON. Returns one comparison per hypothesis, as a line of JSON.
    """
    comparisons = []
    for line in lines:
        data = json.loads(line)
        samples = parse_sample(data["baseline"]), parse_sample(data["current"])
        comparisons.append(compare(Hypothesis(data["key"], *samples), thresholds))
    return [
        json.dumps(asdict(comparison), allow_nan=False)
        for comparison in assign_outcomes(comparisons, thresholds)
    ]
