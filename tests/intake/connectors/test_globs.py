"""Patterns of paths."""

import pytest

from app.intake.connectors.service.globs import is_included

PATHS = ("a.pdf", "b.txt", "x/a.pdf", "x/y/a.pdf", "x/y/.hidden", "x[1].pdf")


@pytest.mark.parametrize(
    ("pattern", "chosen"),
    [
        ("*.pdf", {"a.pdf", "x/a.pdf", "x/y/a.pdf", "x[1].pdf"}),
        ("/*.pdf", {"a.pdf", "x[1].pdf"}),
        ("x/*.pdf", {"x/a.pdf"}),
        ("x/**", {"x/a.pdf", "x/y/a.pdf", "x/y/.hidden"}),
        ("x/**/a.pdf", {"x/a.pdf", "x/y/a.pdf"}),
        ("**/y/*", {"x/y/a.pdf", "x/y/.hidden"}),
        ("**", set(PATHS)),
        ("?.pdf", {"a.pdf", "x/a.pdf", "x/y/a.pdf"}),
        ("[ab].*", {"a.pdf", "b.txt", "x/a.pdf", "x/y/a.pdf"}),
        ("x[[]1].pdf", {"x[1].pdf"}),
        ("A.PDF", set()),
        ("y", set()),
    ],
)
def test_include(pattern: str, chosen: set[str]) -> None:
    assert {path for path in PATHS if is_included(path, [pattern], [])} == chosen
    assert {path for path in PATHS if not is_included(path, [], [pattern])} == chosen


def test_nothing_given_chooses_all_and_exclusion_prevails() -> None:
    assert all(is_included(path, [], []) for path in PATHS)
    assert not is_included("a.pdf", ["*.pdf"], ["a.*"])


@pytest.mark.parametrize("pattern", ["*a" * 100 + "b", "**/" * 100 + "b", "[" * 200, "*" * 400])
def test_hostile_patterns_take_linear_time(pattern: str) -> None:
    # With a backtracking matcher this test would not end.
    assert not is_included("/".join(["a" * 2000] * 60), [pattern], []) or pattern.strip("*") == ""
