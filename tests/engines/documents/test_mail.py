"""E-mail messages."""

from email.message import EmailMessage
from pathlib import Path

import pytest

from app.engines.documents import ParseFailed, parse
from tests.engines.documents.samples import mail, stored


def text_of(folder: Path, data: bytes | EmailMessage) -> str:
    return parse(stored(folder, data), "message/rfc822").text


HEAD = (
    "From: Zoë Müller <zoe@example.com>\nTo: team@example.org\n"
    "Subject: Rechnung für März\nDate: Mon, 04 Mar 2024 10:00:00 +0100\n\n"
)


def test_headers_and_body(tmp_path: Path) -> None:
    text = text_of(tmp_path, mail("Grüße aus Köln\n\nZoë\n"))
    assert text == HEAD + "Grüße aus Köln\n\nZoë"


def test_plain_text_is_preferred_and_attachments_are_named(tmp_path: Path) -> None:
    message = mail("the plain body")
    message.add_alternative("<p>the <b>rich</b> body</p>", subtype="html")
    message.add_attachment(
        b"%PDF", maintype="application", subtype="pdf", filename="Rechnung März.pdf"
    )
    message.add_attachment("a,b", subtype="csv", filename="rows.csv")
    assert text_of(tmp_path, message) == (
        HEAD + "the plain body\n\nAttachments: Rechnung März.pdf, rows.csv"
    )


def test_html_where_there_is_no_plain_text(tmp_path: Path) -> None:
    message = mail()
    message.clear_content()
    message.set_content("<p>the <b>rich</b> body</p><script>x</script>", subtype="html")
    assert text_of(tmp_path, message) == HEAD + "the rich body"


def test_a_message_inside_is_an_attachment(tmp_path: Path) -> None:
    message = mail("outer")
    message.add_attachment(mail("inner body"), filename="forwarded.eml")
    text = text_of(tmp_path, message)
    assert text == HEAD + "outer\n\nAttachments: forwarded.eml"


@pytest.mark.parametrize("charset", ["iso-8859-1", "windows-1252", "no-such-charset", "zlib", ""])
def test_charsets_true_and_false(tmp_path: Path, charset: str) -> None:
    data = (
        b"Subject: =?iso-8859-1?q?Gr=FC=DFe?=\r\nContent-Type: text/plain; charset="
        + charset.encode()
        + b"\r\n\r\nGr\xfc\xdfe aus K\xf6ln, sch\xf6n\r\n"
    )
    assert text_of(tmp_path, data) == "Subject: Grüße\n\nGrüße aus Köln, schön"


def test_raw_bytes_and_nonsense_in_headers(tmp_path: Path) -> None:
    data = (
        "Subject: Größe\nFrom: =?no-such?q?x?= <a@b>\nTo: =?utf-8?b?abcde?=\nCc: =?\x7f\xe9?q?x?=\n"
        "Content-Type: multipart/mixed\nContent-Disposition: attachment; filename*=zz''%FF\n\nbody"
    ).encode()
    text = text_of(tmp_path, data)
    assert text.startswith("From: =?no-such?q?x?= <a@b>\n")
    assert "Subject: Größe" in text


def test_ten_thousand_parts_inside_one_another(tmp_path: Path) -> None:
    head = b"".join(
        b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (number, number)
        for number in range(10_000)
    )
    try:
        outcome = text_of(tmp_path, b"Subject: deep\n" + head + b"\ndeepest")
    except ParseFailed as error:
        outcome = error.code
    assert outcome.startswith("Subject: deep") or outcome in ("unreadable", "timed_out", "crashed")


def test_words_that_are_no_message_at_all(tmp_path: Path) -> None:
    assert text_of(tmp_path, b"just some words\n") == "just some words"
