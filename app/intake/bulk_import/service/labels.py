"""Labels of imported records, which are checked against schemas and become tag sets."""

from collections.abc import Sequence
from enum import StrEnum
from threading import Lock
from typing import NamedTuple
from uuid import UUID

from cachetools import LRUCache, cached

from app.documents.artifacts.service import Outcome, PreparedText
from app.engines.imports import Content, FieldNames, Mark, MarkError
from app.kit.errors import ApiError
from app.schemas.artifact_schemas import service as schemas
from app.schemas.artifact_schemas.service import CurrentVersion
from app.workflow.tag_sets import service as tag_sets
from app.workflow.tag_sets.service import NewTagSet

TAGS = "tags"
"""The field of a record that contains its tags, as in the API."""


class LabelsAs(StrEnum):
    """The handling of imported labels: submitted or accepted tag sets, or ignored."""

    SUBMITTED = "submitted"
    ACCEPTED = "accepted"
    IGNORED = "ignored"


class Labels(NamedTuple):
    """The labels of a record: tags as in the API, or label sets of another tool, one per person."""

    tags: object | None
    label_sets: Sequence[Sequence[Mark]]

    def __bool__(self) -> bool:
        return self.tags is not None or bool(self.label_sets)


class CheckedLabels(NamedTuple):
    """Tag sets in canonical form, and the schema version that they conform to."""

    version: CurrentVersion
    tag_sets: list[list[dict[str, object]]]


def pop_labels(content: Content, labels_as: LabelsAs) -> Labels:
    """Remove the tags from the fields of a record; return its labels, or none if ignored."""
    tags = content.members.pop(TAGS, None)
    if labels_as is LabelsAs.IGNORED:
        return Labels(None, ())
    return Labels(tags, content.label_sets)


class LabelChecker:
    """Checks the labels of one batch; reads each schema once."""

    def __init__(self) -> None:
        self._versions: dict[UUID, CurrentVersion | ApiError] = {}

    def check(self, prepared: PreparedText, labels: Labels) -> CheckedLabels | Outcome:
        """Return the checked labels of a parsed text, or the error of its record.

        Only the first label sets are checked, as many as the schema requires.
        """
        assert prepared.parsed is not None
        schema_id = prepared.text.schema_id
        if schema_id is None:
            return Outcome(None, error=("validation_error", "Labels need a schema: `schema_id`."))
        text, page_count = prepared.parsed.text, len(prepared.parsed.pages)
        try:
            version = self._get_version(schema_id)
            checked = [
                tag_sets.check_imported_tags(version, tags, text=text, page_count=page_count)
                for tags in _build_tag_lists(version, labels, text)
            ]
        except MarkError as failure:
            return Outcome(None, error=("validation_error", str(failure)))
        except ApiError as failure:
            return Outcome(None, error=(failure.code, failure.message))
        return CheckedLabels(version, checked)

    def _get_version(self, schema_id: UUID) -> CurrentVersion:
        if schema_id not in self._versions:
            self._versions[schema_id] = _find_version(schema_id)
        version = self._versions[schema_id]
        if isinstance(version, ApiError):
            raise version
        return version


def _find_version(schema_id: UUID) -> CurrentVersion | ApiError:
    try:
        return schemas.get_active_version(schema_id)
    except ApiError as failure:
        if failure.code == "not_found":
            return ApiError("validation_error", "This schema does not exist.")
        return failure


def _build_tag_lists(version: CurrentVersion, labels: Labels, text: str) -> list[object]:
    """Return the tags of each label set. Raises MarkError."""
    if labels.tags is not None:
        return [labels.tags]
    names = _build_field_names(version)
    required_count = tag_sets.count_required(version)
    return [names.build_tags(marks, text) for marks in labels.label_sets[:required_count]]


@cached(LRUCache(64), key=lambda version: version.id, lock=Lock())
def _build_field_names(version: CurrentVersion) -> FieldNames:
    """Return the names of a version's fields, which never change."""
    return FieldNames(version.fields)


def create_tag_sets(
    documents: Sequence[tuple[UUID, CheckedLabels]], *, accepted: bool, author_id: UUID | None
) -> None:
    """Create the tag sets of new documents, which are pairs of document id and labels."""
    new_tag_sets = [
        NewTagSet(artifact_id, labels.version, tags)
        for artifact_id, labels in documents
        for tags in labels.tag_sets
    ]
    tag_sets.import_many(new_tag_sets, accepted=accepted, author_id=author_id)
