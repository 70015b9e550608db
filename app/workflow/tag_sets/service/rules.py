"""Rules that operations on tag sets share, such as who may change or review a tag set."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Protocol
from uuid import UUID

from app.documents.artifacts.service import texts as artifacts
from app.engines.agreement.tag_keys import FieldSpecs, build_field_specs
from app.engines.fields import CompiledFields, TagErrors
from app.identity.organizations import service as organizations
from app.kit import errors
from app.kit.errors import ApiError
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.schemas.artifact_schemas.service import drafts, versions
from app.workflow.tag_sets.queries import deciding, reading
from app.workflow.tag_sets.queries.drafts import TagSetToSave
from app.workflow.tag_sets.queries.locking import LockedReview, LockedTagSet
from app.workflow.tag_sets.transitions import COMPLETED, TRANSITIONS, Action, TagSetStatus

_MAX_CACHED_VERSIONS = 256


@dataclass(frozen=True, slots=True)
class VersionRules:
    """The compiled fields and the review policy of a schema version.

    If `max_rejections` is None, the number of rejections is not limited.
    """

    fields: CompiledFields
    field_specs: FieldSpecs
    labels_per_artifact: int
    sample_rate: float
    auto_accept_agreement: float | None
    auto_accept_confidence: float | None
    max_rejections: int | None

    @property
    def requires_multiple_labelers(self) -> bool:
        """Return whether more than one person must label each artifact independently."""
        return self.labels_per_artifact > 1


def get_blocking_statuses(required_labels: int) -> tuple[str, ...]:
    """Return the statuses in which a user's tag set for an artifact prevents a second tag set."""
    # If an artifact requires several independent tag sets, each must be by a different person.
    return (TagSetStatus.DRAFT, *COMPLETED) if required_labels > 1 else (TagSetStatus.DRAFT,)


@lru_cache(maxsize=_MAX_CACHED_VERSIONS)
def get_version_rules(version_id: UUID) -> VersionRules:
    """Return the compiled fields and the review policy of a schema version, from a cache.

    This is the only cache of compiled fields. A version never changes, so entries do not expire.
    The id must come from a record of the current organization, because all organizations share the
    cache. Raises 404 if the version is not cached and does not exist.
    """
    version = versions.get_version(version_id)
    policy = {**drafts.DEFAULT_POLICY, **version.review_policy}
    return VersionRules(
        CompiledFields(version.fields),
        build_field_specs(version.fields),
        **{name: policy[name] for name in drafts.DEFAULT_POLICY},
    )


def check_tags(
    version_rules: VersionRules,
    tags: list[Any],
    tag_set: LockedTagSet | TagSetToSave,
    *,
    field: str | None = None,
    complete: bool = False,
) -> list[dict[str, Any]]:
    """Check tags against the fields and the tag set's document; return the tags in canonical form.

    Evidence that has offsets but no text gets its text from the document. Raises 400 with the path
    `field` or, if it is None, the path of the first invalid tag. If `complete` is set, also raises
    400 `required_fields_missing` if a required field is empty.
    """
    try:
        checked_tags = version_rules.fields.check_tags(
            tags,
            text_length=tag_set.text_length,
            page_count=tag_set.page_count or 0,
            source=artifacts.build_source_text(tag_set.artifact_id, tag_set.artifact_updated_at),
        )
    except TagErrors as failure:
        raise build_tags_error(failure, field) from None
    if complete:
        check_complete(version_rules, checked_tags)
    return checked_tags


def build_tags_error(failure: TagErrors, field: str | None = None) -> ApiError:
    """Build the 400 error for invalid tags; `details.errors` lists the errors, at most 100.

    The error has the path `field` or, if it is None, the path of the first invalid tag.
    """
    messages = [{"field": path, "message": f"{path} {text}."} for path, text in failure.errors]
    return errors.invalid(messages[0]["message"], field or messages[0]["field"], errors=messages)


def check_complete(version_rules: VersionRules, tags: list[dict[str, Any]]) -> None:
    """Raise 400 `required_fields_missing` if a required field is empty."""
    missing_fields = version_rules.fields.list_missing_required_fields(tags)
    if missing_fields:
        raise ApiError(
            "required_fields_missing",
            f"These required fields are empty: {', '.join(missing_fields[:10])}.",
            details={"fields": missing_fields},
        )


def check_labeler(caller: Caller, tag_set: LockedTagSet | TagSetToSave) -> None:
    """Raise 403 if the tag set belongs to another labeler, or 404 if it is hidden from the caller.

    Admins may change the tag sets of all labelers.
    """
    if tag_set.labeler_id == caller.user_id or caller.has_role(Role.admin):
        return
    if not can_see_all(caller) and not reading.is_visible(tag_set.id, build_reader(caller)):
        raise errors.not_found()
    raise errors.denied("This tag set belongs to another labeler.")


