"""Write a ZIP with DocBin files, which `spacy train` and `DocBin.from_disk` read.

A DocBin can be written only as a whole, so the tag sets are divided among several DocBin files.
spaCy is imported when the first writer is created, because it needs much memory.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

from app.engines.formats.archives import ArchiveWriter
from app.engines.formats.model import Fields, Format, Options, Row
from app.engines.formats.parsing import ParsingWriter, dump_json
from app.engines.formats.sample import SAMPLE_ROW
from app.engines.formats.text_spans import TextSpan, list_text_spans

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

SPANS_KEY = "labels"
_PART_ROWS = 1_000
_PART_TOKENS = 200_000
_TOKEN_ATTRIBUTES = ("ORTH", "ENT_IOB", "ENT_TYPE")

# Languages whose tokenizers need no additional package.
_LANGUAGES = (
    *("xx", "ar", "bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "fi", "fr", "he", "hr"),
    *("hu", "is", "it", "lt", "lv", "nb", "nl", "pl", "pt", "ro", "sk", "sl", "sr", "sv", "tr"),
)

_OPTIONS: dict[str, Any] = {
    "language": {
        "enum": list(_LANGUAGES),
        "default": "xx",
        "description": (
            "The language whose tokenizer splits the text; use the language of the pipeline "
            "that you train. xx is spaCy's tokenizer for multiple languages."
        ),
    },
}


class SpacyWriter(ParsingWriter):
    """A writer that adds tag sets to numbered DocBin files of limited size."""

    def __init__(self, out: BinaryIO, _fields: Fields, options: Options) -> None:
        # Each tag names its field, so the fields are not needed.
        from spacy.util import filter_spans  # noqa: PLC0415 - spaCy needs much memory

        super().__init__()
        self._archive = ArchiveWriter(out)
        self._filter_spans = filter_spans
        self._language = options.get("language", "xx")
        self._part_count = 0
        self._start_part()

    def _write_row(self, row: Row) -> None:
        text = row.get("text") or ""
        # The tokenizer has no length limit, but `Language.make_doc` has one.
        doc = self._tokenizer(text)
        spans = [
            span
            for text_span in list_text_spans(row)
            if (span := _build_span(doc, text, text_span)) is not None
        ]
        doc.spans[SPANS_KEY] = spans
        doc.set_ents(self._filter_spans(spans))
        doc.user_data.update(_build_user_data(row))
        self._bin.add(doc)
        self._part_token_count += len(doc)
        if len(self._bin) >= _PART_ROWS or self._part_token_count >= _PART_TOKENS:
            self._end_part()
            self._start_part()

    def _finish(self) -> None:
        """Write the last DocBin file, which is empty if there are no tag sets; complete the ZIP."""
        if len(self._bin) or not self._part_count:
            self._end_part()
        self._archive.close()

    def _start_part(self) -> None:
        import spacy  # noqa: PLC0415 - needs much memory
        from spacy.tokens import DocBin  # noqa: PLC0415

        # Each part has a new vocabulary; a shared vocabulary would keep the words of all texts.
        self._tokenizer: Callable[[str], Doc] = spacy.blank(self._language).tokenizer
        self._bin = DocBin(attrs=_TOKEN_ATTRIBUTES, store_user_data=True)
        self._part_token_count = 0

    def _end_part(self) -> None:
        self._part_count += 1
        name = f"part-{self._part_count:05}.spacy"
        self._archive.add(name, self._bin.to_bytes(), is_compressed=True)


def _build_span(doc: "Doc", text: str, text_span: TextSpan) -> "Span | None":
    """Return a spaCy span of all tokens that a text span overlaps.

    Returns None if the text span marks only white space, or exceeds the text.

    Leading and trailing white space is removed, because spaCy does not train on entities that begin
    or end with white space. The id of the span is the index of the tag in the tag set.
    """
    marked_text = text[text_span.start : text_span.end]
    start = text_span.start + len(marked_text) - len(marked_text.lstrip())
    end = text_span.start + len(marked_text.rstrip())
    if start >= end or text_span.end > len(text):
        return None
    span_id = str(text_span.tag_index)
    return doc.char_span(
        start, end, label=text_span.field, span_id=span_id, alignment_mode="expand"
    )


def _build_user_data(row: Row) -> dict[str, str | int | None]:
    artifact, schema = row.get("artifact") or {}, row.get("schema") or {}
    return {
        "tag_set_id": row.get("tag_set_id"),
        "artifact_id": artifact.get("id"),
        "name": artifact.get("name"),
        "external_id": artifact.get("external_id"),
        "language": artifact.get("language"),
        "status": row.get("status"),
        "schema": schema.get("name"),
        "schema_version": schema.get("version"),
        # As text, because spaCy reads lists as tuples.
        "labels": dump_json(row.get("labels") or {}),
    }


def _render_sample() -> str:
    """Return an example document as JSON text, because DocBin files are binary."""
    doc = {
        "text": "Invoice RE-1042",
        "ents": [{"start": 8, "end": 15, "label": "invoice_number"}],
        "spans": {SPANS_KEY: [{"start": 8, "end": 15, "label": "invoice_number", "id": "0"}]},
        "user_data": _build_user_data(SAMPLE_ROW),
    }
    return f"part-00001.spacy\n{dump_json(doc)}\n"


FORMAT = Format(
    id="spacy",
    name="spaCy",
    media_type="application/zip",
    extension="zip",
    description=(
        "A ZIP with DocBin files for spaCy 3, one document per tag set. Tags with offsets in the "
        "text become spans of whole tokens; if spans overlap, the longest becomes an entity. The "
        "labels are stored as JSON in the user data."
    ),
    options=_OPTIONS,
    keeps=("values", "tables", "evidence", "text"),
    default_parts=("evidence", "text"),
    required_parts=("evidence", "text"),
    sample=_render_sample(),
    writer=SpacyWriter,
)
