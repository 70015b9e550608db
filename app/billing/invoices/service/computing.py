"""Compute what an organization owes for a period, from its plans and its meters."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from app.billing.invoices.service import texts
from app.billing.plan_changes import service as plan_changes
from app.billing.plans import service as plans
from app.billing.plans.catalogue import Charge, Plan
from app.billing.profiles.models import BillingProfile
from app.billing.seller.configuration import BillingConfiguration
from app.billing.usage import service as usage
from app.engines.invoices.charges import QUANTITY_DIGITS, compute_charge, compute_price_line
from app.engines.invoices.currencies import round_amount, round_half_up
from app.engines.invoices.model import Line, Party, Totals
from app.engines.invoices.proration import prorate
from app.engines.invoices.taxes import TaxRule, choose_tax, compute_totals
from app.identity.organizations.models import Organization
from app.kit.plan_limits import Meter

_MONTH = "MON"
_MONTHLY = frozenset(str(meter) for meter in Meter if meter.is_monthly)


@dataclass(frozen=True)
class PlanPeriod:
    """A part of a period in which one version of a plan was in force; `end` is exclusive."""

    plan: Plan
    start: datetime
    end: datetime


@dataclass(frozen=True)
class Period:
    """A billing period; `end` is exclusive."""

    start: datetime
    end: datetime


@dataclass(frozen=True)
class Content:
    """The lines of an invoice and their sums; without a tax rule, no tax is added."""

    currency: str
    language: str
    lines: tuple[Line, ...]
    rule: TaxRule | None
    totals: Totals


def compute(
    organization: Organization,
    period: Period,
    profile: BillingProfile | None,
    configuration: BillingConfiguration | None,
) -> list[Content]:
    """Return the content of the invoices of the bound organization for a period.

    There is one for each currency in which something is to be paid, so usually one or none. Until
    there is a profile, the tax is that of the seller's own country.
    """
    language = profile.language if profile else "en"
    parts = _list_parts(organization, period)
    rule = _choose_rule(profile, configuration)
    contents = []
    for currency in dict.fromkeys(part.plan.currency for part in parts):
        lines = [
            *compute_prices([p for p in parts if p.plan.currency == currency], period, language),
            *_compute_charges(parts, currency, period, language),
        ]
        if lines:
            totals = _sum(lines, currency, rule)
            contents.append(Content(currency, language, tuple(lines), rule, totals))
    return contents


def build_empty(
    currency: str, profile: BillingProfile | None, configuration: BillingConfiguration | None
) -> Content:
    """Return the content of an invoice with nothing to pay."""
    rule = _choose_rule(profile, configuration)
    language = profile.language if profile else "en"
    return Content(currency, language, (), rule, _sum([], currency, rule))


def build_buyer(profile: BillingProfile) -> Party:
    """Return the organization as the buyer of an invoice."""
    return Party(
        name=profile.name,
        address_lines=tuple(profile.address_lines),
        postal_code=profile.postal_code,
        city=profile.city,
        country=profile.country,
        tax_number=profile.tax_number,
        email=profile.email,
    )


def compute_prices(parts: Sequence[PlanPeriod], period: Period, language: str) -> list[Line]:
    """Return a line for the price of each part, in proportion to its seconds.

    The amounts are differences of rounded sums, so that together they are the rounded sum.
    """
    sums = [Fraction(0)]
    for part in parts:
        share = prorate(part.plan.price, part.start, part.end, period.start, period.end)
        sums.append(sums[-1] + share)
    lines = []
    for part, (before, after) in zip(parts, pairwise(sums), strict=True):
        currency = part.plan.currency
        amount = round_amount(after, currency) - round_amount(before, currency)
        text = texts.describe_plan(part.plan.name, part.start, part.end, language)
        if amount:
            line = compute_price_line(
                description=text, price=amount, currency=currency, unit_code=_MONTH
            )
            lines.append(line)
    return lines


def _compute_charges(
    parts: Sequence[PlanPeriod], currency: str, period: Period, language: str
) -> list[Line]:
    """Return the lines for what was used beyond the included quantities.

    Meters count by day. A day on which the plan changes belongs to the later plan.
    """
    lines: list[Line] = []
    for part, (start, end) in zip(parts, split_days(parts, period), strict=True):
        if part.plan.currency != currency or not part.plan.charges or start >= end:
            continue
        used = usage.measure_period(start, end)
        share = prorate(Decimal(1), part.start, part.end, period.start, period.end)
        for charge in part.plan.charges:
            charged = compute_charge_lines(charge, used[charge.meter], share, currency, language)
            if len(parts) > 1:
                charged = [_name_part(line, part, language) for line in charged]
            lines += charged
    return lines


def compute_charge_lines(
    charge: Charge, used: int, share: Fraction, currency: str, language: str
) -> list[Line]:
    """Return the lines of a charge for a part of the period, which is `share` of it.

    The included quantity is prorated. A level, such as members, counts for the share of the period
    too; a monthly meter has counted in this part only.
    """
    quantity = Fraction(used) if charge.meter in _MONTHLY else used * share
    return compute_charge(
        description=texts.describe_charge(charge.meter, charge.unit, language),
        tiers=charge.tiers,
        quantity=round_half_up(quantity, QUANTITY_DIGITS),
        included=round_half_up(charge.included * share, QUANTITY_DIGITS),
        unit=charge.unit,
        currency=currency,
        language=language,  # type: ignore[arg-type] - the profile has one of the languages
    )


def split_days(parts: Sequence[PlanPeriod], period: Period) -> list[tuple[datetime, datetime]]:
    """Return the days of each part: from its first day to before the first day of the next one."""
    starts = [
        part.start.replace(hour=0, minute=0, second=0, microsecond=0) for part in parts
    ]
    return list(pairwise([*starts, period.end]))


def _name_part(line: Line, part: PlanPeriod, language: str) -> Line:
    text = texts.describe_part(
        line.description, part.plan.name, part.start, part.end, language
    )
    return replace(line, description=text)


def _list_parts(organization: Organization, period: Period) -> list[PlanPeriod]:
    """Return the plan versions in force; a period goes on with the version it began with."""
    segments = plan_changes.list_segments(organization, period.start, period.end)
    return [
        PlanPeriod(plans.get_plan_at(s.plan, s.start), s.start, s.end) for s in segments
    ]


def _choose_rule(
    profile: BillingProfile | None, configuration: BillingConfiguration | None
) -> TaxRule | None:
    if configuration is None:
        return None
    buyer = build_buyer(profile) if profile else configuration.seller
    return choose_tax(configuration.list_tax_rules(), buyer)


def _sum(lines: Sequence[Line], currency: str, rule: TaxRule | None) -> Totals:
    return compute_totals(lines, currency, [rule] if rule else [])
