"""Repeat the tests that failed in the last run of pytest once, without other tests beside them.

`python tools/ci/repeat_failed.py [PYTEST_ARGS…]`. Prints `FLAKY` and the name of every test that
passes this time: it hides a defect of the test or of the product. Ends with status 0 when all pass,
and with 1 when one fails again, when pytest itself fails, or when no failed test is known.
"""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

FAILED = Path(".pytest_cache/v/cache/lastfailed")


say = partial(print, flush=True)


def read_failed() -> set[str]:
    """Return the names of the tests that failed the last time that they ran."""
    try:
        return set(json.loads(FAILED.read_bytes()))
    except FileNotFoundError:
        return set()


def remove_group(name: str) -> str:
    """Return a test's name without the group that pytest-xdist appends as `@group`."""
    bare, separator, group = name.rpartition("@")
    return bare if separator and "]" not in group else name


def repeat_failed(arguments: list[str]) -> int:
    """Run the failed tests again, one after another, and return the exit status."""
    failed = {remove_group(name) for name in read_failed()}
    if not failed:
        say("No test failed; something else did.")
        return 1
    FAILED.write_text(json.dumps(dict.fromkeys(failed, True)))
    say(f"Repeating {len(failed)} failed tests, one after another.")
    command = [sys.executable, "-m", "pytest", "--last-failed", "--last-failed-no-failures=none"]
    status = subprocess.run([*command, *arguments], check=False).returncode
    failed_again = read_failed()
    if status not in (0, 1) or (status == 1 and not failed_again):
        return 1  # what failed is not known, so neither is what passed
    for name in sorted(failed - failed_again):
        say(f"FLAKY {name}")
    return status


if __name__ == "__main__":
    sys.exit(repeat_failed(sys.argv[1:]))
