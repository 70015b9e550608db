"""For any input: nothing but the declared exceptions, and normal forms stay what they are."""

import json
from collections.abc import Callable
from datetime import date
from decimal import Decimal

import pycountry
import pytest
from hypothesis import HealthCheck, given, reject
from hypothesis import strategies as st
from hypothesis.provisional import urls

from app.engines.fields import (
    TYPES,
    CompiledFields,
    FieldError,
    TagErrors,
    ValueProblem,
    check_fields,
    compare,
    normalize,
)
from app.engines.fields.identifiers import MODULE_BY_FORMAT
from tests.factories.properties import examples

QUICK = examples(
    200,
    suppress_health_check=[HealthCheck.data_too_large],
)

# Whatever a JSON parser may hand over, halves of surrogate pairs and huge integers included.
TEXT = st.text(st.characters(), max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
CLEAN = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40)

AMOUNTS = st.decimals(-(10**15), 10**15, allow_nan=False, places=2)
GROUPED: list[Callable[[Decimal], str]] = [
    str,
    lambda number: f"{number:,}",
    lambda number: f"{number:,}".replace(",", "'"),
    lambda number: f"{number:,}".replace(",", "\u202f").replace(".", ","),
    lambda number: f"{number:,}".translate({ord(","): ".", ord("."): ","}),
]
WRITTEN_AMOUNTS = st.builds(lambda write, number: write(number), st.sampled_from(GROUPED), AMOUNTS)
MONEY = st.tuples(st.sampled_from(["{} €", "EUR {}", "${}", "{} zł", "({}) CHF"]), WRITTEN_AMOUNTS)
DAYS = st.dates(date(1000, 1, 1))
DAY_FORMATS = [
    "%Y-%m-%d",
    "%Y%m%d",
    "%d.%m.%Y",
    "%Y/%m/%d",
    "%d %B %Y",
    "%b %d, %Y",
    "%a, %d %b %Y",
]
PHONES = st.tuples(st.sampled_from(["+49 30 ", "+1 202 ", "0044 20 "]), st.integers(10**6, 10**7))
COUNTRIES = [(c.alpha_2, c.alpha_3, c.name) for c in pycountry.countries]

LIKELY: dict[str, st.SearchStrategy[object]] = {
    "text": CLEAN,
    "number": AMOUNTS.map(float) | WRITTEN_AMOUNTS | st.integers() | st.decimals().map(str),
    "integer": st.integers(-(2**53), 2**53) | st.integers(0, 10**12).map(lambda n: f"{n:,}"),
    "money": MONEY.map(lambda parts: parts[0].format(parts[1]))
    | st.fixed_dictionaries({"amount": WRITTEN_AMOUNTS, "currency": st.sampled_from(["EUR", "¥"])}),
    "date": st.builds(lambda day, form: day.strftime(form), DAYS, st.sampled_from(DAY_FORMATS)),
    "time": st.times().map(str) | st.times().map(lambda time: time.strftime("%I:%M %p")),
    "datetime": st.datetimes(timezones=st.timezones() | st.none()).map(str)
    | st.datetimes().map(lambda moment: moment.strftime("%d.%m.%Y, %H:%M Uhr")),
    "boolean": st.booleans() | st.sampled_from(["yes", "NEIN", "☑", 0, 1.0]),
    "choice": st.sampled_from(["yes", "no", "YES", "Perhaps"]),
    "email": st.emails(),
    "phone": PHONES.map(lambda parts: f"{parts[0]}{parts[1]}"),
    "url": urls() | st.just("www.example.com/ü?a=%41&b=ñ#é"),
    "country": st.sampled_from([name for names in COUNTRIES for name in names])
    | st.sampled_from(["Deutschland", "Espagne", "イタリア", "Великобритания"]),
    "currency": st.sampled_from(["eur", "€", "$", "kr", "zł", "GBP"]),
    "address": CLEAN | st.dictionaries(st.sampled_from(["street", "city", "country"]), CLEAN),
    "span": CLEAN,
    "region": CLEAN | st.none(),
    "table": st.lists(st.fixed_dictionaries({"date": DAYS.map(str), "number": AMOUNTS.map(str)})),
}

