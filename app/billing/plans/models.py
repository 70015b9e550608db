"""The model for plan versions that are in use."""

from datetime import datetime
from typing import Any

from sqlalchemy import func
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db


class PlanVersion(db.Base):
    """A plan version to which an organization or an invoice refers. Rows are never changed.

    `definition` is the plan as returned by `catalogue.format_plan`.
    """

    __tablename__ = "plan_versions"

    name: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    definition: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
