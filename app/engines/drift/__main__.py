"""The child process of `find_drift`: hypotheses on standard input, results on standard output."""

import json
import os
import sys

from app.engines.drift.model import Limits
from app.engines.drift.process import run
from app.engines.sandbox.confinement import end_with_parent

_NICENESS = 10


def main() -> None:
    """Compare the hypotheses; the arguments are the limits and the process id of the caller."""
    end_with_parent(int(sys.argv[2]))
    os.nice(_NICENESS)
    limits = Limits(**json.loads(sys.argv[1]))
    sys.stdout.write("\n".join(run(sys.stdin.buffer, limits)))


main()
