"""Generate receipts and invoices in 48 layouts and five languages, with recognition errors.

A layout determines the language, order, alignment, keywords, date and amount formats, and vendors.
Documents of one layout differ in vendor, items and recognition errors. Equal seeds give equal
documents.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from babel.dates import get_month_names

from app.engines.extraction.model import Example
from app.engines.fields import Field, check_fields
from tests.factories.receipts.pages import Line, build_document
from tests.factories.receipts.words import LANGUAGES, SYLLABLES

LAYOUTS = 48
_DATES = (
    "%d/%m/%Y",
    "%d-%m-%Y",
    "%d/%m/%y",
    "%d.%m.%Y",
    "%Y-%m-%d",
    "%d {b} %Y",
    "%d-%m-%y",
    "%d{b}%Y",
)


@dataclass(frozen=True)
class Layout:
    """The properties that all documents of a layout share.

    `marks` are the decimal and thousands marks. `currency` is the currency sign, and 1 if the sign
    follows the amount, or else 0. `keys` maps meanings, such as `total`, to printed keywords.
    `order` lists the parts from top to bottom. If `glued` is true, a keyword and its value are
    recognized as one word. If `total_below` is true, the total is below its keyword. `columns` is
    the number of details per line. `right` is the right edge of amounts, as a fraction of the page
    width. `habit` says which optional parts exist. `vendors` are pairs of a name and address lines.
    """

    language: str
    is_invoice: bool
    align: str
    date_format: str
    marks: tuple[str, str]
    currency: tuple[str, int]
    keys: dict[str, str]
    order: tuple[str, ...]
    glued: bool
    total_below: bool
    columns: int
    right: float
    habit: dict[str, Any]
    vendors: tuple[tuple[str, tuple[str, ...]], ...]


def build_fields(*, typed: bool = False) -> list[Field]:
    """Return the fields company, date, address and total: all of type text, unless `typed`."""
    types = ("text", "date", "address", "number") if typed else ("text",) * 4
    names = ("company", "date", "address", "total")
    return check_fields([{"key": n, "type": t} for n, t in zip(names, types, strict=True)])


def build_layout(number: int) -> Layout:
    """Build the layout with this number. The same number always gives the same layout."""
    rng = random.Random(f"layout {number}")
    language = ("en", "de", "fr", "es", "it")[number % 5]
    words = LANGUAGES[language]
    english = language == "en"
    formats = [f for f in _DATES if english or f != "%d{b}%Y"]
    marks = (".", ",") if english else rng.choice([(",", "."), (",", ""), (",", " ")])
    signs = (
        [("RM", 0), ("", 0), ("$", 0), ("RM", 0)]
        if english
        else [("€", 1), ("EUR", 1), ("", 0), ("EUR", 0)]
    )
    order = ["title", "meta", "head"] if rng.random() < 0.15 else ["head", "title", "meta"]
    return Layout(
        language,
        rng.random() < 0.4,
        rng.choice(["center", "left", "center"]),
        rng.choice(formats),
        marks,
        rng.choice(signs),
        {k: rng.choice(v) for k, v in words.items() if k != "items"},
        (*order, "items", "sums", "closing"),
        rng.random() < 0.4,
        rng.random() < 0.12,
        rng.choice([1, 1, 2]),
        rng.choice([0.95, 0.8, 0.6]),
        _build_habit(rng),
        tuple(_build_vendor(rng, words) for _ in range(rng.choice([1, 2, 4]))),
    )


def _build_habit(rng: random.Random) -> dict[str, Any]:
    return {
        "brand": rng.random() < 0.2,
        "two_lines": rng.random() < 0.15,
        "registered": rng.choice(["same", "below", "", ""]),
        "phone": rng.choice(["same", "below", "below", "above", ""]),
        "tax_id": rng.random() < 0.5,
        "customer": rng.random() < 0.25,
        "printed": rng.random() < 0.25,
        "count": rng.random() < 0.3,
        "tax_table": rng.random() < 0.3,
        "saving": rng.random() < 0.15,
        "unit": rng.random() < 0.5,
    }


def _build_vendor(rng: random.Random, words: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    name = " ".join(
        "".join(rng.choices(SYLLABLES, k=rng.randint(2, 3))) for _ in range(rng.randint(1, 2))
    )
    if rng.random() < 0.4:
        name = name.title()
    name = f"{name} {rng.choice(words['suffix'])}"
    street = rng.choice(words["streets"]).format(n=rng.randint(1, 180), m=rng.randint(1, 30))
    district, city = rng.choice(words["districts"]), rng.choice(words["cities"])
    comma = rng.choice([",", "", ","])
    lines = [
        f"{street}{comma}",
        f"{district}{comma}" if district else "",
        f"{rng.randint(10000, 99999)} {city}",
    ]
    lines = [line for line in lines if line]
    if rng.random() < 0.3:
        lines = [" ".join(lines[:-1]), lines[-1]]
    if rng.random() < 0.15:
        lines = [", ".join(line.rstrip(",") for line in lines)]
    if rng.random() < 0.2:
        lines[-1] += "."
    return name, tuple(lines)


def format_amount(amount: Decimal, marks: tuple[str, str]) -> str:
    """Format an amount with two decimal places; `marks` are the decimal and thousands marks."""
    text = f"{amount:,.2f}"
    return text.translate({ord("."): marks[0], ord(","): marks[1]})


def build_example(layout: Layout, seed: str, *, noise: float = 1.0, typed: bool = False) -> Example:
    """Build a document of the layout with its accepted tags, which have no evidence.

    `noise` scales the frequency of recognition errors and of careless spellings; 0 means none. If
    `typed` is true, the date is an ISO 8601 date and the total a number.
    """
    rng = random.Random(seed)
    words = LANGUAGES[layout.language]
    name, address = rng.choice(layout.vendors)
    day, month, year = rng.randint(1, 28), rng.randint(1, 12), rng.randint(2015, 2024)
    iso = f"{year}-{month:02}-{day:02}"
    date = _format_date(layout.date_format, (year, month, day), layout.language)
    items = [
        (rng.choice(words["items"]), rng.randint(1, 3), Decimal(rng.randint(50, 9900)) / 100)
        for _ in range(rng.randint(1, 7))
    ]
    if rng.random() < 0.1:
        items.append((words["items"][0], 1, Decimal(rng.randint(100000, 400000)) / 100))
    net = sum((count * price for _, count, price in items), Decimal(0))
    tax = (net * Decimal("0.1")).quantize(Decimal("0.01")) if rng.random() < 0.6 else Decimal(0)
    total = net + tax
    parts = {
        "head": _build_head(rng, layout, name, address),
        "title": [Line(layout.keys["title"], align=layout.align, size=1.3)],
        "meta": _build_meta(rng, layout, date, (year, month, day)),
        "items": _build_items(layout, items),
        "sums": _build_sums(rng, layout, (net, tax, total)),
        "closing": [Line(layout.keys["closing"], align="center")],
    }
    lines = [line for part in layout.order for line in [*parts[part], Line("")]]
    document = build_document(lines, rng, noise=noise, glued=layout.glued)
    written = format_amount(total, layout.marks)
    values: dict[str, Any] = {
        "company": name,
        "date": date,
        "address": " ".join(address),
        "total": written,
    }
    if typed:
        values |= {"date": iso, "total": float(total)}
    elif noise and rng.random() < 0.06:
        _change_spelling(rng, values)
    return Example(
        seed,
        1,
        document,
        [build_tag(key, value) for key, value in values.items()],
        "labeler-1",
        seed,
    )


def _change_spelling(rng: random.Random, values: dict[str, Any]) -> None:
    """Change the spelling of one value, as if a labeler had not copied it exactly."""
    key = rng.choice(["company", "address", "address", "total"])
    if key == "total":
        values[key] = values[key].replace(".", "").replace(",", "")
    else:
        changed = values[key].replace(",", "").upper()
        values[key] = changed if changed != values[key] else values[key].rstrip(".") + ","


def build_tag(field: str, value: Any) -> dict[str, Any]:
    """Return an accepted tag without evidence."""
    return {
        "field": field,
        "value": value,
        "row": None,
        "confidence": None,
        "source": "human",
        "evidence": [],
    }


def build_examples(
    count: int,
    *,
    layouts: Sequence[int] = range(LAYOUTS),
    seed: int = 0,
    noise: float = 1.0,
    typed: bool = False,
) -> list[Example]:
    """Build `count` examples of the layouts. A few layouts are frequent, as in practice."""
    rng = random.Random(f"examples {seed}")
    weights = [1 / (1 + place) ** 0.7 for place in range(len(layouts))]
    built = {number: build_layout(number) for number in layouts}
    picked = rng.choices(list(layouts), weights, k=count)
    return [
        build_example(built[number], f"{seed}-{place:05}-{number}", noise=noise, typed=typed)
        for place, number in enumerate(picked)
    ]


def _format_date(pattern: str, ymd: tuple[int, int, int], language: str) -> str:
    year, month, day = ymd
    months = get_month_names("abbreviated" if language == "en" else "wide", locale=language)
    text = pattern.replace("%d", f"{day:02}").replace("%m", f"{month:02}").replace("%Y", str(year))
    return text.replace("%y", f"{year % 100:02}").replace("{b}", months[month])


def _build_head(
    rng: random.Random, layout: Layout, name: str, address: Sequence[str]
) -> list[Line]:
    keys, align, habit = layout.keys, layout.align, layout.habit
    lines = []
    if habit["brand"]:
        lines.append(
            Line(
                rng.choice(SYLLABLES).title() + rng.choice(["mart", " & co", "fresh"]),
                align=align,
                size=1.5,
            )
        )
    first, _, last = name.rpartition(" ")
    registered = f"({rng.randint(100000, 999999)}-{rng.choice('KPXW')})"
    if habit["two_lines"] and first:
        lines += [Line(first, align=align), Line(last, align=align)]
    elif habit["registered"] == "same":
        lines.append(Line(f"{name} {registered}", align=align))
    else:
        lines.append(Line(name, align=align, size=rng.choice([1.0, 1.4])))
    if habit["registered"] == "below":
        lines.append(Line(registered, align=align))
    phone = f"{keys['phone']}: 0{rng.randint(1, 9)}-{rng.randint(1000000, 9999999)}"
    parts = list(address)
    if habit["phone"] == "same":
        parts[-1] = f"{parts[-1]} {phone}"
    elif habit["phone"] == "above":
        lines.append(Line(phone, align=align))
    lines += [Line(part, align=align) for part in parts]
    if habit["phone"] == "below":
        lines.append(Line(phone, align=align))
    if habit["tax_id"]:
        lines.append(Line(f"{keys['tax_id']}: {rng.randint(10**11, 10**12 - 1)}", align=align))
    if habit["customer"]:
        street = f"{rng.randint(1, 99)} {rng.choice(SYLLABLES).title()} {rng.randint(10000, 99999)}"
        lines += [
            Line(""),
            Line(f"{keys['other']}: {rng.choice(SYLLABLES)} {rng.choice(SYLLABLES)}"),
            Line(street),
        ]
    return lines


def _build_meta(
    rng: random.Random, layout: Layout, date: str, ymd: tuple[int, int, int]
) -> list[Line]:
    keys = layout.keys
    number = f"{keys['number']}: {rng.choice(['', 'CS', 'INV-'])}{rng.randint(1000, 999999)}"
    clock = f" {rng.randint(8, 22)}:{rng.randint(0, 59):02}" if rng.random() < 0.5 else ""
    dated = f"{keys['date']}: {date}{clock}" if keys["date"] else f"{date}{clock}"
    lines = [Line(number), Line(dated)]
    if rng.random() < 0.5:
        lines.reverse()
    if layout.is_invoice:
        due = _format_date(layout.date_format, (ymd[0], ymd[1] % 12 + 1, ymd[2]), layout.language)
        lines.append(Line(f"{keys['due']}: {due}"))
    lines.append(Line(f"{keys['other']}: {rng.randint(1, 30)}"))
    if layout.habit["printed"]:
        printed_day = min(ymd[2] + rng.randint(0, 3), 28)
        printed = _format_date("%d/%m/%Y", (ymd[0], ymd[1], printed_day), layout.language)
        lines.insert(rng.randrange(len(lines)), Line(f"{keys['due']}: {printed}"))
    if layout.columns == 2:
        pairs = [lines[i : i + 2] for i in range(0, len(lines), 2)]
        return [
            Line(p[0].text, right=p[1].text if len(p) > 1 else "", right_at=0.55) for p in pairs
        ]
    return lines


def _build_items(layout: Layout, items: Sequence[tuple[str, int, Decimal]]) -> list[Line]:
    lines = []
    for text, count, price in items:
        unit = f" {format_amount(price, layout.marks)}" if layout.habit["unit"] else ""
        total = format_amount(count * price, layout.marks)
        lines.append(Line(f"{count} x {text}{unit}", right=total, right_end=layout.right))
    return lines


def _build_sums(
    rng: random.Random, layout: Layout, sums: tuple[Decimal, Decimal, Decimal]
) -> list[Line]:
    net, tax, total = sums
    keys = layout.keys
    lines = []
    if layout.habit["count"]:
        lines.append(_build_sum_line(layout, keys["quantity"], Decimal(rng.randint(1, 9))))
    if layout.habit["saving"]:
        lines.append(_build_sum_line(layout, keys["saving"], Decimal(rng.randint(1, 900)) / 100))
    if tax or rng.random() < 0.4:
        lines.append(_build_sum_line(layout, keys["subtotal"], net))
        lines.append(_build_sum_line(layout, keys["tax"], tax))
    if rng.random() < 0.2:
        lines.append(_build_sum_line(layout, keys["rounding"], Decimal(0)))
    if layout.total_below:
        lines += [
            Line("", right=keys["total"], right_end=layout.right),
            Line("", right=_format_with_sign(layout, total), right_end=layout.right, size=1.4),
        ]
    else:
        lines.append(_build_sum_line(layout, keys["total"], total, size=rng.choice([1.0, 1.5])))
    if not layout.is_invoice:
        tendered = total if rng.random() < 0.4 else (total // 10 + 1) * 10
        lines.append(_build_sum_line(layout, keys["cash"], Decimal(tendered)))
        if tendered != total:
            lines.append(_build_sum_line(layout, keys["change"], tendered - total))
    if layout.habit["tax_table"]:
        row = f"{format_amount(net, layout.marks)} {format_amount(tax, layout.marks)}"
        lines += [
            Line(""),
            Line(keys["tax"], right=keys["subtotal"]),
            Line(f"S {row}", right=format_amount(total, layout.marks)),
        ]
    return lines


def _build_sum_line(layout: Layout, key: str, amount: Decimal, size: float = 1.0) -> Line:
    return Line(
        key + (":" if layout.glued else ""),
        right=_format_with_sign(layout, amount),
        right_end=layout.right,
        size=size,
    )


def _format_with_sign(layout: Layout, amount: Decimal) -> str:
    sign, after = layout.currency
    text = format_amount(amount, layout.marks)
    return f"{text} {sign}".strip() if after else f"{sign}{text}"
