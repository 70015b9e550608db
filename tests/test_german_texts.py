"""German texts address the reader with "du" and use one word for a tag set.

Invoices are an exception: they are letters to a customer, and use the formal "Sie".
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted(
    path
    for folder, pattern in (("app", "**/de.toml"), ("web/src", "**/texts.de.json"))
    for path in (ROOT / folder).glob(pattern)
    if path != ROOT / "app/engines/invoices/languages/de.toml"
)
# Inside a sentence; at its beginning, "Sie" and "Ihre" may also mean "they" and "their".
_FORMAL = re.compile(r"[\w,] (?:Sie|Ihnen|Ihr|Ihre[mnrs]?)\b")
_OTHER_WORDS = re.compile(r"Label-?\s?[Ss](?:atz|ätz|et)|Tag[Ss]et|Tag-S[aä]tz|Tag Set")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_reader_is_du_and_a_tag_set_is_a_tag_set(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert _FORMAL.findall(text) == []
    assert _OTHER_WORDS.findall(text) == []


def test_there_are_texts_of_emails_pages_and_the_workbench() -> None:
    assert len(FILES) > 30
