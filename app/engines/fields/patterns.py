"""Regular expressions of schemas, by an engine whose time is linear in the text (RE2)."""

import importlib
from typing import Any, Protocol, cast

MAX_PATTERN = 1000
_MEMORY = 1 << 20  # bytes a pattern may take; RE2 refuses what needs more


class Pattern(Protocol):
    """A compiled expression."""

    def search(self, text: str) -> object | None:
        """A match anywhere in `text`, or None."""


def compile_pattern(pattern: str, *, ignore_case: bool = False) -> Pattern:
    """Compile an RE2 expression (no look-around, no back-references).

    It matches anywhere, as `pattern` does in JSON Schema: anchor it with `^` and `$`.
    Raises ValueError with RE2's reason.
    """
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"is longer than {MAX_PATTERN:,} characters")
    re2: Any = importlib.import_module("re2")  # on first use: most processes never need it
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    options.case_sensitive = not ignore_case
    try:
        return cast("Pattern", re2.compile(pattern, options))
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(text[:200] or "is no valid expression") from None
    except UnicodeEncodeError:
        raise ValueError("holds half of a surrogate pair") from None
