"""Patterns of paths."""

import pytest

from app.intake.connectors.service.globs import MAX_LEVELS, PathPatterns

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
    assert set(filter(PathPatterns([pattern], []).is_included, PATHS)) == chosen
    excluding = PathPatterns([], [pattern])
    assert {path for path in PATHS if not excluding.is_included(path)} == chosen


@pytest.mark.parametrize(
    ("include", "exclude", "folders"),
    [
        ([], [], {"x", "x/y", "z"}),
        (["*.pdf"], [], {"x", "x/y", "z"}),
        (["x/*.pdf"], [], {"x"}),
        (["x/y/**"], [], {"x", "x/y"}),
        (["/*.pdf"], [], set()),
        ([], ["x/**"], {"z"}),
        ([], ["**/y/**"], {"x", "z"}),
        ([], ["y", "x", "x/*", "**/y/*"], {"x", "x/y", "z"}),
        (["**/y/**"], ["z/**"], {"x", "x/y"}),
    ],
)
def test_folders_to_read(include: list[str], exclude: list[str], folders: set[str]) -> None:
    patterns = PathPatterns(include, exclude)
    assert set(filter(patterns.may_contain, ("x", "x/y", "z"))) == folders


@pytest.mark.parametrize("pattern", ["x/**", "**/y/**", "x/*.pdf", "*.pdf", "x/**/a.pdf", "y/**"])
def test_no_folder_with_an_included_document_is_left_out(pattern: str) -> None:
    for patterns in (PathPatterns([pattern], []), PathPatterns([], [pattern])):
        for path in filter(patterns.is_included, PATHS):
            folders = path.split("/")[:-1]
            assert all(
                patterns.may_contain("/".join(folders[:end])) for end in range(1, len(folders) + 1)
            )


def test_nothing_given_chooses_all_and_exclusion_prevails() -> None:
    assert all(map(PathPatterns([], []).is_included, PATHS))
    assert not PathPatterns(["*.pdf"], ["a.*"]).is_included("a.pdf")


@pytest.mark.parametrize("pattern", ["*a" * 100 + "b", "**/" * 100 + "b", "[" * 200, "*" * 400])
def test_hostile_patterns_take_linear_time(pattern: str) -> None:
    # With a backtracking matcher this test would not end.
    path = "/".join(["a" * 2000] * 60)
    assert not PathPatterns([pattern], []).is_included(path) or pattern.strip("*") == ""


def test_patterns_select_no_paths_of_endless_names() -> None:
    deepest, deeper = ("/".join(["a"] * count) for count in (MAX_LEVELS, MAX_LEVELS + 1))
    for patterns in (PathPatterns(["a"], []), PathPatterns([], ["b"])):
        assert patterns.is_included(deepest)
        assert not patterns.is_included(deeper)
    assert PathPatterns([], []).is_included(deeper)
