"""Broken, hostile or mislabeled files are refused with a clear code, and leave nothing behind."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas
from sqlalchemy import func, select

from app.documents.artifacts.models.content import ArtifactPage
from app.kit import container, db, tenancy
from tests.documents.artifacts.conftest import Stored, make_pdf, make_png, upload
from tests.factories import Org
from tests.factories.errors import check_error

Work = Callable[[], None]
MIB = 1024 * 1024
_CONTENT_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/'
    'content-types"><Override PartName="/word/document.xml" ContentType="application/'
    'vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)


def _make_protected_pdf() -> bytes:
    buffer = io.BytesIO()
    lock = StandardEncryption("user-password", "owner-password", strength=128)
    canvas = Canvas(buffer, encrypt=lock)
    canvas.drawString(72, 720, "secret")
    canvas.save()
    return buffer.getvalue()


def _make_long_pdf(count: int) -> bytes:
    """Return a valid PDF of `count` empty pages, without creating the content of each page."""
    kids = " ".join(f"{number} 0 R" for number in range(3, count + 3))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {count} /Kids [{kids}] /MediaBox [0 0 200 200] >>",
        *["<< /Type /Page /Parent 2 0 R >>"] * count,
    ]
    body, offsets = io.BytesIO(b"%PDF-1.7\n"), []
    body.seek(0, io.SEEK_END)
    for number, text in enumerate(objects, start=1):
        offsets.append(body.tell())
        body.write(f"{number} 0 obj\n{text}\nendobj\n".encode())
    start = body.tell()
    body.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    body.write(b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets))
    body.write(f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\n".encode())
    body.write(f"startxref\n{start}\n%%EOF\n".encode())
    return body.getvalue()


def _make_docx_bomb() -> bytes:
    """Return a DOCX of less than one megabyte whose text unpacks to 640 MB."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("[Content_Types].xml", _CONTENT_TYPES)
        with archive.open("word/document.xml", "w", force_zip64=True) as part:
            for _ in range(640):
                part.write(b"<w:p/>  " * (MIB // 8))
    return buffer.getvalue()


def _make_png(width: int, height: int) -> bytes:
    """Return a PNG that declares this size; its rows of one bit per pixel compress well."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    packer, row = zlib.compressobj(9), b"\x00" + bytes((width + 7) // 8)
    rows = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    body = chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def _count_pages(org: Org, artifact_id: str) -> int:
    with org.app.app_context(), tenancy.organization(org.id):
        statement = select(func.count()).where(ArtifactPage.artifact_id == UUID(artifact_id))
        return int(db.session().execute(statement).scalar_one())


def _assert_nothing_left(org: Org, stored: Stored) -> None:
    assert stored() == []
    answer = org.api("viewer").get("/artifacts?archived=any")
    assert answer.json["meta"]["total"] == 0


@pytest.mark.parametrize(
    ("make", "name", "code"),
    [
        (_make_protected_pdf, "protected.pdf", "password_protected"),
        (lambda: make_pdf("text " * 50)[:300], "truncated.pdf", "unreadable"),
        (lambda: _make_long_pdf(10_000), "long.pdf", "too_many_pages"),
        (_make_docx_bomb, "bomb.docx", "too_large_unpacked"),
        (lambda: _make_png(50_000, 50_000), "huge.png", "too_many_pixels"),
        (lambda: b" \n\n ", "blank.txt", "empty_document"),
        (lambda: make_png()[:60], "cut.png", "unreadable"),
    ],
)
def test_unreadable_files_fail_with_the_reason(
    org: Org, stored: Stored, work: Work, make: Callable[[], bytes], name: str, code: str
) -> None:
    api = org.api("admin")
    answer = upload(api, make(), name)
    assert answer.status_code == 201, answer.json
    path = f"/artifacts/{answer.json['data']['id']}"
    work()
    failed = api.get(path).json["data"]
    assert failed["status"] == "failed"
    assert failed["failure"]["code"] == code
    assert failed["failure"]["message"].endswith(".")
    assert failed["page_count"] is None
    assert _count_pages(org, failed["id"]) == 0
    for what in ("text", "pages", "pages/1/image"):
        refused = api.get(f"{path}/{what}")
        assert refused.status_code == 409
        assert refused.json["error"]["details"] == {"state": "failed"}
    assert api.post(f"{path}/claim").json["error"]["details"] == {"state": "failed"}
    assert api.get(f"{path}/content").status_code == 200
    assert api.delete(path).status_code == 204
    work()
    _assert_nothing_left(org, stored)


def test_an_empty_file_is_refused(org: Org, stored: Stored) -> None:
    answer = upload(org.api("labeler"), b"", "empty.pdf", "application/pdf")
    check_error(answer, 400, "validation_error", field="file")
    _assert_nothing_left(org, stored)


@pytest.mark.parametrize(
    ("data", "name", "declared", "expected"),
    [
        (b"PK\x03\x04" + bytes(200), "a.zip", "application/zip", ("application/zip", None)),
        (b"\x00\x01\x02\x03" * 64, "a.bin", None, (None, None)),
        (make_pdf("a"), "a.docx", None, (None, "application/pdf")),
        (make_pdf("a"), "a.pdf", "image/png", ("image/png", "application/pdf")),
        (make_png(), "a.txt", None, ("text/plain", "image/png")),
        (b"MZ" + bytes(range(256)), "a.exe", None, (None, None)),
    ],
)
def test_unknown_and_mislabeled_types_are_415(
    org: Org, stored: Stored, data: bytes, name: str, declared: str | None, expected: Any
) -> None:
    answer = upload(org.api("labeler"), data, name, declared)
    error = check_error(answer, 415, "unsupported_media_type", field="file")
    assert set(error["details"]) == {"declared", "detected"}
    media_types = (error["details"]["declared"], error["details"]["detected"])
    for media_type, expected_type in zip(media_types, expected, strict=True):
        assert expected_type in (None, media_type)
    if expected[1] is not None:
        assert expected[1] in error["message"]
    _assert_nothing_left(org, stored)


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "a/b.txt",
        "a\\b.txt",
        "nul\x00.txt",
        "line\nbreak.txt",
        "invoice\u202etxt.exe",
        "isolate\u2066.txt",
        "..",
        "   ",
        "n" * 300,
        "separator\u2028.txt",
    ],
)
def test_invalid_names_are_refused(org: Org, stored: Stored, name: str) -> None:
    api = org.api("labeler")
    by_text = api.post("/artifacts", {"name": name, "text": "text"})
    by_form = upload(api, b"text", "a.txt", name=name)
    for answer in (by_text, by_form):
        check_error(answer, 422, "unprocessable", field="name")
    _assert_nothing_left(org, stored)


@pytest.mark.parametrize("name", ["a/b.txt", "a\u202eb.txt", "n" * 300 + ".txt", ".."])
def test_invalid_file_names_are_refused(org: Org, stored: Stored, name: str) -> None:
    answer = upload(org.api("labeler"), b"text", name)
    assert answer.status_code == 422
    assert answer.json["error"]["field"] == "name"
    _assert_nothing_left(org, stored)


@pytest.mark.parametrize(
    "name", ["発票.txt", "ملف.txt", "family👨‍👩‍👧.txt", "n" * 255, "a b (1).txt"]
)
def test_names_of_every_script_are_kept(org: Org, name: str) -> None:
    answer = upload(org.api("labeler"), name.encode(), "a.txt", name=name)
    assert answer.json["data"]["name"] == name


class _EndlessBody(io.RawIOBase):
    """An endless request body that records how many bytes of it were read."""

    def __init__(self, head: bytes) -> None:
        self.head = head
        self.read_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.head or b"x" * min(len(buffer), 65536)
        taken = data[: len(buffer)]
        self.head = data[len(taken) :] if self.head else b""
        buffer[: len(taken)] = taken
        self.read_bytes += len(taken)
        return len(taken)


def test_a_file_that_is_too_large_is_refused_while_it_is_read(org: Org, stored: Stored) -> None:
    head = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n'
        b"Content-Type: text/plain\r\n\r\n"
    )
    body = _EndlessBody(head)
    api = org.api("labeler")
    answer = api.client.open(
        "/api/v1/artifacts",
        method="POST",
        headers={**api.headers(), "Transfer-Encoding": "chunked"},
        environ_overrides={
            "CONTENT_TYPE": "multipart/form-data; boundary=b",
            "wsgi.input": io.BufferedReader(body),
            "wsgi.input_terminated": True,
            "CONTENT_LENGTH": "",
        },
    )
    limit = container.settings().max_upload_bytes
    check_error(answer, 413, "payload_too_large", details={"limit": limit})
    assert body.read_bytes < limit + MIB
    _assert_nothing_left(org, stored)


@pytest.mark.parametrize("beyond", [1, MIB])
def test_a_file_over_the_limit_is_413(org: Org, stored: Stored, beyond: int) -> None:
    data = bytes(container.settings().max_upload_bytes + beyond)
    assert upload(org.api("labeler"), data, "a.txt").status_code == 413
    _assert_nothing_left(org, stored)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"--b--\r\n",
        b"no boundary at all",
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\ncut off',
        b'--b\r\nContent-Disposition: form-data; name="other"; filename="a"\r\n\r\nx\r\n--b--\r\n',
    ],
)
def test_malformed_forms_are_422(org: Org, stored: Stored, raw: bytes) -> None:
    answer = org.api("labeler").request(
        "POST", "/artifacts", data=raw, content_type="multipart/form-data; boundary=b"
    )
    assert answer.status_code == 422, answer.data
    assert "State." not in answer.json["error"]["message"]
    _assert_nothing_left(org, stored)


def test_a_form_with_two_files_is_refused(org: Org, stored: Stored) -> None:
    parts = [(io.BytesIO(b"one"), "a.txt"), (io.BytesIO(b"two"), "b.txt")]
    answer = org.api("labeler").request(
        "POST", "/artifacts", data={"file": parts}, content_type="multipart/form-data"
    )
    assert answer.status_code == 422
    assert answer.json["error"]["field"] == "file"
    _assert_nothing_left(org, stored)
