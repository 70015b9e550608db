"""Models of tag sets and their revisions."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Computed,
    ForeignKey,
    Index,
    TextClause,
    false,
    or_,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel, build_foreign_key, build_index
from app.workflow.tag_sets.transitions import TagSetStatus

LABELER = """(
CASE
    WHEN {of}labeler_id IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid
    ELSE {of}labeler_id
END)"""
"""SQL expression for the id of a tag set's labeler, or the all-zero UUID if there is none.

`of` is a table prefix. The index `ix_tag_sets_queue_pool_of` contains the same expression. Under
row-level security, PostgreSQL would not use an index on `coalesce`, which is not leakproof."""

CONTRIBUTORS = """
CASE WHEN {of}merged_from IS NULL THEN array_remove(ARRAY[{of}labeler_id], NULL)
ELSE ARRAY(
    SELECT source.labeler_id FROM tag_sets source
    WHERE source.organization_id = {of}organization_id AND source.labeler_id IS NOT NULL
      AND source.id = ANY (ARRAY(
          SELECT CAST(source_id AS uuid)
          FROM jsonb_array_elements_text({of}merged_from) AS source_id)))
END"""
"""SQL expression for an array of the ids of the people who contributed to a tag set.

These are the labeler or, for a merge, the labelers of its sources. `of` is a table prefix."""

REQUIRED_LABELS = """
(SELECT coalesce(max(CAST(version.review_policy ->> 'labels_per_artifact' AS int)), 1)
 FROM schemas tag_schema
 JOIN schema_versions version ON version.organization_id = {of}organization_id
  AND version.id IN ({of}schema_version_id, tag_schema.current_version_id)
 WHERE tag_schema.organization_id = {of}organization_id AND tag_schema.id = {of}schema_id)
"""
"""SQL expression for the number of tag sets that a tag set's artifact needs.

