"""The number of examples of property tests.

The suite tries the same examples in every run, so that only a change can make it fail. To look for
new failures, run tests with the environment variable EXAMPLES: `EXAMPLES=10` tries ten times as
many examples as each test declares, chosen at random.
"""

import os
from typing import Any

from hypothesis import HealthCheck, settings

_FACTOR = float(os.environ.get("EXAMPLES", "0.4"))
_MIN_EXAMPLES = 25
_IS_RANDOM = "EXAMPLES" in os.environ


def examples(count: int, **options: Any) -> settings:
    """Return the settings of a property test that declares `count` examples.

    The number of examples is `count` times EXAMPLES, by default times 0.4. It is at least 25, or
    `count` if that is less.
    """
    # This check measures the time that examples take, and fails on a busy machine.
    unchecked = (HealthCheck.too_slow, *options.pop("suppress_health_check", ()))
    return settings(
        max_examples=max(round(count * _FACTOR), min(count, _MIN_EXAMPLES)),
        deadline=None,
        derandomize=not _IS_RANDOM,
        suppress_health_check=unchecked,
        **options,
    )


def load_profile() -> None:
    """Set the default for property tests without settings of their own: `examples(100)`."""
    settings.register_profile("suite", examples(100, print_blob=True))
    settings.load_profile("suite")
