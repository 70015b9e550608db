"""Write files of every format, from documents as the formats get them, and read archives."""

import dataclasses
import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image

from app.engines.formats import FORMATS, check_options
from app.engines.formats.model import Page, Word, Writer

A4 = (595.0, 842.0)


def lay_out(text: str, *, start: int = 0) -> list[Word]:
    """Return the words of a text in one line, each as wide as its part of the text."""
    words, position = [], 0
    for token in text.split():
        position = text.index(token, position)
        box = (position / len(text), 0.1, (position + len(token)) / len(text), 0.2)
        words.append(Word(token, box, start + position, start + position + len(token)))
        position += len(token)
    return words


def make_pages(*texts: str) -> list[Page]:
    """Return the pages of a document whose text is the texts of its pages, joined by form feeds."""
    pages, start = [], 0
    for number, text in enumerate(texts, start=1):
        pages.append(Page(number, *A4, lay_out(text, start=start)))
        start += len(text) + 1
    return pages


@dataclass
class Documents:
    """A source of documents, which counts what is asked for."""

    pages: Mapping[str, Sequence[Page]] = dataclasses.field(default_factory=dict)
    contents: Mapping[str, bytes] = dataclasses.field(default_factory=dict)
    can_render: bool = True
    batches: list[tuple[int, bool]] = dataclasses.field(default_factory=list)

    def iterate_pages(
        self, artifact_ids: Sequence[str | None], *, with_words: bool
    ) -> Iterator[tuple[int, Page]]:
        """Yield the pages of the documents that have any."""
        self.batches.append((len(artifact_ids), with_words))
        for position, artifact_id in enumerate(artifact_ids):
            for page in self.pages.get(artifact_id or "", ()):
                yield position, page if with_words else page._replace(words=[])

    def read_content(self, artifact: Mapping[str, Any]) -> Iterator[bytes] | None:
        """Return the bytes of a document in two chunks."""
        content = self.contents.get(artifact["sha256"])
        return None if content is None else iter([content[:3], content[3:]])

    def render_page(
        self, artifact: Mapping[str, Any], number: int, *, width: int, image_format: str
    ) -> bytes | None:
        """Return a gray image in the proportions of A4."""
        if not self.can_render:
            return None
        out = io.BytesIO()
        Image.new("L", (width, round(width * A4[1] / A4[0])), number).save(out, image_format)
        return out.getvalue()


def make_row(tags: Sequence[Mapping[str, Any]], number: int = 1, **members: Any) -> dict[str, Any]:
    """Return a row with the tags, each with all its members."""
    complete = [{"value": None, "row": None, "confidence": None, **tag} for tag in tags]
    return {
        "tag_set_id": f"set-{number}",
        "status": "accepted",
        "source": "human",
        "artifact": {
            "id": f"doc-{number}",
            "name": f"invoice {number}.PDF",
            "media_type": "application/pdf",
            "sha256": f"sha-{number}",
            "language": "en",
        },
        "schema": {"name": "Invoices", "version": 2},
        "labels": {},
        "tags": complete,
        **members,
    }


def mark(field: str, start: int, end: int, **members: Any) -> dict[str, Any]:
    """Return a tag whose evidence has offsets only."""
    piece = {"page": None, "box": None, "start": start, "end": end, "text": None}
    return {"field": field, "evidence": [piece], **members}


def frame(field: str, page: int, box: Sequence[float], **members: Any) -> dict[str, Any]:
    """Return a tag whose evidence has a box only."""
    piece = {"page": page, "box": list(box), "start": None, "end": None, "text": None}
    return {"field": field, "evidence": [piece], **members}


def field(key: str, type_: str, **members: Any) -> dict[str, Any]:
    """Return a field with all the members that formats use."""
    return {"key": key, "type": type_, "multiple": False, "columns": [], **members}


def start(
    format_id: str,
    /,
    source: Documents | None = None,
    fields: Sequence[Mapping[str, Any]] = (),
    **options: Any,
) -> tuple[io.BytesIO, Writer]:
    """Return an empty file, and a writer that adds rows to it."""
    out = io.BytesIO()
    checked = check_options(format_id, options)
    writer = FORMATS[format_id].create_writer(out, fields, checked, source or Documents())
    return out, writer


def write(
    format_id: str,
    rows: Sequence[Mapping[str, Any]],
    /,
    source: Documents | None = None,
    fields: Sequence[Mapping[str, Any]] = (),
    **options: Any,
) -> bytes:
    """Return the file of the rows."""
    out, writer = start(format_id, source, fields, **options)
    for row in rows:
        writer.write_json(json.dumps(row).encode())
    assert writer.row_count == len(rows)
    writer.close()
    writer.close()
    assert writer.row_count == len(rows)
    assert not out.closed
    return out.getvalue()


class FullError(Exception):
    """Nothing can be written to an output. Like the storage's error, it is no OSError."""


class FullOutput:
    """An output that nothing can be written to. Like a file of the storage, it can only write."""

    def write(self, data: Any) -> int:
        raise FullError


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the files of an archive by name, after a check of all checksums."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert len(set(names)) == len(names)
        return {name: archive.read(name) for name in names}


def parse_file(files: Mapping[str, bytes], name: str) -> Any:
    """Return a JSON file of an archive."""
    return json.loads(files[name])
