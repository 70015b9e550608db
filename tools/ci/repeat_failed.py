"""Repeat once the tests that failed in the last run of pytest, without running other tests.

`python tools/ci/repeat_failed.py [PYTEST_ARGS…]`. Prints `FLAKY` and the name of every test that
passes this time, because the test or the product has a defect. The exit status is 0 if all tests
pass, and 1 if a test fails again, if pytest itself fails, or if no failed test is known.
"""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

FAILED = Path(".pytest_cache/v/cache/lastfailed")


print_now = partial(print, flush=True)


def read_failed() -> set[str]:
    """Return the names of the tests that failed in their latest run."""
    try:
        return set(json.loads(FAILED.read_bytes()))
    except FileNotFoundError:
        return set()


def remove_group(name: str) -> str:
    """Return a test's name without the group that pytest-xdist appends as `@group`."""
    bare, separator, group = name.rpartition("@")
    return bare if separator and "]" not in group else name


def repeat_failed(arguments: list[str]) -> int:
    """Run the failed tests again, and return the exit status of this program."""
    failed = {remove_group(name) for name in read_failed()}
    if not failed:
        print_now("No test failed; something else did.")
        return 1
    FAILED.write_text(json.dumps(dict.fromkeys(failed, True)))
    print_now(f"Repeating {len(failed)} failed tests.")
    command = [sys.executable, "-m", "pytest", "--last-failed", "--last-failed-no-failures=none"]
    status = subprocess.run([*command, *arguments], check=False).returncode
    failed_again = read_failed()
    if status not in (0, 1) or (status == 1 and not failed_again):
        return 1  # pytest itself failed, so it is unknown which tests passed
    for name in sorted(failed - failed_again):
        print_now(f"FLAKY {name}")
    return status


if __name__ == "__main__":
    sys.exit(repeat_failed(sys.argv[1:]))
