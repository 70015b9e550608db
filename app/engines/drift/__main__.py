"""The child process of `find_drift`: reads hypotheses from stdin, and writes results to stdout."""

import json
import os
import sys

from app.engines.drift.model import Limits
from app.engines.drift.process import run
from app.engines.sandbox.confinement import exit_with_parent

_NICENESS = 10


def main() -> None:
    """Compare the hypotheses. The arguments are the limits as JSON and the caller's process id."""
    exit_with_parent(int(sys.argv[2]))
    os.nice(_NICENESS)
    limits = Limits(**json.loads(sys.argv[1]))
    sys.stdout.write("\n".join(run(sys.stdin.buffer, limits)))


main()
