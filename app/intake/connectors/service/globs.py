"""Patterns for paths, which select the documents of a source to crawl.

`*`, `?` and `[…]` match within a name, `**` matches any number of folders. A pattern without a
slash applies to names in every folder.
"""

import fnmatch
import re
from collections.abc import Sequence
from functools import lru_cache

MAX_PATTERN = 500
MAX_PATTERNS = 100
_ANY_FOLDERS = None
_Part = re.Pattern[str] | None


def is_included(path: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """Return whether a path matches a pattern of `include`, if not empty, and none of `exclude`."""
    names = path.split("/")
    if include and not any(_matches(_compile(pattern), names) for pattern in include):
        return False
    return not any(_matches(_compile(pattern), names) for pattern in exclude)


@lru_cache(maxsize=4096)
def _compile(pattern: str) -> tuple[_Part, ...]:
    """Return the parts of a pattern between slashes; None stands for any number of folders.

    The expressions of `fnmatch` never backtrack beyond the last star, so they take linear time. The
    expressions of libraries that support `**` take exponential time for some patterns.
    """
    names = pattern.strip("/").split("/")
    if "/" not in pattern:
        names = ["**", *names]
    return tuple(
        _ANY_FOLDERS if name == "**" else re.compile(fnmatch.translate(name)) for name in names
    )


def _matches(parts: Sequence[_Part], names: Sequence[str]) -> bool:
    """Return whether the parts match all names.

    `reached` contains each number of parts that match the names so far.
    """
    reached = _add_skipped({0}, parts)
    for name in names:
        following = set()
        for position in reached:
            if position == len(parts):
                continue
            part = parts[position]
            if part is _ANY_FOLDERS:
                following.add(position)
            elif part.match(name):
                following.add(position + 1)
        reached = _add_skipped(following, parts)
    return len(parts) in reached


def _add_skipped(reached: set[int], parts: Sequence[_Part]) -> set[int]:
    """Return the positions and those after each `**`, because `**` also matches no folder."""
    complete = set(reached)
    for position in sorted(reached):
        following = position
        while following < len(parts) and parts[following] is _ANY_FOLDERS:
            following += 1
            complete.add(following)
    return complete
