"""Choose the tax rule for a buyer, and compute the totals of a document.

The caller passes the rules in order; the first rule that applies to the buyer is used. This module
contains no tax rates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from app.engines.invoices.charges import sum_amounts
from app.engines.invoices.currencies import EXACT, round_amount
from app.engines.invoices.model import InvoiceError, Line, Party, Tax, TaxCategory, Totals
from app.engines.invoices.tax_numbers import EU_COUNTRIES, is_valid_tax_number

_PERCENT = 100
_ONE_PERCENT = Decimal("0.01")
_MAX_RATE_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class TaxRule:
    """A tax, and the conditions under which it applies to a buyer.

    The buyer's country must be in `countries`; None means all countries. If `needs_tax_number` is
    true, the buyer must have a valid tax number of that country. This condition excludes consumers.
    """

    name: str
    category: TaxCategory
    rate: Decimal = Decimal(0)
    countries: frozenset[str] | None = None
    needs_tax_number: bool = False
    reason: str | None = None

    def __post_init__(self) -> None:
        """Raise `InvoiceError` if the rate does not fit the category."""
        check_rate(self.category, self.rate, "rate")

    def applies_to(self, buyer: Party) -> bool:
        """Return whether the buyer's country and tax number satisfy the rule's conditions."""
        if self.countries is not None and buyer.country not in self.countries:
            return False
        return not self.needs_tax_number or is_valid_tax_number(buyer.tax_number, buyer.country)


def check_rate(category: TaxCategory, rate: Decimal, field: str) -> None:
    """Raise `InvoiceError` if the rate is invalid, or if the tax category does not allow the rate.

    A rate is a percentage from 0 to 100 with at most four decimal places. Rates in the standard
    category, which also covers reduced rates, are above 0; all other categories have the rate 0.
    """
    if not rate.is_finite() or not 0 <= rate <= _PERCENT:
        raise InvoiceError(field, "must be between 0 and 100")
    if round(rate, _MAX_RATE_DECIMALS) != rate:
        raise InvoiceError(field, f"must have at most {_MAX_RATE_DECIMALS} decimal places")
    if (category is TaxCategory.STANDARD) != (rate > 0):
        raise InvoiceError(field, "must be above 0 in category S, and 0 in all other categories")


def choose_tax_rule(rules: Sequence[TaxRule], buyer: Party) -> TaxRule:
    """Return the first rule that applies to the buyer. Raises `InvoiceError` if none applies."""
    for rule in rules:
        if rule.applies_to(buyer):
            return rule
    raise InvoiceError("buyer.country", f"is {buyer.country}, for which there is no tax rule")


def build_eu_tax_rules(
    seller_country: str, rates: Mapping[str, Decimal], *, name: str = "VAT"
) -> list[TaxRule]:
    """Build the usual tax rules for a seller of services in the European Union.

    `rates` contains the standard rate of the seller's country, and the rates of other member states
    in which the seller pays tax for consumers (one-stop shop). Domestic buyers pay the seller's
    rate. In other member states, reverse charge applies to buyers with a valid VAT number. All
    other buyers there pay the rate of their country, or the seller's rate if `rates` does not
    contain their country. Outside the European Union, no tax is due (category O). Raises
    `InvoiceError` if the seller's country is not in the European Union or not in `rates`.
    """
    other_countries = frozenset(EU_COUNTRIES) - {seller_country}
    standard, listed_countries = TaxCategory.STANDARD, rates.keys() - {seller_country}
    if seller_country not in EU_COUNTRIES or seller_country not in rates:
        raise InvoiceError(
            "rates",
            "must include the seller's country, which must be in the European Union",
        )
    seller_rate = rates[seller_country]
    return [
        TaxRule(name, standard, seller_rate, frozenset({seller_country})),
        TaxRule(name, TaxCategory.REVERSE_CHARGE, countries=other_countries, needs_tax_number=True),
        *(
            TaxRule(name, standard, rates[code], frozenset({code}))
            for code in sorted(listed_countries)
        ),
        TaxRule(name, standard, seller_rate, other_countries),
        TaxRule(name, TaxCategory.OUTSIDE),
    ]


def compute_tax(base: Decimal, rate: Decimal, currency: str) -> Decimal:
    """Compute the tax on a base, rounded half up once. `rate` is in percent."""
    return round_amount(EXACT.multiply(EXACT.multiply(base, rate), _ONE_PERCENT), currency)


def compute_totals(lines: Sequence[Line], currency: str, rules: Sequence[TaxRule]) -> Totals:
    """Compute the subtotal, one tax for each rule, and the total.

    A line's `tax_index` is the index of its rule in `rules`. Each tax is computed on the sum of its
    lines, and then rounded half up once.
    """
    taxes = []
    for position, rule in enumerate(rules):
        base = sum_amounts((line.amount for line in lines if line.tax_index == position), currency)
        amount = compute_tax(base, rule.rate, currency)
        taxes.append(Tax(rule.name, rule.category, rule.rate, base, amount, rule.reason))
    subtotal = sum_amounts((line.amount for line in lines), currency)
    total = sum_amounts((subtotal, *(tax.amount for tax in taxes)), currency)
    return Totals(subtotal, tuple(taxes), total)
