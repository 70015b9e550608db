"""Load documents and accepted tag sets as inputs for the extraction engine."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import UUID

from app.documents.artifacts.service import reading
from app.documents.artifacts.service import words as artifact_words
from app.engines.extraction.model import MAX_EXAMPLES, Document, Example, SourceWord, select_words
from app.engines.fields import Field
from app.kit.db import Checkpoint
from app.kit.errors import ApiError
from app.workflow.predictions.queries import examples
from app.workflow.predictions.queries.examples import AcceptedTagSet, PageRow, VersionRow

MAX_PAGES = 20
"""The maximum number of pages of a document that are read, from the first page."""


def count_predicted_pages(page_count: int | None) -> int:
    """Return how many pages of a document a prediction reads and meters, at most MAX_PAGES.

    `page_count` is the number of pages of the artifact. A document without pages, or whose number
    of pages is unknown (None), counts as one page.
    """
    return min(page_count or 1, MAX_PAGES)


class LoadedDocument(NamedTuple):
    """A document for the extraction engine, with the number of pages that were read."""

    document: Document
    page_count: int


def load_document(artifact_id: UUID) -> LoadedDocument | None:
    """Load the first MAX_PAGES pages of a document, or return None if it is not readable.

    A document is not readable while it is being processed, if processing failed, or if it was
    deleted.
    """
    try:
        text = reading.get_text(artifact_id).text
    except ApiError:
        return None
    pages = examples.list_pages(artifact_id, MAX_PAGES)
    if not pages:
        pages = [PageRow(1, 0, len(text), None)]
    words = [word for page in pages for word in _list_words(page, text)]
    end = pages[-1].end if len(pages) == MAX_PAGES else len(text)
    return LoadedDocument(Document(text[:end], words), len(pages))


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
    for positioned_word in artifact_words.lay_out_page(text[page.start : page.end]):
        yield SourceWord(
            positioned_word.text,
            page.number,
            tuple(positioned_word.box),  # type: ignore[arg-type]
            positioned_word.start + page.start,
            positioned_word.end + page.start,
        )


def list_compatible_version_ids(version: VersionRow) -> list[UUID]:
    """Return the ids of the schema versions whose tag sets can train a model for `version`.

    They have all AI-assisted fields of `version`, with equal type, `multiple`, options and columns.
    """
    required_types = _build_field_types(version.fields)
    return [
        candidate.id
        for candidate in examples.list_versions(version.schema_id)
        if required_types.items() <= _build_field_types(candidate.fields).items()
    ]


def _build_field_types(fields: list[Field]) -> dict[str, Any]:
    return {
        field["key"]: (
            field["type"],
            bool(field.get("multiple")),
            tuple(sorted(option["value"] for option in field.get("options") or ())),
            tuple(sorted(_build_field_types(field.get("columns") or []).items())),
        )
        for field in fields
        if field.get("ai_assist", True)
    }


def list_accepted(version: VersionRow, limit: int = MAX_EXAMPLES) -> list[AcceptedTagSet]:
    """Return at most `limit` accepted tag sets to train a model for `version`, newest first."""
    return examples.list_accepted(version.schema_id, list_compatible_version_ids(version), limit)


def build_examples(
    accepted_tag_sets: list[AcceptedTagSet], checkpoint: Checkpoint = lambda: None
) -> Iterator[Example]:
    """Yield a training example for each tag set that is unchanged and has a readable document.

    `checkpoint` is called after each read. The caller may work on an example for minutes, and no
    transaction may be open during that time.
    """
    for row in accepted_tag_sets:
        loaded_document = load_document(row.artifact_id)
        tags = examples.find_tags(row)
        checkpoint()
        if loaded_document is None or tags is None:
            continue
        yield Example(
            # Another tag set of the same document may have the same revision.
            f"{row.artifact_id}:{row.id}",
            row.revision,
            replace(loaded_document.document, words=select_words(loaded_document.document.words)),
            tags,
            None if row.labeler_id is None else str(row.labeler_id),
            "" if row.decided_at is None else row.decided_at.isoformat(),
        )
