"""Billing periods, months in UTC."""

from datetime import datetime

from sqlalchemy import func
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db


class BillingPeriod(db.Base):
    """A month that was closed. A row is written once; the application may not change it.

    `period` is `YYYY-MM`; `organizations` how many had the month to be billed for.
    """

    __tablename__ = "billing_periods"

    period: Mapped[str] = mapped_column(primary_key=True)
    organizations: Mapped[int]
    closed_at: Mapped[datetime] = mapped_column(server_default=func.now())