OPTIONS = [{"value": "yes"}, {"value": "no", "label": "Perhaps"}]
COLUMNS = [{"key": kind, "type": kind} for kind in TYPES if kind not in {"table", "choice"}]
COLUMNS.append({"key": "choice", "type": "choice", "options": OPTIONS})
SCHEMA = check_fields(
    [
        *({**column, "multiple": True} for column in COLUMNS),
        {"key": "table", "type": "table", "required": True, "columns": COLUMNS},
    ]
)
COMPILED = CompiledFields(SCHEMA)


def clipped(value: str, at: int) -> str:
    """A valid notation with its end missing."""
    return value[: at % (len(value) + 1)]


def attempt(
    call: Callable[..., object], *args: object, **kwargs: object
) -> tuple[object, ValueProblem | FieldError | TagErrors | None]:
    try:
        return call(*args, **kwargs), None
    except (ValueProblem, FieldError, TagErrors) as refused:
        return None, refused


def of(kind: str) -> dict[str, object]:
    return next(field for field in SCHEMA if field["type"] == kind)


@pytest.mark.parametrize("kind", TYPES)
def test_normalizing_twice_changes_nothing(kind: str) -> None:
    @QUICK
    @given(value=LIKELY[kind])
    def check(value: object) -> None:
        once, refused = attempt(normalize, of(kind), value)
        if refused:
            reject()  # hypothesis fails when that happens too often
        stored = json.loads(json.dumps(once, allow_nan=False).encode())
        assert normalize(of(kind), stored) == once

    check()


@pytest.mark.parametrize("kind", TYPES)
def test_any_value_is_normal_or_refused(kind: str) -> None:
    parts = st.tuples(LIKELY[kind].map(str), st.integers(0, 60)).map(lambda pair: clipped(*pair))

    @QUICK
    @given(value=parts | JSON | st.one_of(list(LIKELY.values())))
    def check(value: object) -> None:
        once, refused = attempt(normalize, of(kind), value)
        if refused:
            assert isinstance(refused, ValueProblem)
            assert refused.message.encode()
        else:
            assert normalize(of(kind), once) == once

    check()


@QUICK
@given(day=DAYS, form=st.sampled_from(DAY_FORMATS))
def test_a_date_is_the_date_that_was_written(day: date, form: str) -> None:
    assert normalize(SCHEMA[TYPES.index("date")], day.strftime(form)) == day.isoformat()


@QUICK
@given(amount=AMOUNTS, write=st.sampled_from(GROUPED))
def test_an_amount_is_the_amount_that_was_written(
    amount: Decimal, write: Callable[[Decimal], str]
) -> None:
    money = normalize({"key": "it", "type": "money"}, f"{write(amount)} EUR")
    assert isinstance(money, dict)
    assert Decimal(money["amount"]) == amount


@QUICK
@given(
    name=st.sampled_from(sorted(MODULE_BY_FORMAT)),
    text=TEXT | st.text("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ -./", max_size=24),
)
def test_identifiers_twice(name: str, text: str) -> None:
    field = {"key": "it", "type": "text", "constraints": {"formats": [name]}}
    once, refused = attempt(normalize, field, text)
    assert refused is not None or normalize(field, once) == once


def constraints(kind: str) -> st.SearchStrategy[object]:
    likely: dict[str, st.SearchStrategy[object]] = {
        "text": st.fixed_dictionaries(
            {"min_length": st.integers(0, 5), "pattern": st.sampled_from(["^a", "(", "(?=a)"])}
        ),
        "number": st.fixed_dictionaries({"min": AMOUNTS.map(str), "max": st.floats()}),
        "date": st.fixed_dictionaries({"min": DAYS.map(str), "max": LIKELY["date"]}),
        "money": st.fixed_dictionaries({"currencies": st.lists(st.sampled_from(["eur", "USD"]))}),
        "phone": st.fixed_dictionaries({"formats": st.lists(st.sampled_from(["DE", "FR", "XX"]))}),
    }
    return st.none() | st.just({}) | likely.get(kind, st.none())


