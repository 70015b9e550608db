"""Limits on the patterns (regular expressions) of all rules, and on the time to evaluate rules.

The limits on patterns bound the memory of the compiled rules. The limits on time are also needed,
because the time that a pattern takes depends on the text of the document.
"""

from collections.abc import Iterable
from typing import NamedTuple

from app.engines.conditions.compiled_conditions import CompiledConditions

MAX_PATTERNS_OF_RULES = 200
MAX_PROGRAM_SIZE_OF_RULES = 30_000
"""The maximum number of instructions in all compiled patterns together."""

MAX_DOCUMENT_SECONDS = 2.0
"""The maximum processor time for evaluating all rules on one document."""

MAX_BATCH_SECONDS = 2.0
"""The time after which a batch is written, so that the organization's routing lock is released."""

MAX_JOB_SECONDS = 20.0
"""The time after which a routing job ends, and requests a new job for the remaining documents.

Other due jobs run before the new job."""

MAX_SIMULATION_SECONDS = 5.0
"""The maximum processor time of a simulation, which blocks a thread of the API."""


class PatternTotals(NamedTuple):
    """The number of patterns in several rules, and the total size of their compiled programs.

    `program_size` is a number of instructions.
    """

    pattern_count: int
    program_size: int

    @property
    def error_message(self) -> str | None:
        """Return the error message if a total exceeds its limit, or None if no total does."""
        if self.pattern_count > MAX_PATTERNS_OF_RULES:
            return f"All rules together can have at most {MAX_PATTERNS_OF_RULES} patterns."
        if self.program_size > MAX_PROGRAM_SIZE_OF_RULES:
            return (
                "The patterns of all rules together are too large. Use fewer patterns, repetitions"
                " and character classes."
            )
        return None

    def is_larger_than(self, other: "PatternTotals") -> bool:
        """Return whether one of the totals is larger than the same total of `other`."""
        return self.pattern_count > other.pattern_count or self.program_size > other.program_size


def sum_patterns(conditions: Iterable[CompiledConditions]) -> PatternTotals:
    """Sum the numbers of patterns and of their instructions in the conditions of rules."""
    totals = [(compiled.pattern_count, compiled.program_size) for compiled in conditions]
    return PatternTotals(sum(count for count, _ in totals), sum(size for _, size in totals))
