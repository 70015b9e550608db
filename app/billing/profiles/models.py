"""Model of billing profiles."""

from typing import Any

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel


class BillingProfile(TenantModel, db.Revised, db.Base):
    """The address, the tax number and the preferences for the invoices of an organization.

    An organization has at most one profile. `country` is an ISO 3166-1 code, `currency` an ISO 4217
    code.
    """

    __tablename__ = "billing_profiles"
    __table_args__ = (UniqueConstraint("organization_id"),)

    name: Mapped[str]
    address_lines: Mapped[list[Any]]
    postal_code: Mapped[str]
    city: Mapped[str]
    country: Mapped[str]
    tax_number: Mapped[str | None]
    email: Mapped[str]
    currency: Mapped[str]
    time_zone: Mapped[str] = mapped_column(default="UTC")
    language: Mapped[str] = mapped_column(default="en")
