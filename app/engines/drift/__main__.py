"""Run the child process of `find_drift`: read hypotheses from stdin, write results to stdout."""

import json
import os
import sys

from app.engines.drift.model import DriftThresholds
from app.engines.drift.process import compare_samples
from app.engines.sandbox.confinement import exit_with_parent

_NICENESS = 10


def main() -> None:
    """Read hypotheses from stdin, compare their samples, and write the results to stdout.

    The command-line arguments are the thresholds as JSON, and the process id of the caller.
    """
    exit_with_parent(int(sys.argv[2]))
    os.nice(_NICENESS)
    thresholds = DriftThresholds(**json.loads(sys.argv[1]))
    sys.stdout.write("\n".join(compare_samples(sys.stdin.buffer, thresholds)))


main()
