"""The rules that every operation on label sets goes by."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Protocol
from uuid import UUID

from app.documents.artifacts import service as artifacts
from app.engines.agreement import Shapes, shapes
from app.engines.fields import CompiledFields, TagErrors
from app.identity.organizations import service as organizations
from app.kit import errors
from app.kit.errors import ApiError
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.schemas.artifact_schemas import service as schemas
from app.workflow.tag_sets.queries import reading

_TERMS_KEPT = 256


class Locked(Protocol):
    """What the rules read of a locked label set."""

    @property
    def id(self) -> UUID: ...

    @property
    def labeler_id(self) -> UUID | None: ...

    @property
    def status(self) -> str: ...

    @property
    def revision(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Terms:
    """What a schema version asks of its label sets; `max_rejections` None means no limit."""

    fields: CompiledFields
    shapes: Shapes
    labels_per_artifact: int
    sample_rate: float
    auto_accept_agreement: float | None
    auto_accept_confidence: float | None
    max_rejections: int | None

    @property
    def overlapping(self) -> bool:
        """Whether several people label a document, each for themselves."""
        return self.labels_per_artifact > 1


def states_in_the_way(labels_wanted: int) -> tuple[str, ...]:
    """A person with a label set of a document in one of these states gets no other one of it."""
    # Independent label sets are by different people.
    return ("draft", "submitted", "accepted") if labels_wanted > 1 else ("draft",)


@lru_cache(maxsize=_TERMS_KEPT)
def terms(version_id: UUID) -> Terms:
    """The terms of a version that a record of the bound organization names; it never changes."""
    version = schemas.get_version(version_id)
    policy = {**schemas.DEFAULT_POLICY, **version.review_policy}
    return Terms(
        schemas.compiled(version.id, version.fields),
        shapes(version.fields),
        policy["labels_per_artifact"],
        policy["sample_rate"],
        policy["auto_accept_agreement"],
        policy["auto_accept_confidence"],
        policy["max_rejections"],
    )


class Document(Protocol):
    """What checking tags reads of a locked label set and its document."""

    @property
    def artifact_id(self) -> UUID: ...

    @property
    def artifact_updated_at(self) -> datetime: ...

    @property
    def text_length(self) -> int: ...

    @property
    def page_count(self) -> int | None: ...


def check_tags(
    of: Terms, tags: list[Any], document: Document, *, field: str | None = None
) -> list[dict[str, Any]]:
    """Return the tags in canonical form, with evidence as the document, which is locked, has it.

    Raises 400 on `field`, or on the path of the first tag that does not fit.
    """
    try:
        return of.fields.check_tags(
            tags,
            text_length=document.text_length,
            page_count=document.page_count or 0,
            source=artifacts.source_text(document.artifact_id, document.artifact_updated_at),
        )
    except TagErrors as failure:
        raise refusal(failure, field) from None


def refusal(failure: TagErrors, field: str | None = None) -> ApiError:
    """The 400 for tags that do not fit; `details.errors` has them all, up to 100."""
    found = [{"field": path, "message": f"{path} {text}."} for path, text in failure.errors]
    return errors.invalid(found[0]["message"], field or found[0]["field"], errors=found)


def check_complete(of: Terms, tags: list[dict[str, Any]]) -> None:
    """Raise 400 `required_fields_missing` when a required field is empty."""
    missing = of.fields.missing_required(tags)
    if missing:
        raise ApiError(
            "required_fields_missing",
            f"Required and empty: {', '.join(missing[:10])}.",
            details={"fields": missing},
        )


def check_labeler(caller: Caller, held: Locked) -> None:
    """Raise 403 unless the label set is the caller's, 404 when it is hidden from them besides."""
    if held.labeler_id == caller.user_id or caller.has(Role.admin):
        return
    if not sees_all(caller) and not reading.is_visible(held.id, reader_of(caller)):
        raise errors.not_found()
    raise errors.denied("This label set belongs to another labeler.")


def sees_all(caller: Caller) -> bool:
    """Return whether no tag set is hidden from the caller: those who review see drafts too."""
    return caller.has(Role.reviewer)


def is_labeler(caller: Caller) -> bool:
    """Return whether the caller may have to label blind. Viewers do not label."""
    return caller.role == Role.labeler


def reader_of(caller: Caller) -> reading.Reader:
    """Return what decides which tag sets the caller may see, unless they see all."""
    return reading.Reader(caller.user_id, blind=is_labeler(caller))


class Made(Protocol):
    """What says whose work it is."""

    @property
    def labeler_id(self) -> UUID | None: ...

    @property
    def makers(self) -> Sequence[UUID]: ...


def check_reviewer(caller: Caller, held: Made) -> None:
    """Raise 403 when the label set is the caller's own, or a merge of their own, unless the
    organization allows that."""
    if caller.user_id not in held.makers or _reviews_own(caller):
        return
    own = held.labeler_id == caller.user_id
    what = "their own label set" if own else "a merge of their own label set"
    raise errors.denied(f"Nobody reviews {what}.")


def _reviews_own(caller: Caller) -> bool:
    return caller.org.settings.get("allow_self_review") is True


def check_state(held: Locked, expected: str | tuple[str, ...], revision: int | None) -> None:
    """Raise 409: `conflict` with `details.state`, or `stale_precondition`."""
    states = (expected,) if isinstance(expected, str) else expected
    if held.status not in states:
        raise errors.conflict(
            f"The label set is {held.status}; this needs one that is {' or '.join(states)}.",
            state=held.status,
        )
    if revision is not None and revision != held.revision:
        raise errors.stale(held.revision)


def claim_minutes(caller: Caller) -> int:
    """For how long the organization gives a document away."""
    return organizations.claim_minutes(caller.org.settings)
