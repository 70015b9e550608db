"""Messages: plural forms, paragraphs without values, and times in the reader's time zone."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from babel import Locale

from app.delivery.notifications.service import sending
from app.delivery.notifications.service.collecting import TOPICS
from app.kit.emails import MessageTemplates
from app.kit.emails.templates import TemplateError

EN = """
[files_one]
subject = "{count} file of {who}"
text = "It is here."
[files_other]
subject = "{count} files of {who}"
text = '''
They are here.

Due {due}.

Because: {why}
'''
"""
PL = """
[files_one]
subject = "{count} plik"
text = "x"
[files_few]
subject = "{count} pliki"
text = "x"
[files_other]
subject = "{count} plików"
text = "x"
"""
NOTHING = {"who": "Ann", "due": None, "why": None}


@pytest.fixture
def messages(tmp_path: Path) -> MessageTemplates:
    (tmp_path / "en.toml").write_text(EN, encoding="utf-8")
    (tmp_path / "pl.toml").write_text(PL, encoding="utf-8")
    (tmp_path / "de.toml").write_text(EN.replace("Due", "Bis"), encoding="utf-8")
    return MessageTemplates(tmp_path)


def _write(messages: MessageTemplates, count: int, locale: str = "en", **values: Any) -> Any:
    all_values = {**NOTHING, **values}
    return messages.render(
        "files", locale=locale, time_zone="Europe/Vienna", values=all_values, count=count
    )


@pytest.mark.parametrize(
    ("locale", "count", "title"),
    [
        ("en", 1, "1 file of Ann"),
        ("en-GB", 2, "2 files of Ann"),
        ("fr", 0, "0 files of Ann"),
        ("pl", 1, "1 plik"),
        ("pl-PL", 3, "3 pliki"),
        # If the file lacks a plural form, the form `other` in the same language is used.
        ("pl", 5, "5 plików"),
    ],
)
def test_the_number_and_the_language_choose_the_words(
    messages: MessageTemplates, locale: str, count: int, title: str
) -> None:
    assert _write(messages, count, locale).title == title


def test_paragraphs_without_a_value_are_left_out(messages: MessageTemplates) -> None:
    assert _write(messages, 2).body == "They are here."
    assert _write(messages, 2, why="so").body == "They are here.\n\nBecause: so"


def test_moments_are_written_where_the_reader_is(messages: MessageTemplates) -> None:
    due = datetime(2026, 7, 1, 12, 30, tzinfo=UTC)
    english, german = (_write(messages, 2, locale, due=due).body for locale in ("en", "de"))
    assert "Due 1 July 2026, 14:30" in english
    assert "Bis 1 Juli 2026, 14:30" in german


def test_values_are_no_templates_and_a_title_is_one_line(messages: MessageTemplates) -> None:
    message = _write(messages, 2, who="{why}\r\nBcc: x\x00", why="a\nb")
    assert message.title == "2 files of {why} Bcc: x"
    assert message.body == "They are here.\n\nBecause: a\nb"


def test_what_is_missing_is_noticed(messages: MessageTemplates) -> None:
    with pytest.raises(TemplateError):
        messages.render("nope", locale="en", time_zone="UTC", values={})
    with pytest.raises(KeyError):
        messages.render("files", locale="en", time_zone="UTC", values={}, count=2)


def test_every_language_of_the_notifications_has_every_message() -> None:
    """With the plural forms of the language, and the same values as in English."""
    languages = sending.messages.templates.templates_by_language
    assert {"en", "de"} <= set(languages)
    for language, found in languages.items():
        forms = Locale.parse(language, sep="-").plural_form.tags | {"other"}
        needed: dict[str, frozenset[str]] = {}
        for name, template in languages["en"].items():
            stem, other, _ = name.partition("_other")
            names = [f"{stem}_{form}" for form in forms] if other else [name]
            needed |= dict.fromkeys(names, template.value_names | {"count"})
        # English may omit the form `one` if its text equals the form `other`.
        missing = {name for name in needed if not name.endswith("_one") or language != "en"}
        assert missing <= set(found) <= set(needed), language
        for name, template in found.items():
            assert template.value_names | {"count"} == needed[name], f"{language}: {name}"


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("count", [1, 2, 21])
@pytest.mark.parametrize("topic", sorted(TOPICS))
def test_every_topic_has_texts_in_every_language(topic: str, count: int, language: str) -> None:
    values = dict.fromkeys(("document", "documents", "by", "due_at", "reason"), "zq")
    due = {"due_at": datetime(2026, 7, 1, 12, 30, tzinfo=UTC)}
    for name, number in ((topic, count), (TOPICS[topic].single_message_name, None)):
        if name is not None:
            message = sending.messages.render(
                name, locale=language, time_zone="UTC", values={**values, **due}, count=number
            )
            assert message.title
            assert "{" not in message.title + message.body
