"""Load documents and accepted tag sets in the form that the extraction engine needs."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import UUID

from app.documents.artifacts import service as artifacts
from app.engines.extraction import MAX_EXAMPLES, Document, Example, SourceWord, select_words
from app.engines.fields import Field
from app.kit.errors import ApiError
from app.kit.purging import Checkpoint
from app.workflow.predictions.queries import examples
from app.workflow.predictions.queries.examples import AcceptedSet, PageRow, VersionRow

MAX_PAGES = 20
"""The maximum number of pages that a prediction reads, from the start of the document."""


class LoadedDocument(NamedTuple):
    """A document for the engine, with the number of pages that were read."""

    document: Document
    pages: int


def load_document(artifact_id: UUID, language: str | None) -> LoadedDocument | None:
    """Load the text and words of a document's first MAX_PAGES pages, or None if it was deleted."""
    try:
        text = artifacts.get_text(artifact_id).text
    except ApiError:
        return None
    pages = examples.list_pages(artifact_id, MAX_PAGES)
    if not pages:
        pages = [PageRow(1, 0, len(text), None)]
    words = [word for page in pages for word in _list_words(page, text)]
    end = pages[-1].end if len(pages) == MAX_PAGES else len(text)
    return LoadedDocument(Document(text[:end], words, language), len(pages))


def _list_words(page: PageRow, text: str) -> Iterator[SourceWord]:
    if page.words is not None:
        for word in page.words:
            box = word.get("box")
            yield SourceWord(
                word["text"],
                page.number,
                None if box is None else tuple(box),
                word["start"],
                word["end"],
            )
        return
    for positioned_word in artifacts.lay_out_page(text[page.start : page.end]):
        yield SourceWord(
            positioned_word.text,
            page.number,
            tuple(positioned_word.box),  # type: ignore[arg-type]
            positioned_word.start + page.start,
            positioned_word.end + page.start,
        )


def list_compatible_versions(version: VersionRow) -> list[UUID]:
    """Return the schema versions whose tag sets are examples for a model of `version`.

    A compatible version has all AI-assisted fields of `version` with the same types.
    """
    required_types = _describe_types(version.fields)
    return [
        candidate.id
        for candidate in examples.list_versions(version.schema_id)
        if required_types.items() <= _describe_types(candidate.fields).items()
    ]


def _describe_types(fields: list[Field]) -> dict[str, Any]:
    return {
        field["key"]: (
            field["type"],
            bool(field.get("multiple")),
            tuple(sorted(option["value"] for option in field.get("options") or ())),
            tuple(sorted(_describe_types(field.get("columns") or []).items())),
        )
        for field in fields
        if field.get("ai_assist", True)
    }


def list_accepted(version: VersionRow, limit: int = MAX_EXAMPLES) -> list[AcceptedSet]:
    """Return the accepted tag sets that a model of `version` learns from, the newest first."""
    return examples.list_accepted(version.schema_id, list_compatible_versions(version), limit)


def build_examples(
    accepted: list[AcceptedSet], checkpoint: Checkpoint = lambda: None
) -> Iterator[Example]:
    """Yield an example for each tag set and its document.

    `checkpoint` is called after each read, because the caller may work for minutes before it takes
    the next example, and no transaction may stay open during that time.
    """
    for row in accepted:
        loaded = load_document(row.artifact_id, None)
        tags = [] if loaded is None else examples.get_tags(row.id)
        checkpoint()
        if loaded is None:
            continue
        yield Example(
            # Another tag set of the same document may have the same revision.
            f"{row.artifact_id}:{row.id}",
            row.revision,
            replace(loaded.document, words=select_words(loaded.document.words)),
            tags,
            None if row.labeler_id is None else str(row.labeler_id),
            "" if row.decided_at is None else row.decided_at.isoformat(),
        )
