"""Reading label sets, as far as the caller may see them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from app.kit import errors
from app.kit.pagination import Page, PageRequest
from app.kit.principal import Caller
from app.workflow.tag_sets.queries import history, listing, reading
from app.workflow.tag_sets.service import rules


def get(tag_set_id: UUID, *, caller: Caller) -> Any:
    """Return a tag set. Raises 404, also when it is hidden: a draft of others from those who do not
    review, and from labelers what they must label blind."""
    row = find(tag_set_id, caller=caller)
    if row is None:
        raise errors.not_found()
    return row


def show(tag_set_id: UUID, *, caller: Caller) -> Any:
    """Return one tag set as the API answers it, by a prepared statement.

    Raises 404 as `get` does.
    """
    row = reading.shown(tag_set_id)
    if row is None or not _may_see(row, caller):
        raise errors.not_found()
    return row


def find(tag_set_id: UUID, *, caller: Caller) -> Any | None:
    """One label set; None where there is none, or it is hidden from the caller."""
    row = reading.get(tag_set_id)
    return row if row is not None and _may_see(row, caller) else None


def _may_see(row: Any, caller: Caller) -> bool:
    if row.labeler_id == caller.user_id or rules.sees_all(caller):
        return True
    if row.status == "draft":
        return False
    # Only labelers may have to label blind.
    return not rules.is_labeler(caller) or reading.is_visible(row.id, rules.reader_of(caller))


def list_tag_sets(*, caller: Caller, page: PageRequest, **filters: Any) -> Page:
    """A page of the label sets that the caller may see."""
    return listing.page(page, filters=filters, reader=_reader(caller))


def listed(tag_set_ids: list[UUID], *, page_size: int) -> dict[UUID, Any]:
    """Label sets as lists of `page_size` show them, by id; for callers who may see all."""
    return reading.listed(tag_set_ids, page_size) if tag_set_ids else {}


def shown(tag_set_id: UUID) -> Any:
    """One label set with all tags, None when there is none; for callers who may see all."""
    return reading.shown(tag_set_id)


def who_may_see(tag_set: Any, user_ids: Sequence[UUID], *, caller: Caller) -> set[UUID]:
    """The members of the organization among some users whom `get` would show a label set.

    To a caller who labels the document blind, other labelers are not among them: whether they may
    see it tells whether they are done.
    """
    found = reading.who_may_see(
        tag_set.id, user_ids, labelers=not is_blind(tag_set.artifact_id, caller=caller)
    )
    return found | {caller.user_id}.intersection(user_ids)


def field_names(schema_version_id: UUID) -> list[str]:
    """What a label set of a schema version can be asked about: `total`, `lines`, `lines.item`."""
    return rules.terms(schema_version_id).fields.names


def acts(artifact_id: UUID, *, caller: Caller) -> Any:
    """A SELECT, for another statement, of what happened to those label sets of a document that the
    caller may see, saves aside: id, at, tag_set_id, kind, author_id, author, note and changes."""
    return history.acts(artifact_id, _reader(caller))


def ids_of(artifact_id: UUID, *, caller: Caller) -> Any:
    """A SELECT, for another statement, of the ids of a document's label sets that the caller may
    see."""
    return history.ids(artifact_id, _reader(caller))


def _reader(caller: Caller) -> reading.Reader | None:
    return None if rules.sees_all(caller) else rules.reader_of(caller)


def is_blind(artifact_id: UUID, *, caller: Caller) -> bool:
    """Whether the caller must not know yet what others do with the document."""
    return rules.is_labeler(caller) and history.is_blind(artifact_id, caller.user_id)
