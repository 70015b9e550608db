"""Build the targets for fields, and convert and compare values."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from app.engines.extraction import patterns
from app.engines.extraction.layout import compact_text
from app.engines.extraction.lexicon import find_concept, get_field_phrases
from app.engines.fields import Field, JsonValue, ValueProblem, normalize

_KIND_BY_TYPE = {
    "number": "amount",
    "integer": "amount",
    "money": "amount",
    "date": "date",
    "time": "time",
    "datetime": "datetime",
    "email": "email",
    "url": "url",
    "phone": "phone",
    "boolean": "option",
    "choice": "option",
    "currency": "currency",
    "country": "option",
    "address": "lines",
    "span": "text",
    "region": "text",
}
_CONCEPTS_BY_KIND = {
    "amount": "total subtotal tax cash change rounding discount quantity unit_price line_total",
    "date": "date due_date",
    "time": "time",
    "lines": "company address customer",
    "code": "number order_number customer_number tax_id iban bic",
    "email": "email",
    "phone": "phone",
}
_KIND_BY_CONCEPT = {
    concept: kind for kind, concepts in _CONCEPTS_BY_KIND.items() for concept in concepts.split()
}
_CURRENCY_SIGN = re.compile(
    r"^(?:RM|Rs\.?|EUR|USD|GBP|MYR|CHF|[$€£¥₹])\s*|\s*(?:RM|EUR|USD|GBP|CHF|[$€£])$", re.I
)
_MAJORITY_FRACTION = 0.6


@dataclass(frozen=True, slots=True)
class Target:
    """A field or table column to propose values for.

    `name` is the field's key or `table.column`. `kind` selects the candidates: amount, date, time,
    datetime, email, url, phone, option, currency, lines, code or text. `concept` is the lexicon
    concept to which the field refers, or "". `phrases` contains the key and the label of the field
    and, for a table column, the headers learned from examples, as returned by `compact_text`.
    """

    name: str
    field: Field
    kind: str
    concept: str
    phrases: frozenset[str]

    def build_key(self, value: JsonValue) -> str:
        """Build a comparison key; equal amounts and equal dates have equal keys in any notation."""
        if self.kind == "amount":
            return _build_amount_key(value)
        if self.kind == "date" and isinstance(value, str):
            return next((match.value for match in patterns.find_dates(value)), value)
        if isinstance(value, str):
            return value
        return json.dumps(value, sort_keys=True, ensure_ascii=False)


def build_target(field: Field, values: Sequence[Any] = (), *, name: str = "") -> Target:
    """Build the target for a field; accepted `values` help to choose the kind of a text field."""
    concept = find_concept(field)
    kind = _KIND_BY_TYPE.get(field["type"], "") or _infer_kind(field, concept, values)
    return Target(name or field["key"], field, kind, concept, get_field_phrases(field))


def to_value(target: Target, text: str, currency: str = "") -> JsonValue:
    """Convert text to a canonical value; return None if it is empty or the field rejects it."""
    raw: object = text
    if target.field["type"] == "money":
        raw = {"amount": text, "currency": currency}
    try:
        value = normalize(target.field, raw)
    except ValueProblem:
        return None
    return None if value == "" else value


def get_compact_text(value: JsonValue) -> str:
    """Return only the letters and digits of a value, in lower case, for a lenient comparison."""
    return compact_text(value if isinstance(value, str) else json.dumps(value, sort_keys=True))


def _infer_kind(field: Field, concept: str, values: Sequence[Any]) -> str:
    if field["constraints"].get("formats"):
        return "code"
    texts = [value for value in values if isinstance(value, str)]
    if texts:
        kinds = Counter(_infer_text_kind(text) for text in texts)
        kind, count = kinds.most_common(1)[0]
        return kind if count >= _MAJORITY_FRACTION * len(texts) else "text"
    if field["constraints"].get("pattern") and concept not in _KIND_BY_CONCEPT:
        return "code"
    return _KIND_BY_CONCEPT.get(concept, "text")


def _infer_text_kind(text: str) -> str:
    dates = list(patterns.find_dates(text))
    if dates and dates[0].end - dates[0].start >= 0.6 * len(text):
        return "date"
    amount_text = _CURRENCY_SIGN.sub("", text.strip())
    amounts = list(patterns.find_amounts(amount_text))
    if (
        amounts
        and amounts[0].end - amounts[0].start == len(amount_text)
        and re.search(r"[.,]\d", amount_text)
    ):
        return "amount"
    if any(char.isdigit() for char in text) and len(text.split()) == 1:
        return "code"
    return "text" if len(text.split()) == 1 and len(text) < 4 else "lines"  # noqa: PLR2004


def _build_amount_key(value: JsonValue) -> str:
    """Build the key of an amount: the normalized number, and the currency if it is known."""
    currency = ""
    if isinstance(value, dict):
        currency, value = str(value.get("currency") or ""), str(value.get("amount"))
    if isinstance(value, str):
        amount_text = _CURRENCY_SIGN.sub("", value.strip())
        number = patterns.parse_amount(amount_text)
        # Canonical values have a decimal point, which never separates thousands.
        if number is None or re.fullmatch(r"-?\d+\.\d+", amount_text):
            try:
                number = Decimal(amount_text)
            except InvalidOperation:
                return value
    else:
        number = Decimal(str(value))
    return f"{number.normalize():f}{currency}"
