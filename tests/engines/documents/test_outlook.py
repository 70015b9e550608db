"""Outlook emails (MSG): attached emails, and bodies that are only stored as compressed RTF."""

from pathlib import Path

import pytest

from app.engines.documents import iterate_attachments, parse
from app.engines.documents.media import MSG
from tests.engines.documents.outlook_files import inner_mail, outlook_mail
from tests.engines.documents.parsing import get_failure, parse_data
from tests.engines.documents.samples import stored

# HTML in RTF ([MS-OXRTFEX]): the tags are for HTML readers, the rest is for RTF readers.
HTML_IN_RTF = rb"""{\rtf1\ansi\ansicpg1252\fromhtml1 \deff0
{\fonttbl{\f0\fswiss\fcharset0 Arial;}}{\colortbl\red0\green0\blue0;}
{\*\htmltag19 <html>}{\*\htmltag34 <head>}{\*\htmltag41 </head>}{\*\htmltag50 <body>}
{\*\htmltag64 <p>}\htmlrtf {\htmlrtf0 Gr\'fc\'dfe aus K\'f6ln,{\*\htmltag84 <b>}\htmlrtf {\b
\htmlrtf0  Zo\'eb{\*\htmltag92 </b>}\htmlrtf }\htmlrtf0 {\*\htmltag72 </p>}\htmlrtf\par}\htmlrtf0
{\*\htmltag64 <p>}Second\htmlrtf\par\htmlrtf0{\*\htmltag72 </p>}{\*\htmltag58 </body>}}"""


def text_of(folder: Path, data: bytes) -> str:
    return parse_data(folder, data, MSG).text


def test_a_body_that_is_only_rtf(tmp_path: Path) -> None:
    rich = rb"{\rtf1\ansi\ansicpg1252 Gr\'fc\'dfe\par {\b Zo\'eb}\par}"
    data = outlook_mail("Lunch", rich_text=rich)
    assert text_of(tmp_path, data) == (
        "From: Zoë\nTo: team@example.org\nSubject: Lunch\n\nGrüße\nZoë"
    )


def test_html_in_rtf_shows_no_tags(tmp_path: Path) -> None:
    body = text_of(tmp_path, outlook_mail("Lunch", rich_text=HTML_IN_RTF)).partition("\n\n")[2]
    assert [" ".join(line.split()) for line in body.split("\n") if line.strip()] == [
        "Grüße aus Köln, Zoë",
        "Second",
    ]


def test_plain_text_is_preferred_to_rtf(tmp_path: Path) -> None:
    data = outlook_mail("Lunch", "The plain body", rich_text=rb"{\rtf1 The rich body}")
    assert text_of(tmp_path, data).endswith("\n\nThe plain body")


@pytest.mark.parametrize(
    ("html", "code_page", "expected"),
    [
        ("<p>朱镕基 5 €</p>".encode("gb18030"), 936, "朱镕基 5 €"),
        (b"<p>Z\xfcrich, 5 \x80</p>", 28591, "Zürich, 5 €"),
        (b"<p>Z\xfcrich is not UTF-8</p>", 65001, "Zürich is not UTF-8"),
    ],
)
def test_html_with_bytes_that_its_encoding_lacks(
    tmp_path: Path, html: bytes, code_page: int, expected: str
) -> None:
    data = outlook_mail("Lunch", html=html, code_page=code_page)
    assert text_of(tmp_path, data).endswith(f"\n\n{expected}")


def test_a_damaged_rtf_body(tmp_path: Path) -> None:
    data = outlook_mail("Lunch", rich_text=b"{\\rtf1 " + b"A long body. " * 40)
    damaged = data.replace(b"LZFu", b"LZxx")
    assert damaged != data
    assert get_failure(text_of, tmp_path, damaged).code == "unreadable"


def test_emails_inside_an_email(tmp_path: Path) -> None:
    deep = inner_mail("Deep", "Deep body")
    invoice = b"%PDF-1.7 " + b"x" * 9_000
    inner = inner_mail("Order 7", "Inner body", files={"order.pdf": invoice}, mails=(deep,))
    data = outlook_mail("Fwd", "Outer body", files={"a.txt": b"A"}, mails=(inner,))
    text = text_of(tmp_path, data)
    assert text == (
        "From: Zoë\nTo: team@example.org\nSubject: Fwd\n\nOuter body\n\nAttachments: a.txt"
        "\n\nAttached message:\nFrom: Zoë\nTo: team@example.org\nSubject: Order 7\n\nInner body"
        "\n\nAttachments: order.pdf"
        "\n\nAttached message:\nFrom: Zoë\nTo: team@example.org\nSubject: Deep\n\nDeep body"
    )
    attached = list(iterate_attachments(stored(tmp_path, data), MSG))
    assert [attachment.name for attachment in attached] == ["a.txt", "Order 7.eml"]
    mail = stored(tmp_path, attached[1].data)
    assert parse(mail, "message/rfc822").text.startswith("From: Zoë\nTo: team@example.org")
    inner_attached = list(iterate_attachments(mail, "message/rfc822"))
    assert [attachment.name for attachment in inner_attached] == ["order.pdf", "Deep.eml"]
    assert inner_attached[0].data == invoice


def test_an_email_inside_an_email_always_has_the_same_bytes(tmp_path: Path) -> None:
    inner = inner_mail("Order 7", "Body", files={"a.txt": b"A"})
    first, again = (
        [one.data for one in iterate_attachments(stored(tmp_path, data), MSG)]
        for data in (outlook_mail("Fwd", mails=(inner,)), outlook_mail("Again", mails=(inner,)))
    )
    assert first == again


def test_emails_inside_one_another_end(tmp_path: Path) -> None:
    mail = inner_mail("Mail 0", "body 0")
    for number in range(1, 40):
        mail = inner_mail(f"Mail {number}", f"body {number}", mails=(mail,))
    text = text_of(tmp_path, outlook_mail("Outer", "outer", mails=(mail,)))
    assert [f"body {number}" in text for number in (39, 30, 10)] == [True, True, False]
