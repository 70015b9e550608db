"""Document paths: safe to show and to compare, and as precise as the bytes of the name."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.sources.paths import decode_path, encode_key, encode_name, split_path


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("Ärger 50%.pdf".encode(), "Ärger 50%.pdf"),
        (b"50%41.pdf", "50%2541.pdf"),
        (b"..", "%2E%2E"),
        (b"line\nbreak\x00", "line%0Abreak%00"),
        ("fdp.\u202eexe".encode(), "fdp.%E2%80%AEexe"),
        (b"latin-\xe9.txt", "latin-%E9.txt"),
        ("क्\u200dष.txt".encode(), "क्\u200dष.txt"),
    ],
)
def test_names_are_shown_unless_they_mislead(name: bytes, path: str) -> None:
    assert encode_name(name) == path
    assert decode_path(path) == name


@given(st.binary(min_size=1, max_size=40))
def test_each_name_has_one_safe_segment(name: bytes) -> None:
    segment = encode_name(name)
    assert decode_path(segment) == name
    assert "/" not in segment
    assert segment not in (".", "..")
    assert not any(unicodedata.category(char) in ("Cc", "Cs", "Zl") for char in segment)
    segment.encode()


@given(st.lists(st.sampled_from([b"a", b"/", b"..", b".", b"%2F", b"\xff"]), max_size=8))
def test_each_key_has_one_path_without_empty_segments(parts: list[bytes]) -> None:
    key = b"".join(parts)
    path = encode_key(key)
    assert decode_path(path) == key
    assert ".." not in path.split("/")
    assert not path.startswith("/")


@pytest.mark.parametrize("path", ["..", "a/../b", "%2E%2E/a", "a%2Fb", "a//b", "a/%00", "/a", "."])
def test_paths_that_lead_elsewhere_have_no_names(path: str) -> None:
    assert split_path(path) is None


def test_paths_with_lone_surrogates_have_names() -> None:
    assert split_path("a\ud800") == [b"a?"]
