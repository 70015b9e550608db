"""The layout of emails with arbitrary values."""

from pathlib import Path

import pytest
from jinja2 import UndefinedError
from lxml import html as lxml_html

from app.kit.emails.layout import RenderedEmail, load_html_template, render
from app.kit.emails.templates import TextTemplate, TextTemplates

EMAIL = '[x]\nsubject = "For {name}"\ntext = "Hello {name}.\\n\\nUntil {date}."\naction = "Open"\n'
URL = "https://labels.example"


def _wording(folder: Path, text: str = EMAIL, language: str = "en") -> TextTemplate:
    (folder / "en.toml").write_text(text, encoding="utf-8")
    (folder / f"{language}.toml").write_text(text, encoding="utf-8")
    return TextTemplates(folder).find("x", language)


def _render(wording: TextTemplate, **values: str | int | None) -> RenderedEmail:
    all_values = {
        "name": "Anna",
        "date": "2026-11-28",
        "link": "/reset-password?token=abc",
        **values,
    }
    return render(wording, all_values, public_url=URL, service="Labels")


def test_text_and_html_say_the_same(tmp_path: Path) -> None:
    email = _render(_wording(tmp_path), token="abc")
    link = f"{URL}/reset-password?token=abc"
    assert email.subject == "For Anna"
    assert email.text == (
        f"Hello Anna.\n\nUntil 2026-11-28.\n\nOpen:\n{link}\n\n"
        "To confirm through the API instead, send this token:\nabc\n\n"
        f"-- \nLabels sent this message. It runs at {URL}.\n"
    )
    page = lxml_html.document_fromstring(email.html)
    assert page.xpath("//a/@href") == [link, link]
    assert page.xpath("string(//code)") == "abc"
    assert (page.get("lang"), page.get("dir")) == ("en", "ltr")
    assert page.xpath("string(//title)") == "For Anna"


def test_nothing_is_fetched_and_nothing_runs(tmp_path: Path) -> None:
    page = lxml_html.document_fromstring(_render(_wording(tmp_path)).html)
    forbidden = "//script | //link | //img | //iframe | //object | //@src | //form | //style"
    assert page.xpath(forbidden) == []
    assert not any("url(" in style for style in page.xpath("//@style"))


def test_right_to_left(tmp_path: Path) -> None:
    page = lxml_html.document_fromstring(_render(_wording(tmp_path, language="ar")).html)
    assert (page.get("lang"), page.get("dir")) == ("ar", "rtl")
    assert page.xpath("//a/ancestor::p/@dir") == ["ltr"]


@pytest.mark.parametrize(
    "name",
    [
        *["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "{date}"],
        *["{% for x in y %}", "${date}", "{name}", "&lt;b&gt;", "%(date)s", "\\u003cb\\u003e"],
    ],
)
def test_values_are_shown_and_never_read(tmp_path: Path, name: str) -> None:
    email = _render(_wording(tmp_path), name=name)
    page = lxml_html.document_fromstring(email.html)
    assert email.text.startswith(f"Hello {name}.")
    assert page.xpath("string(//p)") == f"Hello {name}."
    assert page.xpath("//script | //img | //b") == []


@pytest.mark.parametrize(
    "control_character", ["\u202e", "\u2066", "\u202a", "\x00", "\x1b", "\x85"]
)
def test_values_cannot_turn_or_control_the_text_around_them(
    tmp_path: Path, control_character: str
) -> None:
    email = _render(_wording(tmp_path), name=f"An{control_character}na\r\nBcc: x@y.z")
    assert control_character not in email.text + email.html
    assert email.subject == "For Anna Bcc: x@y.z"
    assert "<bdi>Anna\nBcc: x@y.z</bdi>" in email.html


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "data:text/html,x", "//evil.example/x", "https://a b", "", None]
)
def test_what_is_no_web_address_is_no_link(tmp_path: Path, link: str | None) -> None:
    email = _render(_wording(tmp_path), link=link)
    assert lxml_html.document_fromstring(email.html).xpath("//a") == []
    assert "Open" not in email.text


def test_a_subject_has_a_bounded_length(tmp_path: Path) -> None:
    assert len(_render(_wording(tmp_path), name="x" * 9000).subject) == 250


def test_a_template_that_names_a_missing_attribute_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("{% if view.renamed %}<p>{{ view.renamed }}</p>{% endif %}", encoding="utf-8")
    with pytest.raises(UndefinedError, match="has no attribute 'renamed'"):
        load_html_template(path).render(view=RenderedEmail("", "", "", "en"))
