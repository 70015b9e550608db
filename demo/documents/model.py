"""Read the fictional invoices and contracts for the demo documents from `sources/`.

None of the people and companies exist. Tax numbers are from ranges that are never issued, telephone
numbers are from ranges reserved for fiction, and email addresses end in `.example`. IBANs have
correct check digits, but bank codes that belong to no bank.
"""

import json
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, Literal

SOURCES = Path(__file__).parent / "sources"
WHOLE_UNIT_CURRENCIES = {"JPY"}


@dataclass(frozen=True, slots=True)
class Party:
    """A company that a document names; `address` has one entry for each printed line."""

    name: str
    address: tuple[str, ...]
    tax_id: str = ""
    phone: str = ""
    email: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """An invoice line; `amount` is quantity times price, rounded to the currency's minor unit."""

    description: str
    quantity: Decimal
    unit_price: Decimal
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Invoice:
    """An invoice, whose totals are computed from its lines. `tax_rate` is in percent."""

    locale: str
    supplier: Party
    customer: Party | None
    number: str
    issue_date: date
    due_date: date | None
    currency: str
    tax_rate: Decimal
    iban: str | None
    paid: bool
    note: str
    lines: tuple[Line, ...]

    @property
    def language(self) -> str:
        """Return the language code in the locale, such as `de` in `de-CH`."""
        return self.locale.split("-", maxsplit=1)[0]

    @property
    def subtotal(self) -> Decimal:
        """Return the sum of the lines' amounts, before tax."""
        return sum((line.amount for line in self.lines), Decimal(0))

    @property
    def tax(self) -> Decimal:
        """Return the tax on the subtotal, rounded once for the whole invoice."""
        return round_amount(self.subtotal * self.tax_rate / 100, self.currency)

    @property
    def total(self) -> Decimal:
        """Return the amount to pay: the subtotal and the tax."""
        return self.subtotal + self.tax


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature block. If the name is empty, the party has not signed."""

    party: str
    name: str
    role: str
    date: str


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a contract's text.

    Tables have `rows`, page breaks have no content, and all other types of blocks have `text`.
    """

    kind: Literal["title", "heading", "text", "table", "break"]
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Contract:
    """A contract with its terms and its text.

    `law` is the ISO 3166-1 code of the country whose law applies. `value` is (amount, currency), or
    None if the contract has no value. `clause` is the text of the confidentiality clause.
    """

    language: str
    title: str
    parties: tuple[str, ...]
    effective_date: date
    end_date: date
    law: str
    contract_type: str
    notice_days: int
    value: tuple[Decimal, str] | None
    clause: str
    signed: bool
    signatures: tuple[Signature, ...]
    blocks: tuple[Block, ...]


def round_amount(amount: Decimal, currency: str) -> Decimal:
    """Round an amount half up to the minor unit of its currency."""
    unit = Decimal(1) if currency in WHOLE_UNIT_CURRENCIES else Decimal("0.01")
    return amount.quantize(unit, ROUND_HALF_UP)


def load_json(path: str) -> Any:
    """Read and parse the JSON file `sources/<path>`."""
    return json.loads((SOURCES / path).read_text(encoding="utf-8"))


def load_invoice(slug: str) -> Invoice:
    """Read an invoice from `sources/invoices/<slug>.json`."""
    raw = load_json(f"invoices/{slug}.json")
    return Invoice(
        locale=raw["locale"],
        supplier=_parse_party(raw["supplier"]),
        customer=_parse_party(raw["customer"]) if raw["customer"] else None,
        number=raw["number"],
        issue_date=date.fromisoformat(raw["date"]),
        due_date=date.fromisoformat(raw["due"]) if raw["due"] else None,
        currency=raw["currency"],
        tax_rate=Decimal(raw["tax_rate"]),
        iban=raw["iban"],
        paid=raw["paid"],
        note=raw["note"],
        lines=tuple(_parse_line(line, raw["currency"]) for line in raw["lines"]),
    )


def load_contract(slug: str) -> Contract:
    """Read a contract: its terms from `<slug>.json`, and its text from `<slug>.md`."""
    raw = load_json(f"contracts/{slug}.json")
    blocks = parse_blocks((SOURCES / f"contracts/{slug}.md").read_text(encoding="utf-8"))
    heading = Block("heading", raw["clause_heading"])
    value = raw["value"]
    return Contract(
        language=raw["language"],
        title=raw["title"],
        parties=tuple(raw["parties"]),
        effective_date=date.fromisoformat(raw["effective"]),
        end_date=date.fromisoformat(raw["end"]),
        law=raw["law"],
        contract_type=raw["type"],
        notice_days=raw["notice_days"],
        value=(Decimal(value["amount"]), value["currency"]) if value else None,
        clause=blocks[blocks.index(heading) + 1].text,
        signed=raw["signed"],
        signatures=tuple(Signature(**signature) for signature in raw["signatures"]),
        blocks=blocks,
    )


def parse_blocks(text: str) -> tuple[Block, ...]:
    """Parse the Markdown that contracts use: `#`, `##`, `---`, tables and paragraphs."""
    return tuple(_parse_block(block.strip()) for block in text.split("\n\n") if block.strip())


def _parse_block(text: str) -> Block:
    if text == "---":
        return Block("break")
    if text.startswith("## "):
        return Block("heading", text[3:])
    if text.startswith("# "):
        return Block("title", text[2:])
    if text.startswith("|"):
        rows = (row.strip("|").split("|") for row in text.splitlines())
        return Block("table", rows=tuple(tuple(cell.strip() for cell in row) for row in rows))
    return Block("text", text)


def _parse_party(raw: dict[str, Any]) -> Party:
    return Party(**{**raw, "address": tuple(raw["address"])})


def _parse_line(raw: list[str], currency: str) -> Line:
    description, quantity, unit_price = raw[0], Decimal(raw[1]), Decimal(raw[2])
    return Line(description, quantity, unit_price, round_amount(quantity * unit_price, currency))
