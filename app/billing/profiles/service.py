"""Service that reads and writes billing profiles."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import pycountry
from sqlalchemy import select

from app.billing.plans import catalog
from app.billing.plans import queries as plan_queries
from app.billing.plans.catalog import Plan
from app.billing.profiles import emitted_events
from app.billing.profiles.models import BillingProfile
from app.engines.fields.values.countries import ALPHA_2
from app.engines.invoices.tax_numbers import TaxNumberError, normalize_tax_number
from app.engines.invoices.texts import LANGUAGES
from app.identity.organizations import service as organizations
from app.identity.users import addresses
from app.kit import db, errors, events
from app.kit.locales import check_time_zone

# XML 1.0 does not allow these characters, and invoices are also rendered as XML.
_NOT_IN_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def find() -> BillingProfile | None:
    """Find the billing profile of the current organization; return None if it was never set."""
    return db.session().scalars(select(BillingProfile)).one_or_none()


def find_many(organization_ids: Sequence[UUID]) -> dict[UUID, BillingProfile]:
    """Find billing profiles by organization id.

    Organizations without a profile are missing from the result. Call this function within
    `tenancy.across_organizations`.
    """
    statement = select(BillingProfile).where(BillingProfile.organization_id.in_(organization_ids))
    return {profile.organization_id: profile for profile in db.session().scalars(statement)}


def get() -> dict[str, Any]:
    """Return the billing profile of the current organization.

    A profile that was never set has the revision 0, and the currency of the organization's plan.
    """
    profile = find()
    if profile is not None:
        return _render_profile(profile)
    return {
        **dict.fromkeys(("name", "address", "tax_number", "email", "created_at", "updated_at")),
        "currency": catalog.get_plan(plan_queries.get_plan().plan).currency,
        "time_zone": "UTC",
        "language": LANGUAGES[0],
        "revision": 0,
    }


def replace(
    organization_id: UUID,
    *,
    name: str,
    address: dict[str, Any],
    email: str,
    currency: str,
    tax_number: str | None,
    time_zone: str,
    language: str,
    revision: int | None,
) -> dict[str, Any]:
    """Replace the billing profile of the current organization, and return the new profile.

    Emits `billing_profile.changed`. Raises 400 `validation_error` for an unknown country, time zone
    or currency, for a tax number that is not valid in the country, for an invalid email address,
    and for characters that are not allowed on invoices. If the plan or the scheduled plan has a
    price, the currency must be the currency of this plan.
    Raises 409 `stale_precondition` if `revision` is not None and is outdated.
    """
    organization = organizations.lock(organization_id)
    profile = find()
    errors.check_revision(revision, 0 if profile is None else profile.revision)
    _check_currency(currency, organization.plan, plan_queries.find_scheduled_plan())
    country = _check_country(address["country"])
    values = {
        "name": _check_text(name, "name"),
        **_parse_address(address, country),
        "tax_number": _check_tax_number(tax_number, country),
        "email": addresses.parse(email),
        "currency": currency,
        "time_zone": check_time_zone(time_zone, "time_zone"),
        "language": language,
    }
    profile = _write_profile(profile, values)
    events.emit(emitted_events.CHANGED, emitted_events.ChangedPayload(revision=profile.revision))
    return _render_profile(profile)


def _write_profile(profile: BillingProfile | None, values: dict[str, Any]) -> BillingProfile:
    if profile is None:
        profile = BillingProfile(**values)
        db.session().add(profile)
    for key, value in values.items():
        setattr(profile, key, value)
    db.session().flush()
    return profile


def _parse_address(address: dict[str, Any], country: str) -> dict[str, Any]:
    """Parse an address into column values. `country` has already been checked.

    Raises 400 `validation_error` if a value contains a character that is not allowed on invoices.
    """
    lines = enumerate(address["lines"])
    return {
        "address_lines": [_check_text(line, f"address.lines.{number}") for number, line in lines],
        "postal_code": _check_text(address["postal_code"] or "", "address.postal_code"),
        "city": _check_text(address["city"], "address.city"),
        "country": country,
    }


def has_price(plan: Plan) -> bool:
    """Return whether a plan has a monthly price or charges; only such plans lead to invoices."""
    return bool(plan.price or plan.charges)


def _check_country(code: str) -> str:
    if code not in ALPHA_2:
        message = "Must be an ISO 3166-1 country code, for example AT."
        raise errors.invalid(message, "address.country")
    return code


def _check_currency(code: str, *plan_names: str | None) -> None:
    currency = pycountry.currencies.get(alpha_3=code)
    if currency is None or currency.alpha_3 != code:  # the library ignores case
        raise errors.invalid("Must be an ISO 4217 currency code, for example EUR.", "currency")
    for plan in (catalog.get_plan(name) for name in plan_names if name is not None):
        if has_price(plan) and code != plan.currency:
            message = f"Must be {plan.currency}, the currency of the plan {plan.name}."
            raise errors.invalid(message, "currency", plan=plan.name, currency=plan.currency)


def _check_tax_number(number: str | None, country: str) -> str | None:
    if number is None:
        return None
    try:
        return normalize_tax_number(number, country)
    except TaxNumberError as error:
        raise errors.invalid(f"This value {error.message}.", "tax_number") from None


def _check_text(text: str, field: str) -> str:
    if _NOT_IN_XML.search(text):
        raise errors.invalid("Contains a character that is not allowed on invoices.", field)
    return text


def _render_profile(profile: BillingProfile) -> dict[str, Any]:
    names = [column.key for column in BillingProfile.__table__.columns]
    values = {name: getattr(profile, name) for name in names}
    return {**values, **render_party(values)}


def render_party(party: Mapping[str, Any]) -> dict[str, Any]:
    """Render a seller, a buyer or a billing profile as a party in the API's format."""
    return {
        "name": party["name"],
        "address": {
            "lines": party["address_lines"],
            "postal_code": party["postal_code"] or None,
            "city": party["city"],
            "country": party["country"],
        },
        "tax_number": party["tax_number"],
        "email": party["email"],
    }
