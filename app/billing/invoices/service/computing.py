"""Compute what an organization owes for a period, from its plans and its usage."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import cast

from app.billing.plan_changes import service as plan_changes
from app.billing.plan_changes.models import PlanChange
from app.billing.plan_changes.versions import PlanVersions
from app.billing.plans.catalog import Charge, Plan
from app.billing.profiles.models import BillingProfile
from app.billing.seller.configuration import BillingConfiguration
from app.engines.invoices.charges import compute_price_line, compute_usage_lines, prorate
from app.engines.invoices.currencies import round_amount
from app.engines.invoices.model import MONTH_CODE, Language, Line, Party, Totals, get_unit_code
from app.engines.invoices.taxes import TaxRule, choose_tax_rule, compute_totals
from app.engines.invoices.texts import describe_meter, describe_plan
from app.identity.organizations.models import Organization
from app.kit.days import TimeRange
from app.kit.plan_limits import Meter

MAX_PRICE_LINES = 100
"""The maximum number of plan periods in a month that each have a price line. If there are more, all
plan periods with the same plan version share a price line."""
_QUANTITY_DIGITS = 6
_MONTHLY_METERS = frozenset(str(meter) for meter in Meter if meter.is_monthly)


@dataclass(frozen=True)
class PlanPeriod:
    """A part of a billing period in which one plan version was in force; `end` is exclusive."""

    plan: Plan
    start: datetime
    end: datetime


@dataclass(frozen=True)
class InvoiceInputs:
    """The data from which the invoices of an organization are computed.

    `changes` are the plan changes of the organization from the start of the period on.
    `measure` returns the usage of each meter from a start time to an end time (exclusive). Both
    times must be midnight in UTC.
    """

    organization: Organization
    changes: Sequence[PlanChange]
    profile: BillingProfile | None
    versions: PlanVersions
    measure: Callable[[datetime, datetime], dict[str, int]]


@dataclass(frozen=True)
class InvoiceContent:
    """The lines and totals of an invoice. If `tax_rule` is None, no tax is added."""

    currency: str
    language: Language
    lines: tuple[Line, ...]
    tax_rule: TaxRule | None
    totals: Totals


def compute(
    inputs: InvoiceInputs, period: TimeRange, configuration: BillingConfiguration | None
) -> list[InvoiceContent]:
    """Compute the content of an organization's invoices for a period.

    Returns an `InvoiceContent` for each currency in which a line has an amount other than 0;
    usually, the list has one item or none. If the organization has no billing profile, the tax
    rules for buyers in the seller's country apply. If `configuration` is None, no tax is added.
    """
    language = _get_language(inputs.profile)
    parts = _list_plan_periods(inputs, period)
    tax_rule = _choose_tax_rule(inputs.profile, configuration)
    contents = []
    for currency in dict.fromkeys(part.plan.currency for part in parts):
        lines = [
            *compute_price_lines(
                [p for p in parts if p.plan.currency == currency], period, language
            ),
            *_compute_all_charge_lines(inputs, parts, currency, period),
        ]
        # Lines whose amounts add up to 0 still need an invoice that documents the amounts.
        if any(line.amount for line in lines):
            totals = _compute_invoice_totals(lines, currency, tax_rule)
            contents.append(InvoiceContent(currency, language, tuple(lines), tax_rule, totals))
    return contents


def build_empty_content(
    currency: str, profile: BillingProfile | None, configuration: BillingConfiguration | None
) -> InvoiceContent:
    """Build the content of an invoice without lines, for a period in which nothing is due."""
    tax_rule = _choose_tax_rule(profile, configuration)
    language = _get_language(profile)
    return InvoiceContent(
        currency, language, (), tax_rule, _compute_invoice_totals([], currency, tax_rule)
    )


def build_buyer(profile: BillingProfile) -> Party:
    """Build the buyer of an invoice from the billing profile of the organization."""
    return Party(
        name=profile.name,
        address_lines=tuple(profile.address_lines),
        postal_code=profile.postal_code,
        city=profile.city,
        country=profile.country,
        tax_number=profile.tax_number,
        email=profile.email,
    )


def compute_price_lines(
    parts: Sequence[PlanPeriod], period: TimeRange, language: Language
) -> list[Line]:
    """Compute an invoice line for the plan price of each plan period, prorated by the second.

    If `parts` has more than `MAX_PRICE_LINES` plan periods, each plan version has one line for all
    of its periods, because the number of lines of an invoice is limited. Each amount is the
    difference between two rounded running totals, so the amounts add up to the same rounded total
    in both cases. Lines with the amount 0 are omitted.
    """
    groups = _group_by_version(parts) if len(parts) > MAX_PRICE_LINES else [[p] for p in parts]
    price_sums = [Fraction(0)]
    for group in groups:
        prorated_prices = (
            prorate(part.plan.price, part.start, part.end, period.start, period.end)
            for part in group
        )
        price_sums.append(sum(prorated_prices, price_sums[-1]))
    lines = []
    for group, (before, after) in zip(groups, pairwise(price_sums), strict=True):
        currency = group[0].plan.currency
        if amount := round_amount(after, currency) - round_amount(before, currency):
            line = compute_price_line(
                description=_describe_parts(group, language),
                price=amount,
                currency=currency,
                unit_code=MONTH_CODE,
            )
            lines.append(line)
    return lines


def _group_by_version(parts: Sequence[PlanPeriod]) -> list[list[PlanPeriod]]:
    groups: dict[tuple[str, int], list[PlanPeriod]] = {}
    for part in parts:
        groups.setdefault((part.plan.name, part.plan.version), []).append(part)
    return list(groups.values())


def _describe_parts(parts: Sequence[PlanPeriod], language: Language) -> str:
    return describe_plan(
        parts[0].plan.name,
        parts[0].start,
        parts[-1].end,
        period_count=len(parts),
        language=language,
    )


def _compute_all_charge_lines(
    inputs: InvoiceInputs, parts: Sequence[PlanPeriod], currency: str, period: TimeRange
) -> list[Line]:
    """Compute the invoice lines in `currency` for usage beyond the included quantities.

    Usage is counted by day. A day on which the plan changes belongs to the later plan.
    """
    lines: list[Line] = []
    language = _get_language(inputs.profile)
    for part, (start, end) in zip(parts, compute_day_ranges(parts, period), strict=True):
        if part.plan.currency != currency or not part.plan.charges or start >= end:
            continue
        quantities = inputs.measure(start, end)
        fraction = prorate(Decimal(1), part.start, part.end, period.start, period.end)
        for charge in part.plan.charges:
            charge_lines = compute_charge_lines(
                charge, quantities[charge.meter], fraction, currency, language
            )
            if len(parts) > 1:
                charge_lines = [
                    _add_plan_to_description(line, part, language) for line in charge_lines
                ]
            lines += charge_lines
    return lines


def compute_charge_lines(
    charge: Charge, used_quantity: int, fraction: Fraction, currency: str, language: Language
) -> list[Line]:
    """Compute the invoice lines of a charge for a part of a billing period.

    `fraction` is the fraction of the period that the part covers. The included quantity is
    prorated. The quantity of a meter that measures a level, such as the number of members, is also
    prorated. A monthly meter counts only the usage in this part, so its quantity is not prorated.
    """
    is_monthly = charge.meter in _MONTHLY_METERS
    quantity = Fraction(used_quantity) if is_monthly else used_quantity * fraction
    is_bytes = charge.meter == Meter.STORED_BYTES
    return compute_usage_lines(
        description=describe_meter(
            charge.meter, unit_size=charge.unit, is_bytes=is_bytes, language=language
        ),
        tiers=charge.tiers,
        quantity=_to_decimal(quantity),
        included=_to_decimal(charge.included * fraction),
        unit_size=charge.unit,
        currency=currency,
        unit_code=get_unit_code(charge.unit, is_bytes=is_bytes),
        language=language,
    )


def compute_day_ranges(
    parts: Sequence[PlanPeriod], period: TimeRange
) -> list[tuple[datetime, datetime]]:
    """Return the range of whole days for each plan period, as a start and an exclusive end.

    A range starts at the beginning of the plan period's first day, and ends where the next range
    starts. The last range ends with `period`.
    """
    starts = [part.start.replace(hour=0, minute=0, second=0, microsecond=0) for part in parts]
    return list(pairwise([*starts, period.end]))


def _add_plan_to_description(line: Line, part: PlanPeriod, language: Language) -> Line:
    plan_description = describe_plan(part.plan.name, part.start, part.end, language=language)
    return replace(line, description=f"{line.description}. {plan_description}")


def _to_decimal(quantity: Fraction) -> Decimal:
    """Convert a quantity to a decimal with six decimal places, rounded half up."""
    scaled = (2 * quantity * 10**_QUANTITY_DIGITS + 1) // 2
    return Decimal(scaled).scaleb(-_QUANTITY_DIGITS)


def _list_plan_periods(inputs: InvoiceInputs, period: TimeRange) -> list[PlanPeriod]:
    """List the parts of a period, each with the plan version that was in force at its start."""
    segments = plan_changes.list_segments(
        inputs.organization, inputs.changes, period.start, period.end
    )
    return [
        PlanPeriod(inputs.versions.get_version_at(part.plan, part.start), part.start, part.end)
        for part in segments
    ]


def _get_language(profile: BillingProfile | None) -> Language:
    return cast("Language", profile.language if profile else "en")


def _choose_tax_rule(
    profile: BillingProfile | None, configuration: BillingConfiguration | None
) -> TaxRule | None:
    if configuration is None:
        return None
    buyer = build_buyer(profile) if profile else configuration.seller
    return choose_tax_rule(configuration.tax_rules, buyer)


def _compute_invoice_totals(
    lines: Sequence[Line], currency: str, tax_rule: TaxRule | None
) -> Totals:
    return compute_totals(lines, currency, [tax_rule] if tax_rule else [])
