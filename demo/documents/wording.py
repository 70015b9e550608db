"""Format labels, dates and amounts as each language and country prints them."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache

from demo.documents.model import Invoice, load_json


@dataclass(frozen=True, slots=True)
class Wording:
    """The labels and formats of a locale; `labels` are keyed by the value that they name."""

    labels: dict[str, str]
    months: tuple[str, ...]
    group: str
    point: str
    money_pattern: str
    date_pattern: str
    digits: str

    def __getitem__(self, label: str) -> str:
        return self.labels[label]

    def format_figure(self, amount: Decimal) -> str:
        """Return an amount with the locale's separators and digits, without a currency."""
        separated = f"{amount:,}".translate({ord(","): self.group, ord("."): self.point})
        return self._convert_digits(separated)

    def format_money(self, amount: Decimal) -> str:
        """Return an amount with the currency in the format of the locale."""
        return self.money_pattern.format(amount=self.format_figure(amount))

    def format_quantity(self, value: Decimal) -> str:
        """Return a quantity or rate without trailing zeros."""
        return self._convert_digits(f"{value.normalize():f}".replace(".", self.point))

    def format_day(self, value: date) -> str:
        """Return a date in the usual format of the locale."""
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
    """Return the wording of a locale such as `de-CH`. Raises KeyError for an unknown locale."""
    language = locale.split("-", maxsplit=1)[0]
    local = load_json("locales.json")[locale]
    labels: dict[str, str] = load_json("words.json")[language]
    return Wording(
        labels=labels | {key: text for key, text in local.items() if key in labels},
        months=tuple(load_json("months.json").get(language, ())),
        group=local["group"],
        point=local["point"],
        money_pattern=local["money_pattern"],
        date_pattern=local["date_pattern"],
        digits=local.get("digits", "0123456789"),
    )


def format_iban(iban: str) -> str:
    """Return the printed form of an IBAN, in groups of four (ISO 13616)."""
    return " ".join(iban[start : start + 4] for start in range(0, len(iban), 4))


def list_heading_facts(invoice: Invoice) -> list[tuple[str, str]]:
    """Return labels and texts for the number, dates and tax number of the invoice."""
    words = get_wording(invoice.locale)
    facts = [(words["number"], invoice.number), (words["date"], words.format_day(invoice.issued))]
    if invoice.due:
        facts.append((words["due"], words.format_day(invoice.due)))
    facts.append((words["tax_id"], invoice.supplier.tax_id))
    return facts


def list_line_cells(invoice: Invoice) -> list[tuple[str, str, str, str]]:
    """Return description, quantity, unit price and amount of each line, as printed."""
    words = get_wording(invoice.locale)
    return [
        (
            line.description,
            words.format_quantity(line.quantity),
            words.format_figure(line.unit_price),
            words.format_figure(line.amount),
        )
        for line in invoice.lines
    ]


def list_column_titles(invoice: Invoice) -> tuple[str, str, str, str]:
    """Return the titles of the four columns of `list_line_cells`."""
    words = get_wording(invoice.locale)
    return words["description"], words["quantity"], words["unit_price"], words["amount"]


def list_totals(invoice: Invoice) -> list[tuple[str, str]]:
    """Return labels and texts for subtotal, tax and total, in this order."""
    words = get_wording(invoice.locale)
    rate = words.format_quantity(invoice.tax_rate)
    return [
        (words["subtotal"], words.format_money(invoice.subtotal)),
        (f"{words['tax']} {rate} %", words.format_money(invoice.tax)),
        (words["total"], words.format_money(invoice.total)),
    ]
