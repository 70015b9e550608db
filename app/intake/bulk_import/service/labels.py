"""Labels of imported records: validation against schemas, and creation of tag sets."""

from collections.abc import Sequence
from enum import StrEnum
from threading import Lock
from typing import NamedTuple
from uuid import UUID

from cachetools import LRUCache, cached

from app.documents.artifacts.service.creating_many import Outcome, PreparedText
from app.engines.fields import MAX_TAGS
from app.engines.imports.marks import Mark, MarkConverter, MarkError
from app.engines.imports.records import RecordContent
from app.kit.errors import ApiError
from app.schemas.artifact_schemas.models import CurrentVersion
from app.schemas.artifact_schemas.service import versions as schemas
from app.workflow.tag_sets.service import importing as tag_sets
from app.workflow.tag_sets.service.importing import NewTagSet

TAGS = "tags"
"""The name of the record field that contains tags in the API's format."""


class LabelsAs(StrEnum):
    """How to import labels: as submitted tag sets, as accepted tag sets, or not at all."""

    SUBMITTED = "submitted"
    ACCEPTED = "accepted"
    IGNORED = "ignored"


class RecordLabels(NamedTuple):
    """A record's labels: tags in the API's format, or lists of another tool's labels (marks)."""

    tags: object | None
    mark_lists: Sequence[Sequence[Mark]]

    def __bool__(self) -> bool:
        return self.tags is not None or bool(self.mark_lists)


class CheckedLabels(NamedTuple):
    """Tag sets in canonical form, and the schema version that they conform to."""

    version: CurrentVersion
    tag_sets: list[list[dict[str, object]]]


def pop_labels(content: RecordContent, labels_as: LabelsAs) -> RecordLabels:
    """Remove the property `tags` from a record, and return the record's labels.

    If labels are ignored, the result has no labels.
    """
    tags = content.properties.pop(TAGS, None)
    if labels_as is LabelsAs.IGNORED:
        return RecordLabels(None, ())
    return RecordLabels(tags, content.mark_lists)


class LabelChecker:
    """Checks the labels of one batch of records; reads each schema once."""

    def __init__(self) -> None:
        self._versions: dict[UUID, CurrentVersion | ApiError] = {}

    def check(self, prepared_text: PreparedText, labels: RecordLabels) -> CheckedLabels | Outcome:
        """Check a parsed document's labels; return the tag sets to create, or a failed outcome.

        Ignores mark lists beyond the number of tag sets that the schema requires.
        """
        assert prepared_text.parsed is not None
        schema_id = prepared_text.text.schema_id
        if schema_id is None:
            message = "Labels require a schema. Set `schema_id`."
            return Outcome(None, error=("validation_error", message))
        text, page_count = prepared_text.parsed.text, len(prepared_text.parsed.pages)
        try:
            version = self._get_version(schema_id)
            checked_tag_sets = [
                tag_sets.check_imported_tags(version, tags, text=text, page_count=page_count)
                for tags in _build_tag_lists(version, labels, text)
            ]
        except MarkError as failure:
            return Outcome(None, error=("validation_error", str(failure)))
        except ApiError as failure:
            return Outcome(None, error=(failure.code, failure.message))
        return CheckedLabels(version, checked_tag_sets)

    def _get_version(self, schema_id: UUID) -> CurrentVersion:
        if schema_id not in self._versions:
            self._versions[schema_id] = _get_active_version_or_error(schema_id)
        version = self._versions[schema_id]
        if isinstance(version, ApiError):
            raise version
        return version


def _get_active_version_or_error(schema_id: UUID) -> CurrentVersion | ApiError:
    try:
        return schemas.get_active_version(schema_id)
    except ApiError as failure:
        if failure.code == "not_found":
            return ApiError("validation_error", "This schema does not exist.")
        return failure


def _build_tag_lists(version: CurrentVersion, labels: RecordLabels, text: str) -> list[object]:
    """Return one list of tags per tag set to create.

    Raises MarkError if a label of another tool (a mark) does not match the schema or the text.
    """
    if labels.tags is not None:
        return [labels.tags]
    converter = _build_mark_converter(version)
    required_count = tag_sets.get_required_labels(version)
    # Convert at most one mark more than a tag set may have. The check rejects the extra mark.
    return [
        converter.build_tags(marks[: MAX_TAGS + 1], text)
        for marks in labels.mark_lists[:required_count]
    ]


@cached(LRUCache(64), key=lambda version: version.id, lock=Lock())
def _build_mark_converter(version: CurrentVersion) -> MarkConverter:
    """Build the converter from another tool's labels (marks) to tags of a schema version.

    Cached, because a version never changes.
    """
    return MarkConverter(version.fields)


def create_tag_sets(
    documents: Sequence[tuple[UUID, CheckedLabels]], *, accepted: bool, author_id: UUID | None
) -> None:
    """Create the tag sets of new documents; `documents` has pairs of an id and checked labels."""
    new_tag_sets = [
        NewTagSet(artifact_id, labels.version, tags)
        for artifact_id, labels in documents
        for tags in labels.tag_sets
    ]
    tag_sets.import_many(new_tag_sets, accepted=accepted, author_id=author_id)
