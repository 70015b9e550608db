"""Choose documents of a source by patterns over their paths.

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
    """Return whether a path matches one of `include`, if there are any, and none of `exclude`."""
    names = path.split("/")
    if include and not any(_matches(_compile(pattern), names) for pattern in include):
        return False
    return not any(_matches(_compile(pattern), names) for pattern in exclude)


@lru_cache(maxsize=4096)
def _compile(pattern: str) -> tuple[_Part, ...]:
    """Return the parts of a pattern between slashes; None stands for any number of folders.

    The expressions of `fnmatch` never backtrack beyond the last star, so that they take linear
    time. Those of libraries with `**` take exponential time for some patterns.
    """
    names = pattern.strip("/").split("/")
    if "/" not in pattern:
        names = ["**", *names]
    return tuple(
        _ANY_FOLDERS if name == "**" else re.compile(fnmatch.translate(name)) for name in names
    )


def _matches(parts: Sequence[_Part], names: Sequence[str]) -> bool:
    """Compare part by part; `reached` are the numbers of parts that match the names so far."""
    reached = _skip_any({0}, parts)
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
        reached = _skip_any(following, parts)
    return len(parts) in reached


def _skip_any(reached: set[int], parts: Sequence[_Part]) -> set[int]:
    """Add the positions after each `**`, which matches no folder, too."""
    complete = set(reached)
    for position in sorted(reached):
        following = position
        while following < len(parts) and parts[following] is _ANY_FOLDERS:
            following += 1
            complete.add(following)
    return complete
