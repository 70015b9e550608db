"""Documents and answers that are made so that finding the values is slow."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.extraction.model import Document, SourceWord
from app.engines.fields import check_fields
from app.engines.fields.values import get_normalizer
from app.engines.model_servers import alignment, document_search, text_index
from app.engines.model_servers.alignment import align_values
from app.engines.model_servers.text_index import TextIndex, TextRange

SECOND = 1.0
COST = 0.01
"""What one normalization takes by the clock of the tests, in seconds."""


def _build_document(text: str) -> Document:
    words = [
        SourceWord(one.group(), 1, (0.1, 0.1, 0.2, 0.2), one.start(), one.end())
        for one in re.finditer(r"\S+", text)
    ]
    return Document(text, words)


class Clock:
    """A clock of processor time that only normalizations advance."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.calls = 0.0, 0
        monkeypatch.setattr(document_search, "thread_time", lambda: self.now)
        monkeypatch.setattr(alignment, "get_normalizer", self._get_normalizer)

    def _get_normalizer(self, field: dict[str, Any]) -> Callable[[object], Any]:
        normalize = get_normalizer(field)

        def count(value: object) -> Any:
            self.now += COST
            self.calls += 1
            return normalize(value)

        return count


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return the clock that the searches of the test use."""
    return Clock(monkeypatch)


def _align(kind: str, text: str, values: list[str]) -> list[Any]:
    fields = check_fields([{"key": "value", "type": kind, "multiple": True}])
    return align_values({"value": values}, _build_document(text), fields)


@pytest.mark.parametrize(
    ("kind", "text", "values"),
    [
        # Each run of words has the clue of each value, and denotes none.
        ("date", " ".join(f"2026 {n % 12}/2026" for n in range(3000)), ["2026-03-03"]),
        ("time", " ".join(f"{n} h" for n in range(3000)), ["14:00:00"]),
        ("phone", " ".join(f"{n} 3456" for n in range(3000)), ["+49 30 123456"]),
        ("money", "EUR 1 " * 3000, [f"EUR 1{'0' * n}.00" for n in range(1, 20)]),
        ("text", "a " * 3000, [f"b {n}" for n in range(900)]),
    ],
)
def test_a_document_costs_at_most_a_second(
    clock: Clock, kind: str, text: str, values: list[str]
) -> None:
    assert _align(kind, text, values) == []
    assert clock.now <= SECOND


def test_made_up_values_are_hardly_compared_with_the_words(clock: Clock) -> None:
    text = " ".join(str(1000 + number) for number in range(6000))
    assert _align("number", text, [f"{number}.5" for number in range(40)]) == []
    assert clock.calls < 80


def test_equal_runs_of_words_are_read_once(clock: Clock) -> None:
    assert _align("date", "2026 " * 6000, ["2026-03-03"]) == []
    assert clock.calls < 10


def test_a_search_compares_few_places(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []

    def record_start(_: TextIndex, start: int, _end: int) -> None:
        compared.append(start)

    monkeypatch.setattr(TextIndex, "_build_range_of_whole_words", record_start)
    index = TextIndex("a-" * 20_000)
    assert index.find("a-a") is None
    assert index.find("-") is None
    assert index.find("a-a") is None
    assert len(compared) == 2 * text_index._MAX_POSITIONS


def test_only_what_was_sent_to_the_model_is_searched() -> None:
    text = "x" * 59_990 + " 123 456789"
    (tag,) = _align("text", text, ["123", "456789"])
    assert tag["value"] == "123"


@given(st.text(alphabet="aAb1-. \n€_", max_size=30), st.text(alphabet="aAb1-. €_", max_size=8))
def test_texts_are_found_as_a_pattern_finds_them(text: str, sought: str) -> None:
    parts = sought.split()
    pattern = r"\s+".join(map(re.escape, parts))
    expected = re.search(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE) if parts else None
    found = TextIndex(text).find(sought)
    assert found == (None if expected is None else TextRange(expected.start(), expected.end()))


@given(st.text(max_size=60))
def test_offsets_are_those_of_the_document(text: str) -> None:
    index = TextIndex(text)
    for token in re.finditer(r"\S+", text):
        found = index.find(token.group())
        if found is not None:
            assert text[found.start : found.end].lower() == token.group().lower()
