"""Write a ZIP in the layout of the DocILE benchmark: an annotation file for each tag set.

Source: https://github.com/rossumai/docile. Boxes are fractions of the page from 0 to 1, as in this
project, but page numbers start at 0.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from app.engines.formats.archives import (
    ArchiveWriter,
    Spool,
    build_safe_extension,
    build_safe_name,
)
from app.engines.formats.model import Fields, Format, Options, Page, Row, Source
from app.engines.formats.parsing import DocumentWriter, dump_json, get_artifact
from app.engines.formats.regions import Region, locate_tags, needs_words
from app.engines.formats.sample import SAMPLE_ROW

_PIXELS_PER_POINT = 200 / 72
_PDF = "application/pdf"

_OPTIONS: dict[str, Any] = {
    "split": {
        "type": "string",
        "pattern": "^[a-z0-9][a-z0-9_-]*$",
        "maxLength": 32,
        "default": "train",
        "description": (
            "The name (without .json) of the index file, which lists the ids of the documents."
        ),
    },
    "files": {
        "type": "boolean",
        "default": True,
        "description": "Include the document files.",
    },
}


class DocileWriter(DocumentWriter):
    """A writer of a ZIP with the folders `annotations`, `pdfs` and `files`, and an index file."""

    def __init__(self, out: BinaryIO, _fields: Fields, options: Options, source: Source) -> None:
        # Each tag names its field, so the fields are not needed.
        super().__init__(source)
        self._archive = ArchiveWriter(out)
        self._split = options.get("split", "train")
        self._includes_files = options.get("files", True)
        self._ids = Spool()
        self._document_count = 0

    def _needs_words(self, rows: Sequence[Row]) -> bool:
        return any(needs_words(row) for row in rows)

    def _write_document(self, row: Row, pages: Iterator[Page]) -> None:
        self._document_count += 1
        name = build_safe_name(row.get("tag_set_id"), self._document_count)
        annotation = _build_annotation(row, pages)
        annotation["metadata"] |= self._write_file(row, name)
        self._archive.add(f"annotations/{name}.json", dump_json(annotation).encode())
        self._ids.add(dump_json(name).encode())

    def _write_file(self, row: Row, name: str) -> dict[str, Any]:
        """Add a document's file to the ZIP, and return the annotation metadata about the file."""
        if not self._includes_files:
            return {"file": None, "file_missing": False}
        artifact = get_artifact(row)
        chunks = self._source.read_content(artifact)
        if chunks is None:
            return {"file": None, "file_missing": True}
        is_pdf = artifact.get("media_type") == _PDF
        extension = build_safe_extension(artifact.get("name"))
        path = f"pdfs/{name}.pdf" if is_pdf else f"files/{name}{extension}"
        self._archive.add_chunks(path, chunks, is_compressed=True)
        return {"file": path, "file_missing": False}

    def _end_file(self) -> None:
        self._archive.add_chunks(f"{self._split}.json", self._build_index(), is_compressed=False)
        self._archive.close()
        self._ids.close()

    def _build_index(self) -> Iterator[bytes]:
        yield b"[\n"
        yield from self._ids.read()
        yield b"\n]\n"


def _build_annotation(row: Row, pages: Iterator[Page]) -> dict[str, Any]:
    tags = row.get("tags") or []
    line_items = _number_line_items(tags)
    fields: list[dict[str, Any]] = []
    cells: list[dict[str, Any]] = []
    page_sizes: list[list[int]] = []
    for page, regions in locate_tags(row, pages):
        page_sizes.append([round(side * _PIXELS_PER_POINT) for side in (page.width, page.height)])
        for region in regions:
            tag = tags[region.tag_index]
            extraction = _build_extraction(tag, region)
            if tag.get("row") is None:
                fields.append(extraction)
            else:
                cells.append({**extraction, "line_item_id": line_items[_get_line_item_key(tag)]})
    return {
        "field_extractions": fields,
        "line_item_extractions": cells,
        "line_item_headers": [],
        "metadata": _build_metadata(row, page_sizes),
    }


def _build_extraction(tag: Mapping[str, Any], region: Region) -> dict[str, Any]:
    text = region.text
    if text is None and tag.get("value") is not None:
        text = tag["value"] if isinstance(tag["value"], str) else dump_json(tag["value"])
    return {
        "bbox": list(region.box),
        "page": region.page - 1,
        "score": tag.get("confidence"),
        "text": text,
        "fieldtype": tag["field"],
    }


def _get_line_item_key(tag: Mapping[str, Any]) -> tuple[str, int]:
    return tag["field"].partition(".")[0], tag["row"]


def _number_line_items(tags: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], int]:
    """Assign consecutive numbers, starting at 1, to the rows of all tables."""
    rows = {_get_line_item_key(tag) for tag in tags if tag.get("row") is not None}
    return {row: number for number, row in enumerate(sorted(rows), start=1)}


def _build_metadata(row: Row, page_sizes: Sequence[Sequence[int]]) -> dict[str, Any]:
    artifact, schema = get_artifact(row), row.get("schema") or {}
    return {
        "page_count": len(page_sizes),
        "page_sizes_at_200dpi": page_sizes,
        "page_to_table_grid": {},
        "cluster_id": -1,
        "document_type": schema.get("name"),
        "currency": "other",
        "language": artifact.get("language"),
        "source": row.get("source"),
        "original_filename": artifact.get("name"),
        "tag_set_id": row.get("tag_set_id"),
        "status": row.get("status"),
        "schema": schema,
        "artifact": artifact,
        "labels": row.get("labels") or {},
    }


def _render_sample() -> str:
    """Return the example tag set's files as text, because ZIP files are binary."""
    evidence = [{"page": 1, "box": [0.12, 0.1, 0.21, 0.11], "text": "RE-1042"}]
    tag = {"field": "invoice_number", "value": "RE-1042", "row": None, "evidence": evidence}
    annotation = _build_annotation({**SAMPLE_ROW, "tags": [tag]}, iter([Page(1, 595, 842, ())]))
    name = SAMPLE_ROW["tag_set_id"]
    annotation["metadata"] |= {"file": f"pdfs/{name}.pdf", "file_missing": False}
    files = [f'train.json\n[\n"{name}"\n]\n', f"pdfs/{name}.pdf\n"]
    return "\n".join([f"annotations/{name}.json\n{dump_json(annotation)}\n", *files])


FORMAT = Format(
    id="docile",
    name="DocILE",
    media_type="application/zip",
    extension="zip",
    description=(
        "A ZIP in the layout of the DocILE benchmark: one annotation file with boxes and line "
        "items per tag set, and the file of its document. Values without a box on a page are only "
        "in metadata.labels; a deleted file is marked as missing."
    ),
    options=_OPTIONS,
    keeps=("values", "tables", "evidence", "confidence"),
    default_parts=("evidence",),
    required_parts=("evidence",),
    sample=_render_sample(),
    document_writer=DocileWriter,
)
