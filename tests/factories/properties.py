"""The number of examples of property tests.

The suite tries the same examples in every run, so that only a change can make it fail. To look for
new failures, run tests with the environment variable EXAMPLES: `EXAMPLES=10` tries ten times as
many examples as a property names, chosen at random.
"""

import os
from typing import Any

from hypothesis import settings

_FACTOR = float(os.environ.get("EXAMPLES", "0.4"))
_MIN = 25
_IS_RANDOM = "EXAMPLES" in os.environ


def examples(count: int, **options: Any) -> settings:
    """Return the settings of a property test with `count` examples, times EXAMPLES or 0.4.

    A test with up to 25 examples tries all of them.
    """
    chosen = max(round(count * _FACTOR), min(count, _MIN))
    return settings(max_examples=chosen, deadline=None, derandomize=not _IS_RANDOM, **options)


def load_profile() -> None:
    """Let property tests without settings have 100 examples, times EXAMPLES or 0.4."""
    settings.register_profile("suite", examples(100, print_blob=True))
    settings.load_profile("suite")
