"""Compile the regular expressions of schemas with RE2, which matches in linear time."""

from typing import Protocol

MAX_PATTERN_CHARS = 1000
MAX_MEMORY_BYTES = 1 << 20
"""The default limit for the memory of a compiled pattern; see `compile_pattern`."""


class Match(Protocol):
    """A match of a regular expression."""

    def start(self) -> int:
        """Return the code point offset at which the match starts."""


class Pattern(Protocol):
    """A compiled regular expression."""

    programsize: int
    """The number of instructions. The search time per character is at most proportional to it."""

    def search(self, text: str) -> Match | None:
        """Search `text` for a match at any position; return the match or None."""


def compile_pattern(
    pattern: str, *, ignore_case: bool = False, max_memory_bytes: int = MAX_MEMORY_BYTES
) -> Pattern:
    """Compile an RE2 expression (no look-around, no back-references).

    The expression matches anywhere, like `pattern` in JSON Schema; use `^` and `$` to anchor it.
    `max_memory_bytes` limits the memory for the pattern and for the states that RE2 caches when it
    searches. Raises ValueError with the reason if RE2 rejects the pattern, for example because it
    needs more memory, or if it has more than MAX_PATTERN_CHARS characters or a lone surrogate.
    """
    import re2  # type: ignore[import-untyped] # noqa: PLC0415 - most processes never need it

    if len(pattern) > MAX_PATTERN_CHARS:
        raise ValueError(f"the pattern is longer than {MAX_PATTERN_CHARS:,} characters")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = max_memory_bytes
    options.case_sensitive = not ignore_case
    # The groups of a match are not used, and finding them takes more time.
    options.never_capture = True
    try:
        compiled: Pattern = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(text[:200] or "the pattern has a syntax error") from None
    except UnicodeEncodeError:
        raise ValueError("the pattern contains an unpaired surrogate") from None
    return compiled
