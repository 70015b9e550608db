"""Path patterns that select the documents to crawl in a source.

`*`, `?` and `[…]` match within a name, and `**` matches any number of folders. A pattern without a
slash applies to names in every folder.
"""

import fnmatch
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

MAX_LEVELS = 65
"""The maximum number of names in a path to match: the folders that a crawl opens, and the
document. A host may report thousands of names, and each of them takes time for each pattern."""
MAX_PATTERN_LENGTH = 500
MAX_PATTERNS = 100
_ANY_FOLDERS = None
_Part = re.Pattern[str] | None


class PathPatterns(NamedTuple):
    """Selects the paths that match a pattern in `include`, but none in `exclude`.

    If `include` is empty, all paths match it.
    """

    include: Sequence[str]
    exclude: Sequence[str]

    def is_included(self, path: str) -> bool:
        """Return whether the document at this path is selected.

        A path of more than MAX_LEVELS names is only selected if `include` and `exclude` are empty.
        """
        names = path.split("/")
        if len(names) > MAX_LEVELS:
            return not self.include and not self.exclude
        return (not self.include or _matches_any(self.include, names)) and not _matches_any(
            self.exclude, names
        )

    def may_contain(self, folder: str) -> bool:
        """Return whether this folder or a folder below it may contain selected documents."""
        names = folder.split("/")
        if self.include and not any(
            _match_names(parts, names) - {len(parts)}
            for parts in map(_compile_pattern, self.include)
        ):
            return False
        # A pattern that ends with `**` matches a folder together with everything in it.
        exclude = [pattern for pattern in self.exclude if pattern.endswith("/**")]
        return not _matches_any(exclude, names)


def _matches_any(patterns: Sequence[str], names: Sequence[str]) -> bool:
    """Return whether any of the patterns matches all names of a path."""
    return any(
        len(parts) in _match_names(parts, names) for parts in map(_compile_pattern, patterns)
    )


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


def _match_names(parts: Sequence[_Part], names: Sequence[str]) -> set[int]:
    """Return each number n for which the first n parts of a pattern can match all names of a path.

    There may be several numbers, because `**` matches any number of folders. The set is empty if
    the pattern matches neither the path nor any path below it.
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
    return positions


def _add_skipped_positions(positions: set[int], parts: Sequence[_Part]) -> set[int]:
    """Add the position after each `**` to the positions, because `**` also matches no folder."""
    all_positions = set(positions)
    for position in sorted(positions):
        next_position = position
        while next_position < len(parts) and parts[next_position] is _ANY_FOLDERS:
            next_position += 1
            all_positions.add(next_position)
    return all_positions
