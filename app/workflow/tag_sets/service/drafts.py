"""The labeler's side: start a draft, save it, discard it."""

from typing import Any
from uuid import UUID

from app.documents.artifacts import service as artifacts
from app.engines.agreement import diff
from app.engines.fields import CompiledFields, TagErrors
from app.identity.organizations import service as organizations
from app.kit import errors, events
from app.kit.errors import ApiError
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.schemas.artifact_schemas import service as schemas
from app.workflow.tag_sets.queries import beside, deciding, reading, revisions, saving
from app.workflow.tag_sets.service import actions, reservations, rules, sources, statuses
from app.workflow.tag_sets.service.changes import bounded

OPEN_FOR_LABELS = ("ready", "in_progress", "in_review")

_NEVER_OF_DRAFTS = {"merged_from": None, "provenance": None, "superseded_by": None}


def create(artifact_id: UUID, *, caller: Caller, source: str) -> Any:
    """Start a draft on a document, empty or with the tags of another label set of it, as of the
    model's latest (`prediction`).

    Takes the document's claim where it is free. Tags that no longer fit the schema's current
    version are not copied. Raises 404; 409 `conflict` with what stands against it, as
    `details.state` (of the document or the schema), `missing`, `claim` or `tag_set_id`; 400 on
    `from`.
    """
    artifact = artifacts.lock(artifact_id)
    if artifact.status not in OPEN_FOR_LABELS or artifact.archived:
        state = "archived" if artifact.archived else artifact.status
        raise errors.conflict(f"The document is {state}.", state=state)
    if artifact.schema_id is None:
        raise errors.conflict("The document has no schema yet.", missing="schema")
    version = schemas.get_active_version(artifact.schema_id)
    terms = rules.terms(version.id)
    _check_free(artifact, caller, terms)
    values = {
        "artifact_id": artifact_id,
        "schema_id": version.schema_id,
        "schema_version_id": version.id,
        "labeler_id": caller.user_id,
        "tags": _copied(source, artifact, terms.fields, caller),
        # Label sets that are independent have nothing to do with how others fared.
        "earlier_rejections": deciding.count_rejections(
            artifact_id,
            version.schema_id,
            labeler_id=caller.user_id if terms.overlapping else None,
        ),
    }
    tag_set_id = deciding.insert_new(values, author_id=caller.user_id)
    deciding.take_claim(artifact_id, caller.user_id, minutes=rules.claim_minutes(caller))
    statuses.update_status(artifact_id)
    tell("created", tag_set_id, values)
    return reading.get(tag_set_id)


def _check_free(artifact: Any, caller: Caller, terms: rules.Terms) -> None:
    states = rules.states_in_the_way(terms.labels_per_artifact)
    other = deciding.open_set(artifact.id, caller.user_id, states)
    if other is not None:
        raise errors.conflict("You have a label set of this document already.", tag_set_id=other)
    claim = artifact.claim
    if claim is not None and claim["user_id"] != str(caller.user_id) and not terms.overlapping:
        raise errors.conflict("Somebody else is working on this document.", claim=claim)
    standing = deciding.in_states(artifact.id, ("submitted", "accepted"))
    reserved = reservations.count_reserved_for_others(artifact.id, caller.user_id)
    if reserved and len(standing) + reserved >= terms.labels_per_artifact:
        raise errors.conflict(
            "The document is kept for somebody who has begun to label it.", reserved=True
        )
    if len(standing) >= terms.labels_per_artifact or beside.merges(artifact.id, ("accepted",)):
        raise errors.conflict(
            "The document has as many label sets as its schema asks for.",
            state=artifact.status,
            labels_per_artifact=terms.labels_per_artifact,
        )


def _copied(
    source: str, artifact: Any, fields: CompiledFields, caller: Caller
) -> list[dict[str, Any]]:
    if source == "empty":
        return []
    row = _source(source, artifact.id)
    # Neither another's labels nor what a model said may lead whoever labels blind.
    if row is None or not _is_visible(row.id, caller):
        known = "empty, prediction where there is one, or a label set of this document"
        raise errors.invalid(f"Must be {known}.", "from")
    document = {
        "text_length": artifact.text_length,
        "page_count": artifact.page_count or 0,
        "source": artifacts.source_text(artifact.id, artifact.updated_at),
    }
    fitting = [tag for tag in row.tags if _fits(fields, tag, document)]
    try:
        return fields.check_tags(fitting, **document)
    except TagErrors as failure:
        raise rules.refusal(failure, "from") from None


