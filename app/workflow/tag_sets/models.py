"""Label sets, and every revision that was saved of them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Computed,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    false,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel

LABELER = """(
CASE
    WHEN {of}labeler_id IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid
    ELSE {of}labeler_id
END)"""
"""The labeler, or a stand-in where there is none, as the index has it and PostgreSQL writes it;
`of` is a table's alias. It takes `coalesce` for leaky, and under row-level security finds nothing
by that."""

MAKERS = """
CASE WHEN {of}merged_from IS NULL THEN array_remove(ARRAY[{of}labeler_id], NULL)
ELSE ARRAY(
    SELECT source.labeler_id FROM tag_sets source
    WHERE source.organization_id = {of}organization_id AND source.labeler_id IS NOT NULL
      AND source.id = ANY (ARRAY(
          SELECT CAST(one AS uuid) FROM jsonb_array_elements_text({of}merged_from) AS one)))
END"""
"""Whose work a label set is: its labeler's, of a merge those of the label sets it was made of."""

LABELS_WANTED = """
(SELECT coalesce(max(CAST(asked.review_policy ->> 'labels_per_artifact' AS int)), 1)
 FROM schemas kind
 JOIN schema_versions asked ON asked.organization_id = {of}organization_id
  AND asked.id IN ({of}schema_version_id, kind.current_version_id)
 WHERE kind.organization_id = {of}organization_id AND kind.id = {of}schema_id)
"""
"""How many label sets its document is to have: as many as its schema asks for now, or did when it
was made, if that was more. So what was made before more were asked for is one of them."""

FLAGS = ("low_confidence", "disagreement", "resubmitted")
"""Why a reviewer should look at a label set more closely."""

_NEWEST = ("created_at", "id")
_UNASSIGNED = "assignee_id IS NULL AND assignee_team_id IS NULL"


def _queue(name: str, *of: Any, where: str | None = None) -> Index:
    # What waits for review, in the order of the queue. With the mark of its document an index alone
    # passes over what is not in the queue.
    return Index(
        f"ix_tag_sets_queue{name}",
        "organization_id",
        *of,
        "review_rank",
        "id",
        postgresql_where=text("status = 'submitted'" + (f" AND {where}" if where else "")),
        postgresql_include=["artifact_archived"],
    )


def _waiting(name: str, *of: str, where: str) -> Index:
    # The times of what waits, for the queue's numbers.
    return Index(
        f"ix_tag_sets_waiting_{name}",
        "organization_id",
        *of,
        postgresql_where=text(f"status = 'submitted' AND {where}NOT artifact_archived"),
    )


