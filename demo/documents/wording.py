"""Format labels, dates and amounts as is usual in each language and country."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache

from demo.documents.model import Invoice, load_json


@dataclass(frozen=True, slots=True)
class Wording:
    """The labels and formats of a locale. `labels` maps names such as `due` to printed labels."""

    labels: dict[str, str]
    months: tuple[str, ...]
    thousands_separator: str
    decimal_separator: str
    money_pattern: str
    date_pattern: str
    digits: str

    def __getitem__(self, label: str) -> str:
        return self.labels[label]

    def format_number(self, amount: Decimal) -> str:
        """Format an amount with the locale's separators and digits, without a currency."""
        separated = f"{amount:,}".translate(
            {ord(","): self.thousands_separator, ord("."): self.decimal_separator}
        )
        return self._convert_digits(separated)

    def format_money(self, amount: Decimal) -> str:
        """Format an amount with the currency, as is usual in the locale."""
        return self.money_pattern.format(amount=self.format_number(amount))

    def format_quantity(self, value: Decimal) -> str:
        """Format a quantity or rate without trailing zeros."""
        return self._convert_digits(f"{value.normalize():f}".replace(".", self.decimal_separator))

    def format_day(self, value: date) -> str:
        """Format a date as is usual in the locale."""
        text = self.date_pattern.format(
            y=value.year,
            m=value.month,
            mm=f"{value.month:02}",
            d=value.day,
            dd=f"{value.day:02}",
            month=self.months[value.month - 1] if self.months else "",
        )
        return self._convert_digits(text)

    def _convert_digits(self, text: str) -> str:
        return text.translate(dict(zip(map(ord, "0123456789"), self.digits, strict=True)))


@cache
def get_wording(locale: str) -> Wording:
    """Return the labels and formats of a locale such as `de-CH`.

    Raises KeyError if the locale is unknown.
    """
    language = locale.split("-", maxsplit=1)[0]
    locale_formats = load_json("locales.json")[locale]
    labels: dict[str, str] = load_json("words.json")[language]
    return Wording(
        labels=labels | {key: text for key, text in locale_formats.items() if key in labels},
        months=tuple(load_json("months.json").get(language, ())),
        thousands_separator=locale_formats["group"],
        decimal_separator=locale_formats["point"],
        money_pattern=locale_formats["money_pattern"],
        date_pattern=locale_formats["date_pattern"],
        digits=locale_formats.get("digits", "0123456789"),
    )


def format_iban(iban: str) -> str:
    """Format an IBAN for print, in groups of four characters (ISO 13616)."""
    return " ".join(iban[start : start + 4] for start in range(0, len(iban), 4))


def list_heading_details(invoice: Invoice) -> list[tuple[str, str]]:
    """Return labels and formatted values for an invoice's number, dates and supplier tax number."""
    words = get_wording(invoice.locale)
    issue_date = words.format_day(invoice.issue_date)
    details = [(words["number"], invoice.number), (words["date"], issue_date)]
    if invoice.due_date:
        details.append((words["due"], words.format_day(invoice.due_date)))
    details.append((words["tax_id"], invoice.supplier.tax_id))
    return details


def list_line_cells(invoice: Invoice) -> list[tuple[str, str, str, str]]:
    """Return the formatted description, quantity, unit price and amount of each line."""
    words = get_wording(invoice.locale)
    return [
        (
            line.description,
            words.format_quantity(line.quantity),
            words.format_number(line.unit_price),
            words.format_number(line.amount),
        )
        for line in invoice.lines
    ]


def list_column_titles(invoice: Invoice) -> tuple[str, str, str, str]:
    """Return the titles for the four columns that `list_line_cells` returns."""
    words = get_wording(invoice.locale)
    return words["description"], words["quantity"], words["unit_price"], words["amount"]


def list_totals(invoice: Invoice) -> list[tuple[str, str]]:
    """Return labels and formatted values for the subtotal, tax and total, in this order."""
    words = get_wording(invoice.locale)
    rate = words.format_quantity(invoice.tax_rate)
    return [
        (words["subtotal"], words.format_money(invoice.subtotal)),
        (f"{words['tax']} {rate} %", words.format_money(invoice.tax)),
        (words["total"], words.format_money(invoice.total)),
    ]