@st.composite
def definitions(
    draw: st.DrawFn, kinds: tuple[str, ...] = TYPES, *, hostile: bool = False
) -> dict[str, object]:
    kind = draw(st.sampled_from(kinds))
    field: dict[str, object] = {
        "key": draw(st.from_regex(r"[a-z]{1,3}(_[a-z0-9]{1,2})?", fullmatch=True)),
        "type": kind,
        "label": draw(CLEAN | st.none()),
        "required": draw(st.booleans()),
        "constraints": draw(constraints(kind)),
    }
    if kind == "choice":
        field["options"] = OPTIONS
    if kind == "table":
        field["columns"] = draw(st.lists(definitions(TYPES[:5]), min_size=1, max_size=3))
    if hostile and draw(st.booleans()):
        field[draw(st.sampled_from([*field, "multiple", "options", "columns", "x"]))] = draw(JSON)
    return field


@QUICK
@given(fields=st.lists(definitions(), max_size=3, unique_by=lambda field: field["key"]))
def test_a_normal_definition_stays_as_it_is(fields: list[dict[str, object]]) -> None:
    once, refused = attempt(check_fields, fields)
    if refused:
        reject()
    assert check_fields(json.loads(json.dumps(once))) == once
    assert isinstance(once, list)
    assert compare(once, once) == []


@QUICK
@given(fields=st.lists(definitions(hostile=True) | JSON, max_size=3) | JSON)
def test_any_definition_is_normal_or_refused(fields: object) -> None:
    once, refused = attempt(check_fields, fields)
    if refused:
        assert isinstance(refused, FieldError)
        assert refused.code in {"duplicate_field_name", "invalid_field_type", "validation_error"}
        assert refused.path.startswith("fields")
        assert f"{refused.path} {refused.message}".encode()
    else:
        assert check_fields(once) == once


@st.composite
def tag_dicts(draw: st.DrawFn, *, hostile: bool = False) -> object:
    column = draw(st.sampled_from(COLUMNS))
    in_table = draw(st.booleans())
    start, length = draw(st.integers(0, 9)), draw(st.integers(1, 3))
    piece: dict[str, object] = {
        "page": draw(st.integers(1, 2)),
        "box": [draw(st.floats(0, 0.5)), 0, draw(st.floats(0.5, 1)), 1.0],
        "start": start,
        "end": start + length,
        "text": draw(CLEAN),
    }
    tag: dict[str, object] = {
        "field": f"table.{column['key']}" if in_table else column["key"],
        "value": draw(LIKELY[str(column["type"])]),
        "row": draw(st.integers(0, 50)) if in_table else None,
        "evidence": [piece],
        "confidence": draw(st.none() | st.floats(0, 1)),
    }
    if hostile and draw(st.booleans()):
        target = draw(st.sampled_from([tag, piece]))
        target[draw(st.sampled_from([*target, "source", "x"]))] = draw(JSON)
    return tag


@QUICK
@given(tags=st.lists(tag_dicts(), max_size=2))
def test_normal_tags_stay_as_they_are(tags: list[object]) -> None:
    once, refused = attempt(COMPILED.check_tags, tags, text_length=12, page_count=2)
    if refused:
        reject()
    assert isinstance(once, list)
    stored = json.loads(json.dumps(once, allow_nan=False))
    assert COMPILED.check_tags(stored, text_length=12, page_count=2) == once
    in_table = any(tag["row"] is not None for tag in once)
    assert COMPILED.list_missing_required_fields(once) == ([] if in_table else ["table"])


@QUICK
@given(tags=st.lists(tag_dicts(hostile=True) | JSON, max_size=3) | JSON)
def test_any_tags_are_normal_or_refused(tags: object) -> None:
    once, refused = attempt(COMPILED.check_tags, tags, text_length=10, page_count=2)
    if refused:
        assert isinstance(refused, TagErrors)
        for path, message in refused.errors:
            assert path.startswith("tags")
            assert f"{path} {message}".encode()
    else:
        assert COMPILED.check_tags(once, text_length=10, page_count=2) == once