This is the number in the schema's current version or in the tag set's version, whichever is larger.
If a new version requires more tag sets, older tag sets count toward the new number."""

FLAGS = ("low_confidence", "disagreement", "resubmitted")
"""The flags of tag sets: reasons why a reviewer should look at a tag set more closely."""

_BY_CREATION = ("created_at", "id")
_UNASSIGNED = "assignee_id IS NULL AND assignee_team_id IS NULL"


def _build_queue_index(name: str, *columns: str | TextClause, where: str | None = None) -> Index:
    # Submitted tag sets in queue order. `artifact_archived` is included so that an index-only scan
    # can skip archived artifacts.
    return build_index(
        f"ix_tag_sets_queue{name}",
        *columns,
        "review_rank",
        "id",
        where="status = 'submitted'" + (f" AND {where}" if where else ""),
        included=["artifact_archived"],
    )


def _build_statistics_index(name: str, *columns: str, where: str) -> Index:
    # The submission and due times of submitted tag sets, for queue statistics.
    condition = f"status = 'submitted' AND {where}NOT artifact_archived"
    return build_index(f"ix_tag_sets_waiting_{name}", *columns, where=condition)


class TagSet(TenantModel, db.Revised, db.Base):
    """A set of tags for one artifact, from a person, a model, an import or a merge.

    `tags_bytes` is the size in bytes of the tags as JSON; lists omit tags that are too large.
    `review_rank` orders the review queue, lowest first: by urgency, then by age. The claim, the
    assignee (a user or a team), the due time and the escalation belong to the review. Changes to
    these columns do not increment the revision, which counts changes to the tag set. While a tag
    set is submitted, triggers copy the artifact's `archived` to `artifact_archived`, and set
    `due_at` to the due time of the review or, if the review has none, of the artifact.

    `rejections` and `earlier_rejections` are the numbers of rejections of this tag set and of the
    artifact's previous tag sets. A draft with a `reason` was returned or transferred to its labeler
    and reserves its artifact without a time limit. Any other draft reserves its artifact until
    `reserved_until`, or reserves nothing if `reserved_until` is None.

    A merge has the source `merge` and combines the tag sets in `merged_from`; `provenance` has an
    entry for each value. When a merge is accepted, its id is stored in `superseded_by` of its
    submitted sources. A `reopened` tag set is never accepted automatically. `prediction_id` and
    `prediction_model_version` identify the prediction from which the draft was started.
    """

    __tablename__ = "tag_sets"
    __table_args__ = (
        build_foreign_key("artifact_id", "artifacts", ondelete="CASCADE"),
        build_foreign_key("schema_id", "schemas"),
        build_foreign_key("schema_version_id", "schema_versions"),
        build_index("ix_tag_sets_created", "created_at", "id"),
        build_index("ix_tag_sets_artifact", "artifact_id", "created_at", "id"),
        build_index("ix_tag_sets_status", "status", "created_at", "id"),
        build_index("ix_tag_sets_list_schema", "schema_id", "status", *_BY_CREATION),
        build_index("ix_tag_sets_list_labeler", "labeler_id", "schema_id", "status", *_BY_CREATION),
        build_index(
            "ix_tag_sets_list_reviewer",
            "reviewer_id",
            "status",
            *_BY_CREATION,
            where="reviewer_id IS NOT NULL",
        ),
        build_index("ix_tag_sets_list_source", "source", *_BY_CREATION, where="source <> 'human'"),
        build_index("ix_tag_sets_list_updated", "updated_at", "id"),
        # The newest accepted tag sets of a schema, which drift detection compares.
        build_index(
            "ix_tag_sets_accepted", "schema_id", "decided_at", "id", where="status = 'accepted'"
        ),
        build_index("ix_tag_sets_drafts", "labeler_id", where="status = 'draft'"),
        _build_queue_index(""),
        _build_queue_index("_assignee", "assignee_id", where="assignee_id IS NOT NULL"),
        # The assigned merges. Workload counts omit those that their assignees may not review.
        build_index(
            "ix_tag_sets_assigned_merges",
            "assignee_id",
            where="status = 'submitted' AND assignee_id IS NOT NULL AND merged_from IS NOT NULL",
        ),
        _build_queue_index("_team", "assignee_team_id", where="assignee_team_id IS NOT NULL"),
        _build_queue_index("_pool", where=_UNASSIGNED),
        # The pool by schema and labeler, for reviewers who may not claim the first tag sets in it.
        _build_queue_index("_pool_of", "schema_id", text(LABELER.format(of="")), where=_UNASSIGNED),
        _build_queue_index("_schema", "schema_id"),
        _build_queue_index("_labeler", "labeler_id"),
        _build_queue_index("_escalated", where="escalated"),
        *(_build_queue_index(f"_{flag}", where=f"flags @> '[\"{flag}\"]'") for flag in FLAGS),
        _build_statistics_index("submitted", "submitted_at", where=""),
        # The tag sets that the job `review_queue.move_nearly_due` moves to the front of the queue.
        Index(
            "ix_tag_sets_coming_due",
            "due_at",
            postgresql_where=text(
                "status = 'submitted' AND due_at IS NOT NULL AND review_rank >= 0"
            ),
        ),
        _build_statistics_index("submitted_of", "schema_id", "submitted_at", where=""),
        _build_statistics_index("due", "due_at", where="due_at IS NOT NULL AND "),
        _build_statistics_index(
            "due_of",
            "assignee_id",
            "due_at",
            where="assignee_id IS NOT NULL AND due_at IS NOT NULL AND ",
        ),
        Index(
            "ix_tag_sets_reserved",
            "reserved_until",
            postgresql_where=text("status = 'draft' AND reserved_until IS NOT NULL"),
        ),
        build_index("ix_tag_sets_claimed", "claim_user_id", where="claim_user_id IS NOT NULL"),
        *(
            Index(f"ix_tag_sets_{name}", name, postgresql_where=text(f"{name} IS NOT NULL"))
            for name in ("assignee_id", "escalated_by")  # read when an account is deleted
        ),
        build_index(
            "uq_tag_sets_draft", "artifact_id", "labeler_id", where="status = 'draft'", unique=True
        ),
    )

    artifact_id: Mapped[UUID]
    schema_id: Mapped[UUID]
    schema_version_id: Mapped[UUID]
    labeler_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    reviewer_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    source: Mapped[str] = mapped_column(default="human")
    tags: Mapped[list[Any]] = mapped_column(default=list)
    tag_count: Mapped[int] = mapped_column(Computed("jsonb_array_length(tags)", persisted=True))
    tags_bytes: Mapped[int] = mapped_column(
        Computed("octet_length(CAST(tags AS text))", persisted=True)
    )
    status: Mapped[str] = mapped_column(default=TagSetStatus.DRAFT)
    submitted_at: Mapped[datetime | None]
    decided_at: Mapped[datetime | None]
    reason: Mapped[str | None]
    seconds_spent: Mapped[int] = mapped_column(default=0)
    comment_count: Mapped[int] = mapped_column(default=0)
    rejections: Mapped[int] = mapped_column(default=0)
    earlier_rejections: Mapped[int] = mapped_column(default=0, server_default="0")
    reserved_until: Mapped[datetime | None]
    review_rank: Mapped[int] = mapped_column(BigInteger, default=0)
    claim_user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    claim_expires_at: Mapped[datetime | None]
    assignee_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    assignee_team_id: Mapped[UUID | None]
    review_due_at: Mapped[datetime | None]
    escalated: Mapped[bool] = mapped_column(default=False)
    escalated_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    escalated_at: Mapped[datetime | None]
    escalation_reason: Mapped[str | None]
    flags: Mapped[list[Any]] = mapped_column(default=list)
    merged_from: Mapped[list[Any] | None]
    provenance: Mapped[list[Any] | None]
    superseded_by: Mapped[UUID | None]
    reopened: Mapped[bool] = mapped_column(default=False, server_default=false())
    prediction_id: Mapped[UUID | None]
    prediction_model_version: Mapped[str | None]
    artifact_archived: Mapped[bool] = mapped_column(default=False, server_default=false())
    due_at: Mapped[datetime | None]


class TagSetRevision(TenantModel, db.Base):
    """The state of a tag set after a change; `number` is its revision after the change.

    Every change has a row, so the numbers have no gaps. `kind` is create, save, submit, accept,
    correction (accepted with changed tags), reject, reopen, merge (created as a merge), supersede
    (replaced by a merge) or import (created with its document). `note` is the reviewer's note, or
    the reason for an automatic acceptance: sampling, confidence or agreement. Saves, the most
    frequent revisions, store the size of the tags (`tag_count`, `tags_bytes`), so that lists do not
    read the tags. A decision stores `schema_id` and, in `waited_microseconds`, the time since the
    previous revision: how long the tag set waited for the decision. Other revisions store neither.
    """

    __tablename__ = "tag_set_revisions"
    __table_args__ = (
        build_foreign_key("tag_set_id", "tag_sets", ondelete="CASCADE"),
        build_index("ix_tag_set_revisions_acts", "author_id", "created_at", where="kind <> 'save'"),
        build_index(
            "ix_tag_set_revisions_verdicts",
            "created_at",
            where="kind IN ('accept', 'correction', 'reject')",
        ),
    )

    tag_set_id: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    tags: Mapped[list[Any]]
    author_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"), index=True)
    kind: Mapped[str] = mapped_column(default="save")
    note: Mapped[str | None]
    tag_count: Mapped[int | None]
    tags_bytes: Mapped[int | None]
    schema_id: Mapped[UUID | None]
    waited_microseconds: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(default=db.utc_now)


_UNCHANGED_REVISION = 3
"""The revision number of a tag set that was created, submitted and accepted, but never saved."""


def build_checked_condition() -> ColumnElement[bool]:
    """Build the condition that a person has checked the values of an accepted tag set.

    The condition is false only for a tag set that was started from a prediction, was submitted
    without a save, and was accepted without a reviewer.
    """
    return or_(
        TagSet.prediction_id.is_(None),
        TagSet.reviewer_id.is_not(None),
        TagSet.revision > _UNCHANGED_REVISION,
    )
