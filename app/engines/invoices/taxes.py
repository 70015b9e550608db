"""Choose the tax of a customer by rules, and compute the totals of a document.

The caller passes the rules in order; the first rule that applies to the buyer is used. The engine
contains no tax rates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from app.engines.invoices.charges import sum_amounts
from app.engines.invoices.currencies import round_amount
from app.engines.invoices.model import InvoiceError, Line, Party, Tax, TaxCategory, Totals
from app.engines.invoices.tax_numbers import UNION_COUNTRIES, is_valid_tax_number

_PERCENT = 100
_RATE_DIGITS = 4


@dataclass(frozen=True, slots=True)
class TaxRule:
    """A tax and the buyers to whom it applies.

    `countries` are the possible countries of the buyer; None means all countries. With
    `needs_tax_number`, the buyer must have a valid tax number of this country, which excludes
    consumers.
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
        """Return whether the rule applies to the buyer."""
        if self.countries is not None and buyer.country not in self.countries:
            return False
        return not self.needs_tax_number or is_valid_tax_number(buyer.tax_number, buyer.country)


def check_rate(category: TaxCategory, rate: Decimal, field: str) -> None:
    """Raise `InvoiceError` unless the rate fits the category.

    Only the standard category has a rate above 0. It also covers reduced rates.
    """
    if not rate.is_finite() or not 0 <= rate <= _PERCENT:
        raise InvoiceError(field, "must be between 0 and 100")
    if round(rate, _RATE_DIGITS) != rate:
        raise InvoiceError(field, f"must have at most {_RATE_DIGITS} decimal places")
    if (category is TaxCategory.STANDARD) != (rate > 0):
        raise InvoiceError(field, "must be above 0 in category S, and 0 in all other categories")


def choose_tax(rules: Sequence[TaxRule], buyer: Party) -> TaxRule:
    """Return the first rule that applies to the buyer. Raises `InvoiceError` if no rule does."""
    for rule in rules:
        if rule.applies_to(buyer):
            return rule
    raise InvoiceError("buyer.country", f"has no tax rule: {buyer.country}")


def list_union_rules(
    seller_country: str, rates: Mapping[str, Decimal], *, name: str = "VAT"
) -> list[TaxRule]:
    """Return the usual tax rules for a seller of services in the European Union.

    `rates` has the standard rate of the seller's country, and the rates of other member states in
    which the seller pays tax for consumers (one-stop shop). Domestic buyers pay the seller's rate.
    Buyers in other member states get reverse charge if they have a valid VAT number. Otherwise they
    pay the rate of their country, or the seller's rate if their country is not in `rates`. Outside
    the Union, no tax is due (category O).
    """
    other_countries = frozenset(UNION_COUNTRIES) - {seller_country}
    standard, listed_countries = TaxCategory.STANDARD, rates.keys() - {seller_country}
    if seller_country not in UNION_COUNTRIES or seller_country not in rates:
        raise InvoiceError(
            "rates",
            "must have the rate of the seller's country, which must be in the European Union",
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


def compute_totals(lines: Sequence[Line], currency: str, rules: Sequence[TaxRule]) -> Totals:
    """Return the totals of lines, with one tax for each rule on the sum of its lines.

    A line refers to its rule by position. Each tax is rounded half up once, on its sum.
    """
    taxes = []
    for position, rule in enumerate(rules):
        base = sum_amounts((line.amount for line in lines if line.tax == position), currency)
        amount = round_amount(Fraction(base) * Fraction(rule.rate) / _PERCENT, currency)
        taxes.append(Tax(rule.name, rule.category, rule.rate, base, amount, rule.reason))
    subtotal = sum_amounts((line.amount for line in lines), currency)
    total = sum_amounts((subtotal, *(tax.amount for tax in taxes)), currency)
    return Totals(subtotal, tuple(taxes), total)
