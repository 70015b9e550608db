"""The choice of the reader's language, and invalid template files."""

from pathlib import Path

import pytest

from app.kit.emails.templates import (
    PhrasePart,
    TemplateError,
    TextTemplates,
    get_text_direction,
    list_fallback_languages,
    parse_phrase,
)

HELLO = '[hello]\nsubject = "Hello"\ntext = "Hello {name}."\n'


def _folder(path: Path, **files: str) -> TextTemplates:
    for language, text in files.items():
        (path / f"{language.replace('_', '-')}.toml").write_text(text, encoding="utf-8")
    return TextTemplates(path)


def test_region_then_language_then_english(tmp_path: Path) -> None:
    found = _folder(
        tmp_path,
        en=HELLO + '[bye]\nsubject = "Bye"\ntext = "Bye."\n',
        de='[hello]\nsubject = "Hallo"\ntext = "Hallo {name}."\n',
        de_AT='[hello]\nsubject = "Servus"\ntext = "Servus {name}."\n',
    )
    expected = {"de-AT": "de-AT", "de_at": "de-AT", "de-CH": "de", "DE": "de", "fr-FR": "en"}
    assert {tag: found.find("hello", tag).language for tag in expected} == expected
    assert found.find("bye", "de-AT").language == "en"


@pytest.mark.parametrize("locale", ["", "-", "../../etc/passwd", "en\x00", "x" * 5000, "日本"])
def test_any_locale_leads_to_an_email(tmp_path: Path, locale: str) -> None:
    assert _folder(tmp_path, en=HELLO).find("hello", locale).language == "en"


def test_an_email_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="no template bye"):
        _folder(tmp_path, en=HELLO).find("bye", "en")


@pytest.mark.parametrize(
    "text",
    [
        *['[x]\nsubject = "s"', '[x]\nsubject = "s"\ntext = "t"\nhtml = "h"', "[x", "\udcff"],
        *['[x]\nsubject = "s"\ntext = "{open"', '[x]\nsubject = "{A.b}"\ntext = "t"'],
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "en.toml").write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(TemplateError):
        _ = TextTemplates(tmp_path).templates_by_language


def test_english_is_never_missing(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"no en\.toml"):
        _ = _folder(tmp_path, de=HELLO).templates_by_language


def test_paragraphs_names_and_candidates(tmp_path: Path) -> None:
    text = '[x]\nsubject = "To {who}"\ntext = """\nOne\nline.\n\nTwo: {what}.\n"""\naction = "Go"\n'
    found = _folder(tmp_path, en=text).find("x", "en")
    assert found.paragraphs[0] == (PhrasePart("One line."),)
    assert found.paragraphs[1] == (
        PhrasePart("Two: "),
        PhrasePart("what", is_variable=True),
        PhrasePart("."),
    )
    assert found.value_names == {"who", "what", "link"}
    assert parse_phrase("") == ()
    assert list_fallback_languages("zh-Hant_TW") == ["zh-hant-tw", "zh-hant", "zh", "en"]


@pytest.mark.parametrize(
    ("language", "expected"),
    [("en", "ltr"), ("ar", "rtl"), ("he-IL", "rtl"), ("uz-Arab", "rtl"), ("ar-Latn-EG", "ltr")],
)
def test_direction(language: str, expected: str) -> None:
    assert get_text_direction(language) == expected