class TagSet(TenantModel, db.Revised, db.Base):
    """One person's (or model's) labels of one document. `status`: draft, submitted, accepted,
    rejected.

    `tags_bytes` is the size of the tags as JSON: lists leave out what is too large for a page.
    `review_rank` orders the review queue, the least first: urgency, then age. The claim, the
    assignee (a user or a team), the due time and the escalation are of the review: no change of the
    label set, so they raise no revision. While it waits, `artifact_archived` is its document's mark
    and `due_at` when the review is due, or else the document: triggers keep both.

    `rejections` counts how often it was rejected; `earlier_rejections` how often those were that it
    follows on its document. `reserved_until`: until when a begun draft keeps its document.

    A merge (`source`) was made of the label sets in `merged_from`; `provenance` has an entry for
    each of its values. Those of them that still waited when it was accepted are `superseded_by` it.
    `reopened`: a reviewer took a verdict back, so that no machine gives another one.
    """

    __tablename__ = "tag_sets"
    __table_args__ = (
        ForeignKeyConstraint(
            ["organization_id", "artifact_id"],
            ["artifacts.organization_id", "artifacts.id"],
            ondelete="CASCADE",
        ),
        ForeignKeyConstraint(
            ["organization_id", "schema_id"], ["schemas.organization_id", "schemas.id"]
        ),
        ForeignKeyConstraint(
            ["organization_id", "schema_version_id"],
            ["schema_versions.organization_id", "schema_versions.id"],
        ),
        Index("ix_tag_sets_created", "organization_id", "created_at", "id"),
        Index("ix_tag_sets_artifact", "organization_id", "artifact_id", "created_at", "id"),
        Index("ix_tag_sets_status", "organization_id", "status", "created_at", "id"),
        Index("ix_tag_sets_list_schema", "organization_id", "schema_id", "status", *_NEWEST),
        Index(
            "ix_tag_sets_list_labeler",
            "organization_id",
            "labeler_id",
            "schema_id",
            "status",
            *_NEWEST,
        ),
        Index(
            "ix_tag_sets_list_reviewer",
            "organization_id",
            "reviewer_id",
            "status",
            *_NEWEST,
            postgresql_where=text("reviewer_id IS NOT NULL"),
        ),
        # Of other sources there are few.
        Index(
            "ix_tag_sets_list_source",
            "organization_id",
            "source",
            *_NEWEST,
            postgresql_where=text("source <> 'human'"),
        ),
        Index("ix_tag_sets_list_updated", "organization_id", "updated_at", "id"),
        Index(
            "ix_tag_sets_drafts",
            "organization_id",
            "labeler_id",
            postgresql_where=text("status = 'draft'"),
        ),
        _queue(""),
        _queue("_assignee", "assignee_id", where="assignee_id IS NOT NULL"),
        _queue("_team", "assignee_team_id", where="assignee_team_id IS NOT NULL"),
        _queue("_pool", where=_UNASSIGNED),
        # The pool of each schema and labeler, for reviewers whom the head of it does not suit.
        _queue("_pool_of", "schema_id", text(LABELER.format(of="")), where=_UNASSIGNED),
        _queue("_schema", "schema_id"),
        _queue("_labeler", "labeler_id"),
        _queue("_escalated", where="escalated"),
        *(_queue(f"_{flag}", where=f"flags @> '[\"{flag}\"]'") for flag in FLAGS),
        _waiting("submitted", "submitted_at", where=""),
        _waiting("submitted_of", "schema_id", "submitted_at", where=""),
        _waiting("due", "due_at", where="due_at IS NOT NULL AND "),
        _waiting(
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
        Index(
            "ix_tag_sets_claimed",
            "organization_id",
            "claim_user_id",
            postgresql_where=text("claim_user_id IS NOT NULL"),
        ),
        Index(
            "uq_tag_sets_draft",
            "organization_id",
            "artifact_id",
            "labeler_id",
            unique=True,
            postgresql_where=text("status = 'draft'"),
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
    status: Mapped[str] = mapped_column(default="draft")
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
    artifact_archived: Mapped[bool] = mapped_column(default=False, server_default=false())
    due_at: Mapped[datetime | None]


class TagSetRevision(TenantModel, db.Base):
    """What the label set held after one change of it; `number` is its revision after the change.

    Every change has its row, so the numbers have no gaps. `kind`: create, save, submit, accept,
    correction (accepted with other tags), reject, reopen, merge (made of others) or supersede (a
    merge stands for it); `note` is what was said with a decision, or, where nobody accepted it,
    what spared it the review: sampling, confidence or agreement. Saves, of which there are most,
    note their size (`tag_count`, `tags_bytes`), so that lists need not unpack the tags for it.
    Decisions note the schema, and how long after the revision before them they were made.
    """

    __tablename__ = "tag_set_revisions"
    __table_args__ = (
        ForeignKeyConstraint(
            ["organization_id", "tag_set_id"],
            ["tag_sets.organization_id", "tag_sets.id"],
            ondelete="CASCADE",
        ),
        # Saves, of which there are most, stay out of it.
        Index(
            "ix_tag_set_revisions_acts",
            "organization_id",
            "author_id",
            "created_at",
            postgresql_where=text("kind <> 'save'"),
        ),
        Index(
            "ix_tag_set_revisions_verdicts",
            "organization_id",
            "created_at",
            postgresql_where=text("kind IN ('accept', 'correction', 'reject')"),
        ),
    )

    tag_set_id: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    tags: Mapped[list[Any]]
    author_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    kind: Mapped[str] = mapped_column(default="save")
    note: Mapped[str | None]
    tag_count: Mapped[int | None]
    tags_bytes: Mapped[int | None]
    schema_id: Mapped[UUID | None]
    waited_microseconds: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(default=db.utc_now)
