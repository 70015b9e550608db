"""Path patterns that select the documents to crawl in a source.

`*`, `?` and `[…]` match within a name, and `**` matches any number of folders. A pattern without a
slash applies to names in every folder.
"""

import fnmatch
import re
from collections.abc import Sequence
from functools import lru_cache

MAX_PATTERN_LENGTH = 500
MAX_PATTERNS = 100
_ANY_FOLDERS = None
_Part = re.Pattern[str] | None


def is_included(path: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """Return whether a path is selected by `include` patterns and not excluded by `exclude`.

    If `include` is empty, all paths are selected.
    """
    names = path.split("/")
    if include and not any(_matches_path(_compile_pattern(pattern), names) for pattern in include):
        return False
    return not any(_matches_path(_compile_pattern(pattern), names) for pattern in exclude)


@lru_cache(maxsize=4096)
def _compile_pattern(pattern: str) -> tuple[_Part, ...]:
    """Compile the parts of a pattern between slashes; None stands for any number of folders.

    Regular expressions from `fnmatch` never backtrack beyond the last star, so they take linear
    time. Expressions from libraries that support `**` take exponential time for some
    patterns.
    """
    names = pattern.strip("/").split("/")
    if "/" not in pattern:
        names = ["**", *names]
    return tuple(
        _ANY_FOLDERS if name == "**" else re.compile(fnmatch.translate(name)) for name in names
    )


def _matches_path(parts: Sequence[_Part], names: Sequence[str]) -> bool:
    """Return whether the parts of a pattern match all names of a path.

    A position in `positions` is the number of parts that match the names handled so far.
    """
    positions = _add_skipped_positions({0}, parts)
    for name in names:
        next_positions = set()
        for position in positions:
            if position == len(parts):
                continue
            part = parts[position]
            if part is _ANY_FOLDERS:
                next_positions.add(position)
            elif part.match(name):
                next_positions.add(position + 1)
        positions = _add_skipped_positions(next_positions, parts)
    return len(parts) in positions


def _add_skipped_positions(positions: set[int], parts: Sequence[_Part]) -> set[int]:
    """Add the position after each `**` to the positions, because `**` also matches no folder."""
    all_positions = set(positions)
    for position in sorted(positions):
        next_position = position
        while next_position < len(parts) and parts[next_position] is _ANY_FOLDERS:
            next_position += 1
            all_positions.add(next_position)
    return all_positions
