"""Service that reads and writes billing profiles."""

import re
from typing import Any
from uuid import UUID

import pycountry

from app.billing.plans import catalogue
from app.billing.plans.catalogue import Plan
from app.billing.profiles import emitted_events, queries
from app.billing.profiles.models import BillingProfile
from app.engines.invoices import LANGUAGES, TaxNumberError, normalize_tax_number
from app.identity.organizations import service as organizations
from app.identity.users import addresses
from app.kit import db, errors, events
from app.kit.locales import check_time_zone

# XML 1.0 allows no other characters, and invoices are also rendered as XML.
_NOT_IN_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

find = queries.find
find_many = queries.find_many


def get(organization_id: UUID) -> dict[str, Any]:
    """Return the billing profile of the current organization.

    A profile that was never set has the revision 0 and the currency of the plan.
    """
    profile = queries.find()
    if profile is not None:
        return _render(profile)
    return {
        **dict.fromkeys(("name", "address", "tax_number", "email", "created_at", "updated_at")),
        "currency": catalogue.get_plan(queries.get_plan_name(organization_id)).currency,
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
    """Replace the billing profile of the current organization, and return it.

    Emits `billing_profile.changed`. Raises 400 `validation_error` for an unknown country, time zone
    or currency, for a tax number that is not valid in the country, and for a currency in which the
    plan is not offered; and 409 `stale_precondition`.
    """
    organization = organizations.lock(organization_id)
    profile = queries.find()
    current_revision = 0 if profile is None else profile.revision
    if revision is not None and revision != current_revision:
        raise errors.stale(current_revision)
    _check_currency(currency, catalogue.get_plan(organization.plan))
    country = _check_country(address["country"])
    values = {
        "name": _check_text(name, "name"),
        **_load_address(address, country),
        "tax_number": _check_tax_number(tax_number, country),
        "email": addresses.parse(email),
        "currency": currency,
        "time_zone": check_time_zone(time_zone, "time_zone"),
        "language": language,
    }
    profile = _write(profile, values)
    events.emit(emitted_events.CHANGED, {"revision": profile.revision})
    return _render(profile)


def _write(profile: BillingProfile | None, values: dict[str, Any]) -> BillingProfile:
    if profile is None:
        profile = BillingProfile(**values)
        db.session().add(profile)
    for key, value in values.items():
        setattr(profile, key, value)
    db.session().flush()
    return profile


def _load_address(address: dict[str, Any], country: str) -> dict[str, Any]:
    """Return the columns of an address. Raises 400 `validation_error`."""
    lines = enumerate(address["lines"])
    return {
        "address_lines": [_check_text(line, f"address.lines.{number}") for number, line in lines],
        "postal_code": _check_text(address["postal_code"] or "", "address.postal_code"),
        "city": _check_text(address["city"], "address.city"),
        "country": country,
    }


def has_price(plan: Plan) -> bool:
    """Return whether a plan has a price or charges, and so can lead to an invoice."""
    return bool(plan.price or plan.charges)


def _check_country(code: str) -> str:
    country = pycountry.countries.get(alpha_2=code)
    if country is None or country.alpha_2 != code:  # the library ignores case
        message = "Must be a country code of ISO 3166-1, such as AT."
        raise errors.invalid(message, "address.country")
    return code


def _check_currency(code: str, plan: Plan) -> None:
    currency = pycountry.currencies.get(alpha_3=code)
    if currency is None or currency.alpha_3 != code:
        raise errors.invalid("Must be a currency code of ISO 4217, such as EUR.", "currency")
    if has_price(plan) and code != plan.currency:
        message = f"The plan {plan.name} is offered in {plan.currency}."
        raise errors.invalid(message, "currency", plan=plan.name, currency=plan.currency)


def _check_tax_number(number: str | None, country: str) -> str | None:
    if number is None:
        return None
    try:
        return normalize_tax_number(number, country)
    except TaxNumberError as error:
        raise errors.invalid(f"This {error.message}.", "tax_number") from None


def _check_text(text: str, field: str) -> str:
    if _NOT_IN_XML.search(text):
        raise errors.invalid("Contains a character that is not allowed on invoices.", field)
    return text


def _render(profile: BillingProfile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "address": {
            "lines": profile.address_lines,
            "postal_code": profile.postal_code or None,
            "city": profile.city,
            "country": profile.country,
        },
        "tax_number": profile.tax_number,
        "email": profile.email,
        "currency": profile.currency,
        "time_zone": profile.time_zone,
        "language": profile.language,
        "created_at": profile.created_at,
        "updated_at": profile.updated_at,
        "revision": profile.revision,
    }
