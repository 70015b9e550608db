"""Every email template exists in every language of its folder, with the same values."""

import importlib
import pkgutil
from pathlib import Path

import pytest
from flask import Flask
from lxml import html as lxml_html

from app.kit.emails import EMAILS_BY_NAME
from app.kit.emails.layout import load_layout_phrases, render
from app.kit.emails.templates import TextTemplate, parse_phrase

ROOT = Path(__file__).parents[3] / "app"
FOLDERS = {p.parent.relative_to(ROOT).as_posix() for p in ROOT.rglob("emails/*.toml")}


def _import_all() -> None:
    """Import every feature that has email templates, which registers the templates."""
    for folder in sorted(FOLDERS):
        package = importlib.import_module(".".join(["app", *Path(folder).parent.parts]))
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)


_import_all()

TEMPLATES = [
    pytest.param(folder, language, name, id=f"{folder}/{language}/{name}")
    for folder, emails in sorted(EMAILS_BY_NAME.items())
    for language, found in emails.templates.templates_by_language.items()
    for name in found
]


def _values(wording: TextTemplate) -> dict[str, str]:
    # These words occur nowhere else, so the test notices a missing value.
    found = {name: f"zq{name}zq" for name in wording.value_names}
    return {**found, "token": "zqtokenzq", "link": "https://zq.example/open?token=zqtokenzq"}


def test_every_folder_of_emails_is_known() -> None:
    # Queued jobs contain the name that the folders had in the previous release.
    stored_names = {Path(folder).with_name("letters").as_posix() for folder in FOLDERS}
    assert set(EMAILS_BY_NAME) == stored_names
    assert "delivery/notifications/emails" in FOLDERS


@pytest.mark.parametrize("folder", sorted(EMAILS_BY_NAME))
def test_every_language_has_every_email_with_the_same_values(folder: str) -> None:
    languages = EMAILS_BY_NAME[folder].templates.templates_by_language
    assert set(languages) == set(load_layout_phrases()) >= {"en", "de"}
    english = {name: template.value_names for name, template in languages["en"].items()}
    for language, templates in languages.items():
        assert {n: found.value_names for n, found in templates.items()} == english, language
        assert language in load_layout_phrases(), f"app/kit/emails/base has no {language}"


@pytest.mark.parametrize(("folder", "language", "name"), TEMPLATES)
def test_the_text_carries_all_that_the_html_does(
    app: Flask, folder: str, language: str, name: str
) -> None:
    wording = EMAILS_BY_NAME[folder].templates.templates_by_language[language][name]
    email = render(wording, _values(wording), public_url="https://zq.example", service="Labels")
    page = lxml_html.document_fromstring(email.html)
    paragraphs = {p.text_content() for p in page.xpath("//main/p")}
    # The plain text shows only the address, because it has no button.
    shown = paragraphs - {load_layout_phrases()[language]["link"]}
    words = {word.rstrip(":") for word in email.text.split()}
    for paragraph in shown:
        assert {word.rstrip(":") for word in paragraph.split()} <= words, paragraph
    body = page.xpath("string(//main)")
    for value in _values(wording).values():
        assert (value in email.text) == (value in body)
    assert email.subject.strip()
    assert "\n" not in email.subject
    assert all(wording.paragraphs)


def _list_variables(phrases: dict[str, str]) -> dict[str, set[str]]:
    return {
        key: {part.text for part in parse_phrase(phrase) if part.is_variable}
        for key, phrase in phrases.items()
    }


def test_the_surroundings_are_the_same_in_every_language() -> None:
    expected = _list_variables(load_layout_phrases()["en"])
    for language, phrases in load_layout_phrases().items():
        assert _list_variables(phrases) == expected, language