def can_see_all(caller: Caller) -> bool:
    """Return whether the caller may see all tag sets, including drafts of other users."""
    return caller.has_role(Role.reviewer)


def is_labeler(caller: Caller) -> bool:
    """Return whether the caller's role is exactly labeler. Only these users label blind."""
    return caller.role == Role.labeler


def build_reader(caller: Caller) -> reading.Reader:
    """Build a `Reader` that restricts queries to the tag sets that the caller may see."""
    return reading.Reader(caller.user_id, is_labeler=is_labeler(caller))


class ReviewableTagSet(Protocol):
    """The columns of a tag set that `check_reviewer` and `check_review` read."""

    @property
    def labeler_id(self) -> UUID | None:
        """Return the labeler's id, or None if there is no labeler."""

    @property
    def contributor_ids(self) -> Sequence[UUID]:
        """Return the ids of the users who labeled the tag set or, for a merge, its sources."""

    @property
    def claimed_by(self) -> UUID | None:
        """Return the id of the reviewer with an unexpired claim, or None."""

    @property
    def claim_expires_at(self) -> datetime | None:
        """Return when the claim expires or has expired, or None if there is no claim."""

    @property
    def assignee_id(self) -> UUID | None:
        """Return the assigned user's id, or None."""

    @property
    def assignee_team_id(self) -> UUID | None:
        """Return the assigned team's id, or None."""


def can_review(
    user_id: UUID, contributor_ids: Collection[UUID], *, allows_self_review: bool
) -> bool:
    """Return whether a user may review a tag set with the contributors `contributor_ids`.

    `claimable.EXCLUDED_REVIEWERS` is the same rule in SQL.
    """
    return allows_self_review or user_id not in contributor_ids


def check_reviewer(caller: Caller, tag_set: ReviewableTagSet) -> None:
    """Raise 403 if the caller labeled the tag set or, for a merge, one of its sources.

    Does nothing if the organization allows self-review.
    """
    allows_self_review = organizations.allows_self_review(caller.org.settings)
    if can_review(caller.user_id, tag_set.contributor_ids, allows_self_review=allows_self_review):
        return
    is_own = tag_set.labeler_id == caller.user_id
    subject = "your own tag set" if is_own else "a merge of your own tag set"
    raise errors.denied(f"You cannot review {subject}.")


def check_review(
    caller: Caller,
    tag_set: ReviewableTagSet,
    *,
    team_ids: Collection[UUID] | None = None,
    take_over: bool = False,
) -> None:
    """Check that the caller may review the tag set now.

    `team_ids` are the ids of the caller's teams. If None, they are read from the database.

    Raises 403 if the caller labeled the tag set or one of its sources; 409 `conflict` with
    `details.claim` if another reviewer has claimed the tag set, unless `take_over` is set and the
    caller is an admin; 409 `conflict` with `details.assignee_id` or `details.assignee_team_id` if
    the tag set is assigned to another user or team and the caller is not an admin.
    """
    check_reviewer(caller, tag_set)
    is_admin = caller.has_role(Role.admin)
    if tag_set.claimed_by not in (None, caller.user_id) and not (take_over and is_admin):
        claim = {"user_id": tag_set.claimed_by, "expires_at": tag_set.claim_expires_at}
        raise errors.conflict("Another reviewer has claimed this tag set.", claim=claim)
    if is_admin:
        return
    if tag_set.assignee_id is not None:
        if tag_set.assignee_id != caller.user_id:
            raise errors.conflict(
                "The review is assigned to another user.", assignee_id=tag_set.assignee_id
            )
    elif tag_set.assignee_team_id is not None:
        if team_ids is None:
            team_ids = deciding.list_team_ids(caller.user_id)
        if tag_set.assignee_team_id not in team_ids:
            raise errors.conflict(
                "The review is assigned to another team.", assignee_team_id=tag_set.assignee_team_id
            )


def check_state(
    tag_set: LockedTagSet | LockedReview | TagSetToSave, action: Action, revision: int | None
) -> None:
    """Check that the tag set's status allows an action, and that its revision is `revision`.

    If `revision` is None, the revision is not checked. Raises 409 `conflict` with `details.state`,
    or 409 `stale_precondition`.
    """
    allowed_statuses = TRANSITIONS[action].sources
    if tag_set.status not in allowed_statuses:
        raise errors.conflict(
            f"The tag set's status is {tag_set.status};"
            f" it must be {' or '.join(allowed_statuses)}.",
            state=tag_set.status,
        )
    errors.check_revision(revision, tag_set.revision)


def get_claim_minutes(caller: Caller) -> int:
    """Return the duration in minutes of claims in the caller's organization."""
    return organizations.get_claim_minutes(caller.org.settings)
