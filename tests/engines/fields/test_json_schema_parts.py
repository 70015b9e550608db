"""Patterns of order, and patterns in the words that all engines share."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.fields.decimals import format_decimal
from app.engines.fields.json_schema import ranges
from app.engines.fields.json_schema.portable import translate_pattern
from app.engines.fields.patterns import compile_pattern
from tests.factories.properties import examples

QUICK = examples(200)
DECIMALS = st.one_of(
    st.decimals(-2000, 2000, places=3),
    st.decimals(-2, 2, places=2),
    st.integers(-1200, 1200).map(Decimal),
    st.sampled_from([Decimal(10) ** 20, -(Decimal(10) ** 20), Decimal("-0.001"), Decimal(0)]),
)


@QUICK
@given(limit=DECIMALS, number=DECIMALS, places=st.integers(0, 4))
def test_decimals_keep_their_order(limit: Decimal, number: Decimal, places: int) -> None:
    text = format_decimal(number or Decimal(0), places)
    assert re.search(ranges.DECIMAL_PATTERN, text)
    assert bool(re.search(ranges.build_decimal_min_pattern(limit), text)) == (number >= limit)
    assert bool(re.search(ranges.build_decimal_max_pattern(limit), text)) == (number <= limit)


@pytest.mark.parametrize("text", ["", "-", "01", "1.", ".5", "+1", "1e3", "1,5", "9" * 51, "٣"])
def test_what_is_no_decimal_in_canonical_form(text: str) -> None:
    assert re.search(ranges.DECIMAL_PATTERN, text) is None


@pytest.mark.parametrize(
    "moments",
    [
        st.dates().map(lambda day: day.isoformat()),
        st.times().map(lambda time: time.isoformat()),
        st.datetimes().map(lambda moment: moment.isoformat() + "Z"),
    ],
    ids=["date", "time", "datetime"],
)
def test_moments_keep_their_order(moments: st.SearchStrategy[str]) -> None:
    # Close to one another, too: with the same beginning, with and without a fraction.
    pairs = st.tuples(moments, moments) | moments.map(lambda one: (one, one))
    cut = st.sampled_from([None, "start", "end"])

    @QUICK
    @given(pair=pairs, whole=cut)
    def check(pair: tuple[str, str], whole: str | None) -> None:
        limit, moment = (one.rstrip("Z") for one in pair)
        zone = "Z" if pair[0].endswith("Z") else ""
        if whole == "start":
            limit = limit.partition(".")[0]
        if whole == "end":
            moment = moment.partition(".")[0]
        least, most = (
            ranges.build_time_min_pattern(limit + zone),
            ranges.build_time_max_pattern(limit + zone),
        )
        assert bool(re.search(least, moment + zone)) == (moment >= limit)
        assert bool(re.search(most, moment + zone)) == (moment <= limit)

    check()


@pytest.mark.parametrize(
    ("pattern", "portable_pattern"),
    [
        (r"^\d{3}$", "^[0-9]{3}$"),
        (r"\Aa.c\z", r"^a[^\n]c$"),
        (r"(?P<year>\d+)-(?:x|y)?", "(?:[0-9]+)-(?:x|y)?"),
        (r"[^\W_]+", None),
        (r"[[:upper:][:digit:]-]", r"[A-Z0-9\-]"),
        (r"[]a]", r"[\]a]"),
        (r"a{,3}", r"a\{,3\}"),
        (r"\x{1F600}+?", "😀+?"),
        (r"\s", r"[\x09-\n\x0c-\x0d ]"),
        ("(?i)a", None),
        (r"\pL", None),
        (r"\Qa.b\E", None),
        ("^*", None),
        ("(?i:a)", None),
        (r"\C", None),
        (r"\07", None),
    ],
)
def test_patterns_are_told_in_shared_words_or_not_at_all(
    pattern: str, portable_pattern: str | None
) -> None:
    compile_pattern(pattern)
    if pattern == r"[^\W_]+":
        assert translate_pattern(pattern) is not None
    else:
        assert translate_pattern(pattern) == portable_pattern


ATOMS = st.sampled_from(
    [
        *("a", "b1", "-", ".", r"\d", r"\W", r"\s", r"\S", "[a-c]", "[^a]", r"[^\d-]", r"[\w.]"),
        *("[[:alpha:]]", "[[:^space:]]", r"\b", r"\B", "^", "$", r"\.", "{", "ü", r"\x41", "]"),
        *(r"[\]\\^-]", "[^^]", r"\n", r"\A", r"\z", "(?:a|)", "(b)", "(?P<n>x)"),
    ]
)
REPEATS = st.sampled_from(["", "", "*", "+?", "?", "{2}", "{0,1}", "{1,}"])
PATTERNS = st.lists(st.tuples(ATOMS, REPEATS), min_size=1, max_size=4).map(
    lambda parts: "".join(atom + repeat for atom, repeat in parts)
)
TEXTS = st.text(st.sampled_from("aAbB1x-. _\n\t\x0b{]ü\u0663\u2003é\\^"), max_size=6)


@examples(500)
@given(pattern=PATTERNS, text=TEXTS)
def test_a_pattern_in_shared_words_finds_what_it_found(pattern: str, text: str) -> None:
    try:
        original = compile_pattern(pattern)
    except ValueError:
        return
    portable_pattern = translate_pattern(pattern)
    if portable_pattern is None:
        return
    # Python's `$` also stands before a last line feed; ECMA-262's and RE2's do not.
    found = re.search(re.sub(r"(?<!\\)\$", r"\\Z", portable_pattern), text)
    assert (found is not None) == (original.search(text) is not None)
