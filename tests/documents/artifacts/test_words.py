"""The words of pages are laid out only for requested pages, within the size limit of a response."""

import random
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from app.documents.artifacts.service import words
from app.engines.documents.layout import parse_text
from tests.documents.artifacts.conftest import create_text, make_pdf, upload
from tests.factories import Org
from tests.factories.orgs import get_data

_SNIPPETS = (
    "word", "a", " ", "  ", "\n", "\r\n", "\f", "\t", "漢字", "e\u0301", "\u200b", "שלום", "x" * 90,
    "\u2028", "\x01", "😀", ". ", "\n" * 60, "long line of words " * 20,
)  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_a_page_laid_out_alone_equals_the_page_among_others(org: Org, seed: int) -> None:
    dice = random.Random(seed)
    text = "Start " + "".join(dice.choices(_SNIPPETS, k=1500))
    document = create_text(org.api("labeler"), text)
    pages = parse_text(text).pages
    answer = org.api("viewer").get(f"/artifacts/{document['id']}/pages?page_size=1000").json
    assert [page["start"] for page in answer["data"]] == [page.start for page in pages]
    laid_out = orjson.loads(orjson.dumps([page.words for page in pages]))
    expected = [[{**word, "origin": "text"} for word in page] for page in laid_out]
    assert [page["words"] for page in answer["data"]] == expected


def _list_page_words(org: Org, path: str, query: str) -> list[Any]:
    return [page["words"] for page in get_data(org.api("viewer").get(f"{path}?{query}"))]


def test_a_response_never_exceeds_its_limit(org: Org) -> None:
    text = "a b c d e f g h i j k l m n o p q r s t u v w x y z\n" * 20_000
    path = f"/artifacts/{create_text(org.api('labeler'), text)['id']}/pages"
    answer = org.api("viewer").get(f"{path}?page_size=1000")
    has_words = [page["words"] is not None for page in answer.json["data"]]
    assert len(has_words) == answer.json["meta"]["total"] == 345
    assert has_words == sorted(has_words, reverse=True)
    assert 0 < sum(has_words) < len(has_words)
    assert words.MAX_WORDS_BYTES * 0.9 < len(answer.data) < words.MAX_WORDS_BYTES * 1.05
    assert all(
        words is not None for words in _list_page_words(org, path, "page_size=20&sort=-number")
    )


@pytest.mark.parametrize("kind", ["text", "pdf"])
def test_a_page_beyond_the_limit_can_be_requested_alone(
    org: Org, kind: str, work: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"Page {number} of a lease" for number in range(1, 5)]
    if kind == "pdf":
        document = upload(org.api("labeler"), make_pdf(*texts), "lease.pdf").json["data"]
        work()
    else:
        document = create_text(org.api("labeler"), "\f".join(texts))
    path = f"/artifacts/{document['id']}/pages"
    all_words = _list_page_words(org, path, "")
    assert [[word["text"] for word in page] for page in all_words] == [t.split() for t in texts]
    size = max(len(orjson.dumps(page, option=orjson.OPT_INDENT_2)) for page in all_words)
    monkeypatch.setattr(words, "MAX_WORDS_BYTES", size * 2)
    limited = _list_page_words(org, path, "")
    page_count = sum(page is not None for page in limited)
    assert 2 <= page_count < 4
    assert limited == all_words[:page_count] + [None] * (4 - page_count)
    monkeypatch.setattr(words, "MAX_WORDS_BYTES", 1)
    assert _list_page_words(org, path, "") == [all_words[0], None, None, None]
    assert _list_page_words(org, path, "sort=-number") == [all_words[3], None, None, None]
    for number in range(1, 5):
        assert _read_page_words(org, path, number) == all_words[number - 1]


def _read_page_words(org: Org, path: str, number: int) -> Any:
    """Return the words of one page, read with pages of size one."""
    query = "page_size=1"
    for _ in range(number - 1):
        meta = org.api("viewer").get(f"{path}?{query}").json["meta"]
        query = f"page_size=1&cursor={meta['next_cursor']}"
    return _list_page_words(org, path, query)[0]
