"""Sessions: what a token's `sid` names, and what logging out revokes."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.ids import uuid7


class Session(db.Base):
    """One login. `method`: password, or the kind of single sign-on, through `organization_id`."""

    __tablename__ = "sessions"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    issued_at: Mapped[datetime] = mapped_column(default=db.utc_now)
    expires_at: Mapped[datetime] = mapped_column(index=True)
    last_seen_at: Mapped[datetime] = mapped_column(default=db.utc_now)
    ip_address: Mapped[str | None]
    user_agent: Mapped[str | None]
    revoked_at: Mapped[datetime | None]
    method: Mapped[str] = mapped_column(server_default="password")
    organization_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("organizations.id", ondelete="SET NULL"), index=True
    )
