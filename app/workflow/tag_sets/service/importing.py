"""Import of tag sets with new documents. The tag sets are submitted for review, or accepted."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from app.engines.fields import SourceText, Tag, TagErrors
from app.kit import db, events
from app.kit.ids import generate_ids
from app.schemas.artifact_schemas.models import CurrentVersion
from app.workflow.tag_sets import emitted_events
from app.workflow.tag_sets.emitted_events import build_accepted_payload, build_payload
from app.workflow.tag_sets.queries import drafts, statuses
from app.workflow.tag_sets.service import rules
from app.workflow.tag_sets.transitions import TagSetStatus

_SOURCE = "import"


class NewTagSet(NamedTuple):
    """A tag set to create. `tags` must be the result of `check_imported_tags`."""

    artifact_id: UUID
    version: CurrentVersion
    tags: list[Tag]


class _TagSetIds(NamedTuple):
    id: UUID
    artifact_id: UUID
    schema_id: UUID
    schema_version_id: UUID
    labeler_id: UUID | None = None


def check_imported_tags(
    version: CurrentVersion, tags: object, *, text: str, page_count: int
) -> list[Tag]:
    """Check the tags of an imported document and return them in canonical form.

    The source of each tag is set to `import`. Raises 400 with the path of the first invalid tag, or
    400 `required_fields_missing`.
    """
    version_rules = rules.get_version_rules(version.id)
    try:
        checked_tags = version_rules.fields.check_tags(
            tags, text_length=len(text), page_count=page_count, source=SourceText(lambda: text)
        )
    except TagErrors as failure:
        raise rules.build_tags_error(failure) from None
    rules.check_complete(version_rules, checked_tags)
    return [{**tag, "source": _SOURCE} for tag in checked_tags]


def get_required_labels(version: CurrentVersion) -> int:
    """Return the number of tag sets that a document with this schema version requires."""
    return rules.get_version_rules(version.id).labels_per_artifact


def import_many(
    new_tag_sets: Sequence[NewTagSet], *, accepted: bool, author_id: UUID | None
) -> None:
    """Import tag sets for documents that this transaction has created.

    The tag sets have no labeler. They are submitted for review or, if `accepted` is set, accepted
    without a review. The review policy's rules for automatic acceptance do not apply. Emits
    `tag_set.accepted` or `tag_set.submitted` for each tag set.
    """
    if not new_tag_sets:
        return
    now = db.utc_now()
    shared_columns: dict[str, object] = {
        "source": _SOURCE,
        "status": TagSetStatus.ACCEPTED if accepted else TagSetStatus.SUBMITTED,
        "submitted_at": now,
        "decided_at": now if accepted else None,
    }
    ids = [
        _TagSetIds(new_id, tag_set.artifact_id, tag_set.version.schema_id, tag_set.version.id)
        for new_id, tag_set in zip(generate_ids(len(new_tag_sets)), new_tag_sets, strict=True)
    ]
    rows = [
        {**row_ids._asdict(), **shared_columns, "tags": tag_set.tags}
        for row_ids, tag_set in zip(ids, new_tag_sets, strict=True)
    ]
    drafts.insert_tag_sets(rows, author_id=author_id, kind=_SOURCE)
    artifact_ids = sorted({tag_set.artifact_id for tag_set in new_tag_sets})
    statuses.update_statuses(artifact_ids, are_new=True)
    if accepted:
        payloads = [
            build_accepted_payload(row_ids, reviewer_id=None, corrected=False) for row_ids in ids
        ]
        events.emit_many(emitted_events.ACCEPTED, payloads)
    else:
        events.emit_many(emitted_events.SUBMITTED, [build_payload(row_ids) for row_ids in ids])
