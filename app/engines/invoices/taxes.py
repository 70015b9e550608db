"""Choose the tax of a customer by rules, and compute the totals of a document.

The rules are data of the caller, in order: the first one that applies to the buyer counts. The
engine knows no rate of any country.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from app.engines.invoices.charges import sum_amounts
from app.engines.invoices.currencies import round_amount
from app.engines.invoices.model import InvoiceError, Line, Party, Tax, TaxCategory, Totals
from app.engines.invoices.tax_numbers import UNION_COUNTRIES, belongs_to

_PERCENT = 100
_RATE_DIGITS = 4


@dataclass(frozen=True, slots=True)
class TaxRule:
    """A tax and the buyers for whom it applies.

    `countries` are those of the buyer; None means all. With `needs_tax_number`, the buyer must
    have a valid tax number of the country of the buyer, so that consumers are left out.
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
        """Tell whether the rule applies to the buyer."""
        if self.countries is not None and buyer.country not in self.countries:
            return False
        return not self.needs_tax_number or belongs_to(buyer.tax_number, buyer.country)


def check_rate(category: TaxCategory, rate: Decimal, field: str) -> None:
    """Raise `InvoiceError` unless the rate fits the category.

    Only the standard category has a rate, which covers reduced rates too.
    """
    if not rate.is_finite() or not 0 <= rate <= _PERCENT:
        raise InvoiceError(field, "must be between 0 and 100")
    if round(rate, _RATE_DIGITS) != rate:
        raise InvoiceError(field, f"must have at most {_RATE_DIGITS} decimal places")
    if (category is TaxCategory.STANDARD) != (rate > 0):
        raise InvoiceError(field, "must be above 0 in category S, and 0 in all others")


def choose_tax(rules: Sequence[TaxRule], buyer: Party) -> TaxRule:
    """Return the first rule that applies to the buyer. Raises `InvoiceError` if none does."""
    for rule in rules:
        if rule.applies_to(buyer):
            return rule
    raise InvoiceError("buyer.country", f"has no tax rule: {buyer.country}")


def list_union_rules(
    seller_country: str, rates: Mapping[str, Decimal], *, name: str = "VAT"
) -> list[TaxRule]:
    """Return the usual rules of a seller of services in the European Union.

    `rates` has the standard rate of the seller's country, and those of other members in which the
    seller pays tax for consumers (one-stop shop). Domestic buyers pay the seller's rate. Buyers
    of other members with a valid VAT number get reverse charge, those without one pay the rate of
    their country, or the seller's if it has none. Outside the Union, no tax is due (category O).
    """
    others = frozenset(UNION_COUNTRIES) - {seller_country}
    standard, abroad = TaxCategory.STANDARD, rates.keys() - {seller_country}
    if seller_country not in UNION_COUNTRIES or seller_country not in rates:
        raise InvoiceError("rates", "must have the rate of the seller, a member of the Union")
    home = rates[seller_country]
    return [
        TaxRule(name, standard, home, frozenset({seller_country})),
        TaxRule(name, TaxCategory.REVERSE_CHARGE, countries=others, needs_tax_number=True),
        *(TaxRule(name, standard, rates[code], frozenset({code})) for code in sorted(abroad)),
        TaxRule(name, standard, home, others),
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