def _is_visible(tag_set_id: UUID, caller: Caller) -> bool:
    return rules.sees_all(caller) or reading.is_visible(tag_set_id, rules.reader_of(caller))


def _source(source: str, artifact_id: UUID) -> Any | None:
    """The label set of the document to start from: the model's latest, or one by its id."""
    if source == "prediction":
        return beside.latest_prediction(artifact_id)
    try:
        row = reading.get(UUID(source))
    except ValueError:
        return None
    return row if row is not None and row.artifact_id == artifact_id else None


def _fits(fields: CompiledFields, tag: dict[str, Any], document: dict[str, Any]) -> bool:
    try:
        fields.check_tags([tag], **document)
    except TagErrors:
        return False
    return True


def replace_tags(
    tag_set_id: UUID,
    *,
    caller: Caller,
    tags: list[Any],
    revision: int | None,
    seconds_spent: int | None = None,
) -> dict[str, Any]:
    """Save all tags of a draft as a new revision, and renew its labeler's claim.

    Raises 404, 403, 409 (`conflict`; `stale_precondition` with what to merge by), 400 on the first
    tag that does not fit.
    """
    draft = saving.lock(tag_set_id)
    if draft is None:
        raise errors.not_found()
    rules.check_labeler(caller, draft)
    terms = rules.terms(draft.schema_version_id)
    rules.check_state(draft, "draft", None)
    if revision is not None and revision != draft.revision:
        raise _stale(draft, revision, terms)
    checked = rules.check_tags(terms, tags, draft)
    if not sources.may_claim(checked, caller):
        sources.set_sources(checked, saving.get_tags(draft.id))
    saved = saving.save(
        draft,
        checked,
        author_id=caller.user_id,
        seconds_spent=seconds_spent,
        claim_minutes=rules.claim_minutes(caller),
        draft_hours=organizations.draft_hours(caller.org.settings),
    )
    after = {**draft._asdict(), **saved._asdict(), "tags": checked, **_NEVER_OF_DRAFTS}
    tell("saved", draft.id, after, revision=saved.revision, author_id=caller.user_id)
    return after


def _stale(draft: saving.Draft, sent: int, terms: rules.Terms) -> ApiError:
    """The refusal of a save over another one, with what changed since the revision that was sent:
    `details.changes`, as in a diff. Null where there was no such revision; `details.truncated` says
    that there are more."""
    held = revisions.tags(draft.id, (sent, draft.revision))
    if sent not in held:
        return errors.stale(draft.revision, changes=None, truncated=False)
    # By number, not by content: the client takes tags out and puts tags in, row numbers and all.
    found = bounded(diff(held[sent], held[draft.revision], terms.shapes))
    return errors.stale(draft.revision, changes=found["entries"], truncated=found["truncated"])


def delete(tag_set_id: UUID, *, caller: Caller, revision: int | None) -> None:
    """Discard a draft with its revisions. Raises 404, 403, 409.

    One that was sent back, rejected or reopened, holds the record of that: only an admin discards
    it, to others it is 409 `conflict` with `details.rejections`. One that a merge was made of
    nobody discards, as the merge names it: 409 with `details.merges`.
    """
    held = deciding.lock(tag_set_id)
    if held is None:
        raise errors.not_found()
    rules.check_labeler(caller, held)
    rules.check_state(held, "draft", revision)
    if held.submitted_at is not None and not caller.has(Role.admin):
        raise errors.conflict(
            "A label set that was sent back cannot be discarded. Release the document instead.",
            rejections=held.rejections,
        )
    merges = beside.made_of(tag_set_id, held.artifact_id)
    if merges:
        raise errors.conflict("A merge was made of this label set, and names it.", merges=merges)
    deciding.remove(tag_set_id)
    actions.record_action(held.artifact_id, "discard", by=caller.user_id, tag_set_id=tag_set_id)
    deciding.release_claim(held.artifact_id, held.labeler_id)
    statuses.update_status(held.artifact_id)
    tell("deleted", tag_set_id, held._asdict())


def tell(what: str, tag_set_id: UUID, of: dict[str, Any], **more: Any) -> None:
    """Emit `tag_set.<what>`."""
    events.emit(f"tag_set.{what}", told(tag_set_id, of, **more))


def told(tag_set_id: UUID, of: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What every event on a label set tells, and `more`."""
    names = ("artifact_id", "schema_id", "schema_version_id", "labeler_id")
    return {"tag_set_id": tag_set_id, **{name: of[name] for name in names}, **more}
