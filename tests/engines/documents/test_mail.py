"""Text extracted from emails."""

import base64
from email.message import EmailMessage
from pathlib import Path

import pytest

from app.engines.documents.media import MAIL
from tests.engines.documents.parsing import get_text_or_failure, parse_data
from tests.engines.documents.samples import mail


def text_of(folder: Path, data: bytes | EmailMessage) -> str:
    return parse_data(folder, data, MAIL).text


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


def html_mail(body: str) -> EmailMessage:
    message = mail()
    message.clear_content()
    message.set_content(body, subtype="html")
    return message


def test_html_where_there_is_no_plain_text(tmp_path: Path) -> None:
    message = html_mail("<p>the <b>rich</b> body</p><script>x</script>")
    assert text_of(tmp_path, message) == HEAD + "the rich body"


TABLE = (
    "<p>Invoice 17</p><table><tr><td>Total</td><td>119.00 EUR</td></tr>"
    "<tr><td>Due</td><td>3 May</td></tr></table>"
)


@pytest.mark.parametrize(
    ("plain", "html", "expected"),
    [
        ("Please use another program.", TABLE, "Invoice 17\n\nTotal\t119.00 EUR\nDue\t3 May"),
        ("INVOICE 17 <http://a.example>\nTotal: 119.00 EUR", TABLE, None),
        ("Invoice 17: 119.00 EUR", "<img src=a.png><p>View online</p>", None),
    ],
)
def test_html_is_read_if_the_plain_text_lacks_most_of_it(
    tmp_path: Path, plain: str, html: str, expected: str | None
) -> None:
    message = mail(plain)
    message.add_alternative(html, subtype="html")
    assert text_of(tmp_path, message) == HEAD + (expected or plain)


FLOWED = (
    "The total is \n119.00 EUR. \n\n From here \non.\n  indented\n> quoted \n> text \n>> deeper\n"
    "Regards \n-- \nZoë\n"
)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_lines_of_flowed_text_are_joined(tmp_path: Path, line_end: str) -> None:
    head = "Content-Type: text/plain; charset=utf-8; format=Flowed\n\n"
    data = (head + FLOWED).replace("\n", line_end).encode()
    assert text_of(tmp_path, data) == (
        "The total is 119.00 EUR. \n\nFrom here on.\n indented\n> quoted text \n>> deeper\n"
        "Regards \n-- \nZoë"
    )


def test_spaces_that_only_wrap_flowed_text_are_left_out(tmp_path: Path) -> None:
    head = "Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes\n\n"
    text = text_of(tmp_path, f"{head}東 \n京  \nand\nnext".encode())
    assert text == "東京 and\nnext"


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ("-- \nA mailing list", "The rich body\n\n-- \nA mailing list"),  # added by a server
        ("See <x>: *The* rich body", "See <x>: *The* rich body"),  # the same text
        (" \n", "The rich body"),
    ],
)
def test_html_beside_another_text(tmp_path: Path, plain: str, expected: str) -> None:
    data = (
        "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n"
        f"<p>The rich body</p>\n--b\nContent-Type: text/plain\n\n{plain}\n--b--\n"
    )
    assert text_of(tmp_path, data.encode()) == expected


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ("Content-Type: multipart/mixed; boundary=x", "the body"),
        ("Content-Type: multipart/mixed", "the body"),
        ("Content-Type: text/plain charset=utf-8", "the body"),
        ("Content-Type: text/calendar", "the body"),
        ("Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable ", "the=20bo=\ndy"),
    ],
)
def test_bodies_with_unusual_headers(tmp_path: Path, headers: str, body: str) -> None:
    text = text_of(tmp_path, f"Subject: x\n{headers}\n\n{body}".encode())
    assert text == "Subject: x\n\nthe body"


@pytest.mark.parametrize("kind", ["plain", "html"])
def test_a_body_with_a_name_is_no_attachment(tmp_path: Path, kind: str) -> None:
    head = f"Subject: x\nContent-Type: text/{kind}; name=body.{kind}\nContent-Disposition: "
    assert text_of(tmp_path, f"{head}inline\n\nthe body".encode()) == "Subject: x\n\nthe body"
    attached = text_of(tmp_path, f"{head}attachment\n\nthe body".encode())
    assert attached == f"Subject: x\n\nAttachments: body.{kind}"


def test_rows_of_tables_stay_apart_in_mails_too(tmp_path: Path) -> None:
    rows = (("", "2023", "2024"), ("Rent", "", "900"), ("", "120", ""))
    cells = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    table = "".join(f"<tr>{row}</tr>" for row in cells)
    message = html_mail(f"<p>Costs</p><table>{table}</table>")
    assert text_of(tmp_path, message) == HEAD + "Costs\n\n\t2023\t2024\nRent\t\t900\n\t120\t"


def test_a_forwarded_message_is_read_with_its_attachments(tmp_path: Path) -> None:
    inner = mail("inner body")
    inner.replace_header("Subject", "Inner")
    inner.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="inner.pdf")
    message = mail("outer")
    message.add_attachment("a,b", subtype="csv", filename="rows.csv")
    message.add_attachment(inner, filename="forwarded.eml")
    text = text_of(tmp_path, message)
    assert text == HEAD + (
        "outer\n\nAttachments: rows.csv\n\nAttached message: forwarded.eml\n"
        + HEAD.replace("Rechnung für März", "Inner")
        + "inner body\n\nAttachments: inner.pdf"
    )


