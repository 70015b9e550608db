"""The tables that came from elsewhere say what their sources say; nothing is loaded in vain."""

import json
import unicodedata
from collections import defaultdict
from pathlib import Path

from babel import Locale
from babel.core import get_global

import app.engines.fields
from app.engines.fields.dates import parse_date
from app.engines.fields.values.currencies import CODES, get_decimals, parse_currency
from tests.factories.processes import run_script

FOLDER = Path(app.engines.fields.__file__).parent
NAMES = json.loads((FOLDER / "calendar_names.json").read_text(encoding="utf-8"))


def cldr_names(locale: Locale, unit: str) -> list[tuple[int, str]]:
    tables = getattr(locale, unit)
    return [
        (number, word)
        for context in ("format", "stand-alone")
        for width in ("wide", "abbreviated")
        for number, name in tables[context][width].items()
        if (word := name.strip().rstrip(".").casefold())
        and all(unicodedata.category(char)[0] in "LM" for char in word)
    ]


def test_month_and_day_names_are_those_of_cldr() -> None:
    months: defaultdict[str, set[int]] = defaultdict(set)
    days: set[str] = set()
    for language in NAMES["languages"]:
        locale = Locale.parse(language)
        for number, name in cldr_names(locale, "months"):
            months[name].add(number)
        days |= {name for _, name in cldr_names(locale, "days")}
    expected = [
        sorted(name for name, numbers in months.items() if numbers == {month})
        for month in range(1, 13)
    ]
    assert NAMES["months"] == expected
    assert NAMES["weekdays"] == sorted(days - set(months))


def test_every_month_name_is_read() -> None:
    for number, row in enumerate(NAMES["months"], 1):
        for name in row:
            assert parse_date(f"13. {name} 2024").isoformat() == f"2024-{number:02}-13"


def test_every_currency_code_and_sign_is_one_of_iso_4217() -> None:
    data = json.loads((FOLDER / "values" / "currencies.json").read_text(encoding="utf-8"))
    assert set(data["withdrawn"]) <= set(get_global("all_currencies"))
    for sign, codes in data["signs"].items():
        assert set(codes) <= CODES
        assert parse_currency(sign.lower(), (codes[0],)) == codes[0]
    assert {get_decimals(code) for code in ("JPY", "EUR", "KWD", "CLF")} == {0, 2, 3, 4}


def test_libraries_are_loaded_only_when_a_field_needs_them() -> None:
    script = """
import sys
from app.engines import fields, formats
checked = fields.check_fields([
    {"key": "a", "type": "text"}, {"key": "b", "type": "number"}, {"key": "c", "type": "date"},
    {"key": "d", "type": "email"}, {"key": "e", "type": "phone"}, {"key": "f", "type": "country"},
])
fields.CompiledFields(checked[:3]).check_tags(
    [{"field": "c", "value": "5 May 2024"}], text_length=0, page_count=0
)
formats.FORMATS["csv"]
heavy = {"re2", "phonenumbers", "pycountry", "stdnum", "email_validator", "jsonschema", "babel"}
print(sorted(heavy & set(sys.modules)))
"""
    assert run_script(script).strip() == "[]"
