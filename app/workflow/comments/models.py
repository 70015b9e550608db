"""Model of comments on tag sets."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, ForeignKeyConstraint, UniqueConstraint, Uuid
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel, build_foreign_key, build_index


class TagSetComment(TenantModel, db.Revised, db.Base):
    """A comment on a whole tag set, or on one `field` such as `total` or `lines.item`.

    `thread_id` is the id of the first comment in the thread. For the first comment, it equals `id`.
    Ids are ordered by time, so a thread is one range in the index. Only the first comment of a
    thread can be resolved. `mentions` lists the ids of mentioned users. Users who have left the
    organization remain the authors of their comments.
    """

    __tablename__ = "tag_set_comments"
    __table_args__ = (
        build_foreign_key("tag_set_id", "tag_sets", ondelete="CASCADE"),
        # A reply must belong to the same tag set as its parent.
        ForeignKeyConstraint(
            ["organization_id", "tag_set_id", "parent_id"],
            [
                "tag_set_comments.organization_id",
                "tag_set_comments.tag_set_id",
                "tag_set_comments.id",
            ],
            name="fk_tag_set_comments_parent",
            ondelete="CASCADE",
        ),
        UniqueConstraint("organization_id", "tag_set_id", "id"),
        build_index("ix_tag_set_comments_threads", "tag_set_id", "thread_id", "id"),
    )

    tag_set_id: Mapped[UUID]
    thread_id: Mapped[UUID]
    parent_id: Mapped[UUID | None]
    author_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"), index=True)
    field: Mapped[str | None]
    body: Mapped[str]
    mentions: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid()), default=list)
    resolved_at: Mapped[datetime | None]
    resolved_by_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"), index=True)
