"""The model for closed billing periods, which are calendar months in UTC."""

from datetime import datetime

from sqlalchemy import func
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db


class BillingPeriod(db.Base):
    """A closed month. The application cannot change a row after inserting it.

    `period` is `YYYY-MM`; `organizations` is the number of organizations billed for the month.
    """

    __tablename__ = "billing_periods"

    period: Mapped[str] = mapped_column(primary_key=True)
    organizations: Mapped[int]
    closed_at: Mapped[datetime] = mapped_column(server_default=func.now())