def test_messages_forwarded_inside_one_another(tmp_path: Path) -> None:
    message = mail("body 0")
    for number in range(1, 40):
        outer = mail(f"body {number}")
        outer.add_attachment(message)
        message = outer
    text = text_of(tmp_path, message)
    assert [f"body {number}" in text for number in (39, 30, 20)] == [True] * 3
    assert "Attachments: message/rfc822" in text


def test_a_forwarded_message_in_base64(tmp_path: Path) -> None:
    inner = base64.encodebytes(bytes(mail("inner body"))).decode()
    data = (
        "Subject: outer\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nouter\n"
        "--b\nContent-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n"
        f"{inner}\n--b--\n"
    )
    assert text_of(tmp_path, data.encode()).endswith("inner body")


@pytest.mark.parametrize("encoding", ["utf-8", "koi8-r", "cp1251"])
@pytest.mark.parametrize("parameter", ["\nContent-Disposition: attachment; filename", "; name"])
def test_attachment_names_in_raw_bytes(tmp_path: Path, encoding: str, parameter: str) -> None:
    name, body = "Платёж за март.pdf", "Платёж приложен"
    data = (
        f"Subject: Документы\nContent-Type: multipart/mixed; boundary=b\n\n--b\n"
        f"Content-Type: text/plain; charset={encoding}\n\n{body}\n--b\n"
        f'Content-Type: application/pdf{parameter}="{name}"\n\n%PDF\n--b--\n'
    )
    text = text_of(tmp_path, data.encode(encoding))
    assert text == f"Subject: Документы\n\n{body}\n\nAttachments: {name}"


def test_an_attachment_name_of_latin_letters_in_raw_bytes(tmp_path: Path) -> None:
    data = (
        b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nbody\n--b\n"
        b'Content-Type: application/pdf; name="Stra\xdfe.pdf"\n\nx\n--b--\n'
    )
    assert text_of(tmp_path, data) == "body\n\nAttachments: Straße.pdf"


def test_every_mail_of_a_mailbox_is_read(tmp_path: Path) -> None:
    end = "\n\nFrom here on, see below.\n\nFrom us: met at 10:00.\nNote: fine."
    mails = [mail(f"body of mail {number}{end}") for number in range(3)]
    box = b"".join(
        b"From zoe@example.com Mon Mar  4 10:00:00 2024\n" + _quoted(bytes(message)) + b"\n"
        for message in mails
    )
    for data in (box, box.replace(b"\n", b"\r\n")):
        document = parse_data(tmp_path, data, MAIL)
        texts = document.text.replace("\r\n", "\n").split("\f")
        assert texts == [f"{HEAD}body of mail {number}{end}" for number in range(3)]
        assert len(document.pages) == 3


def _quoted(message: bytes) -> bytes:
    return message.replace(b"\nFrom here", b"\n>From here")


def test_control_characters_in_a_body_are_left_out(tmp_path: Path) -> None:
    text = text_of(tmp_path, b"Subject: x\n\na\x07b\x1b[1mc\x0bd cafe\xcc\x81\n")
    assert text == "Subject: x\n\nab[1mc\nd café"


@pytest.mark.parametrize("charset", ["iso-8859-1", "windows-1252", "no-such-charset", "zlib", ""])
def test_correct_and_wrong_charsets(tmp_path: Path, charset: str) -> None:
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
    outcome = get_text_or_failure(tmp_path, b"Subject: deep\n" + head + b"\ndeepest", MAIL)
    assert outcome.startswith("Subject: deep") or outcome in ("unreadable", "timed_out", "crashed")


def test_text_without_headers(tmp_path: Path) -> None:
    assert text_of(tmp_path, b"just some words\n") == "just some words"


@pytest.mark.parametrize(
    ("charset", "encoding", "text"),
    [
        ("gb2312", "gb18030", "朱镕基发票"),
        ("shift_jis", "cp932", "㈱山田商事①"),
        ("x-sjis", "cp932", "請求書"),
        ("EUC-KR", "cp949", "똠방각하"),
        ("big5", "cp950", "價格 5 €"),
        ("euc-jp", "euc_jis_2004", "㈱山田商事①"),
        ("iso-8859-8-i", "cp1255", "חשבונית מס"),
        ("iso-8859-9", "cp1254", "Fiyat: „5 €“"),
        ("windows-874", "cp874", "ใบแจ้งหนี้"),
    ],
)
def test_charsets_that_declare_a_part_of_the_encoding(
    tmp_path: Path, charset: str, encoding: str, text: str
) -> None:
    word = base64.b64encode(text.encode(encoding)).decode()
    data = (
        f"Subject: Re: =?{charset}?B?{word}?= (2)\nContent-Type: text/plain; charset={charset}\n\n"
    )
    content = text_of(tmp_path, data.encode() + text.encode(encoding))
    assert content == f"Subject: Re: {text} (2)\n\n{text}"


@pytest.mark.parametrize(
    "subject", [r"C:\users\u0041 =?utf-8?q?=C3=BC?=", "Zoë =?utf-8?q?=C3=BC?="]
)
def test_encoded_words_between_other_text(tmp_path: Path, subject: str) -> None:
    expected = subject.replace("=?utf-8?q?=C3=BC?=", "ü")
    assert text_of(tmp_path, f"Subject: {subject}\n\nx".encode()) == f"Subject: {expected}\n\nx"


def test_characters_of_windows_in_iso_2022_jp(tmp_path: Path) -> None:
    data = b"Content-Type: text/plain; charset=iso-2022-jp\n\n\x1b$B-j;3ED\x1b(B 12 \x1b(I1\x1b(B."
    assert text_of(tmp_path, data) == "㈱山田 12 ｱ."
