"""What the JSON Schema of tags accepts, the service accepts; and what is kept, fits it."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from app.engines.fields import (
    TYPES,
    CompiledFields,
    TagErrors,
    ValueProblem,
    check_fields,
    normalize,
)
from app.engines.fields.identifiers import MODULE_BY_FORMAT
from app.engines.fields.json_schema.tags import build_tags_schema
from tests.engines.fields.test_properties import CLEAN, JSON, LIKELY, SCHEMA
from tests.engines.fields.test_properties import tag_dicts as likely_tags
from tests.factories.properties import examples

THOROUGH = examples(
    100,
    suppress_health_check=[HealthCheck.filter_too_much],
)
TEXT_LENGTH, PAGES = 12, 2
OPTIONS = [{"value": "a"}, {"value": "b ö", "label": "B"}]
MOMENTS = {
    "date": st.dates().map(str),
    "time": st.times().map(str),
    "datetime": st.datetimes().map(lambda moment: moment.isoformat() + "Z"),
}
NUMBERS = st.one_of(
    st.integers(-1100, 1100).map(str),
    st.decimals(-1200, 1200, places=3).map(str),
    st.sampled_from(["0", "0.5", "-0.05", "9.99", "99.095", "1000", "0.30000000000000000001"]),
)
PATTERNS = [r"^\d{2,}", r"[[:alpha:]]$", r"^a.c$", r"\bx\b", "(?i)y", r"[^\s-]+", "ü|ß", r"^\w*$"]


def own_formats() -> FormatChecker:
    """The formats of the service's own: a value has one if it is kept as it is."""
    checker = FormatChecker()

    def kept(field: dict[str, Any]) -> Any:
        def check(value: object) -> bool:
            try:
                return not isinstance(value, str) or normalize(field, value) == value
            except ValueProblem:
                return False

        return check

    checker.checks("phone")(kept({"type": "phone"}))
    checker.checks("idn-email")(kept({"type": "email"}))
    for name in MODULE_BY_FORMAT:
        checker.checks(name)(kept({"type": "text", "constraints": {"formats": [name]}}))
    return checker


ASSERTED = own_formats()


def validator(fields: list[dict[str, Any]]) -> Draft202012Validator:
    schema = build_tags_schema(fields, identifier="urn:x", title="x")
    return Draft202012Validator(schema, format_checker=ASSERTED)


def accepted(fields: CompiledFields, tags: Any) -> tuple[list[Any] | None, str]:
    try:
        found = fields.check_tags(tags, text_length=TEXT_LENGTH, page_count=PAGES)
    except TagErrors as refused:
        return None, str(refused)
    return json.loads(json.dumps(found, allow_nan=False)), ""


def ordered(values: st.SearchStrategy[str], key: Any = str) -> st.SearchStrategy[dict[str, str]]:
    """`min` and `max`, one of them or none."""
    both = st.lists(values, min_size=2, max_size=2, unique_by=key)
    names = st.sampled_from([("min", "max"), ("min",), ("max",), ()])
    return st.builds(
        lambda pair, kept: {
            name: value
            for name, value in zip(("min", "max"), sorted(pair, key=key), strict=True)
            if name in kept
        },
        both,
        names,
    )


def constraints(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    lengths = st.fixed_dictionaries(
        {},
        optional={
            "min_length": st.integers(0, 3),
            "max_length": st.integers(3, 12),
            "pattern": st.sampled_from(PATTERNS),
        },
    )
    if kind in MOMENTS:
        return ordered(MOMENTS[kind], lambda text: text.rstrip("Z"))
    if kind in {"number", "integer", "money"}:
        return ordered(NUMBERS, float)
    if kind == "text":
        identified = st.fixed_dictionaries({"formats": st.just(["iban", "ean"])})
        return lengths | identified
    return lengths if kind == "span" else st.just({})


@st.composite
def definitions(draw: st.DrawFn, kind: str) -> dict[str, Any]:
    members: dict[str, Any] = {"key": "it", "type": kind, "constraints": draw(constraints(kind))}
    if kind == "choice":
        members["options"] = OPTIONS
    return members


def near(kind: str) -> st.SearchStrategy[Any]:
    """Values of the type, and others that look like it."""
    texts = st.text(st.sampled_from("ab1 2-.x_\n\tü\u2003"), max_size=6)
    days = st.from_regex(r"(19|20|00)[0-9]{2}-[01][0-9]-[0-3][0-9]", fullmatch=True)
    amounts = NUMBERS | st.from_regex(r"-?[0-9]{1,4}(\.[0-9]{1,4})?", fullmatch=True)
    by_type: dict[str, st.SearchStrategy[Any]] = {
        "text": texts | st.sampled_from(["DE89370400440532013000", "DE89 3704 0044 0532 0130 00"]),
        "span": texts,
        "number": amounts | st.floats(-1200, 1200) | st.integers(-1200, 1200),
        "integer": st.integers(-1200, 1200) | st.floats(-1200, 1200).map(round).map(float),
        "money": st.fixed_dictionaries(
            {"amount": amounts, "currency": st.sampled_from(["EUR", "USD", "DEM", "eur", "XXY"])}
        ),
        "url": st.from_regex(
            r"(https?|ftp)://([a-z0-9_-]{1,4}\.){0,3}[a-z]{1,3}(:[0-9]{1,5})?(/[a-z%?#\[@]{0,6})?",
            fullmatch=True,
        )
        | st.just("http://[::1]:80/"),
        "address": texts | st.dictionaries(st.sampled_from(["street", "city", "x"]), texts),
        "choice": st.sampled_from(["a", "b ö", "B", "c"]),
        "date": MOMENTS["date"] | days,
        "time": MOMENTS["time"],
        "datetime": MOMENTS["datetime"],
    }
    found = by_type.get(kind, st.nothing())
    return found | found | LIKELY[kind].map(lambda value: kept_form(kind, value)) | JSON


def kept_form(kind: str, value: Any) -> Any:
    """The canonical form of a value, or what it was."""
    try:
        return normalize({"key": "it", "type": kind, "options": OPTIONS}, value)
    except ValueProblem:
        return value


@st.composite
def pieces(draw: st.DrawFn, *, odd: bool) -> dict[str, Any]:
    """Evidence that keeps what no JSON Schema can say; `odd`, it may lack or have anything else."""
    start = draw(st.integers(0, 10))
    piece = {"page": 2, "box": [0, 0.25, 0.5, 1], "start": start, "end": start + 1, "text": "x"}
    if not odd:
        return piece
    changed = {
        "page": st.sampled_from([1, 2.0, 0, None]),
        "box": st.sampled_from([None, [0, 0, 1]]),
        "start": st.sampled_from([float(start), None]),
        "end": st.none(),
        "text": st.none() | CLEAN | JSON,
        "x": st.just(1),
    }
    names = draw(st.sets(st.sampled_from(sorted(changed)), max_size=3))
    piece |= {name: draw(changed[name]) for name in sorted(names)}
    gone = draw(st.sets(st.sampled_from(sorted(piece)), max_size=2))
    return {name: value for name, value in piece.items() if name not in gone}


def quirk(value: Any) -> bool:
    """Python's `$` also matches before a last line feed, which ECMA-262's does not."""
    return isinstance(value, str) and value.endswith("\n")


def hold(fields: list[dict[str, Any]], tags: Any, *, unsaid: bool = False) -> None:
    """The service and the JSON Schema agree on the tags, as far as a JSON Schema can say."""
    found, why = accepted(CompiledFields(fields), tags)
    judge = validator(fields)
    fits = judge.is_valid(tags)
    event(f"fits: {fits}")
    if fits and not unsaid:
        assert found is not None, why
    if found is not None:
        assert judge.is_valid(found), found


@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind != "table"])
def test_values_that_the_json_schema_accepts_the_service_accepts(kind: str) -> None:
    @THOROUGH
    @given(field=definitions(kind), value=near(kind), piece=pieces(odd=False))
    def check(field: dict[str, Any], value: Any, piece: dict[str, Any]) -> None:
        assume(not (kind == "span" and quirk(value)))
        tag = {"field": "it", "value": value}
        if kind in {"span", "region"}:
            tag["evidence"] = [piece]
        unsaid = "(?i)" in str(field["constraints"].get("pattern"))
        hold(check_fields([field]), [tag], unsaid=unsaid)

    check()


STRUCTURE = check_fields(
    [
        {"key": "note", "type": "text"},
        {"key": "notes", "type": "text", "multiple": True},
        {"key": "clause", "type": "span"},
        {"key": "stamp", "type": "region"},
        {"key": "rows", "type": "table", "columns": [{"key": "cell", "type": "text"}]},
    ]
)


@st.composite
def odd_tags(draw: st.DrawFn) -> dict[str, Any]:
    name = draw(st.sampled_from(["note", "notes", "clause", "stamp", "rows.cell", "rows", "x"]))
    usual = draw(st.integers(0, 9)) if "." in name else None
    members = {
        "row": st.just(usual) | st.sampled_from([None, 9.0, -1, 10_000, True]),
        "confidence": st.none() | st.floats(-0.1, 1) | st.sampled_from([1, 0.0, "1", False]),
        "source": st.sampled_from(["human", "model", "import", "robot"]),
        "evidence": st.lists(pieces(odd=True), max_size=2) | st.lists(pieces(odd=False)),
        "x": st.just(1),
    }
    given_names = draw(
        st.sets(st.sampled_from(["confidence", "source", "evidence", "x"]), max_size=2)
    )
    tag = {"field": name, "value": draw(st.sampled_from(["x", "x", "x", None, 1]))}
    tag |= {one: draw(members[one]) for one in sorted(given_names)}
    if usual is not None or draw(st.integers(0, 9)) == 0:
        tag["row"] = draw(members["row"])
    if name in {"clause", "stamp"}:
        tag.setdefault("evidence", [draw(pieces(odd=False))])
    return tag


@examples(400)
@given(tags=st.lists(odd_tags(), max_size=3))
def test_tags_that_the_json_schema_accepts_the_service_accepts(tags: list[Any]) -> None:
    cells = [tag.get("row") for tag in tags if tag["field"] == "rows.cell"]
    assume(len(set(cells)) == len(cells))
    hold(STRUCTURE, tags)


@THOROUGH
@given(tags=st.lists(likely_tags(), max_size=3))
def test_what_is_kept_fits_the_json_schema(tags: list[Any]) -> None:
    found, _ = accepted(CompiledFields(SCHEMA), tags)
    assume(found is not None)
    assert OF_EVERYTHING.is_valid(found)


def test_a_field_that_is_not_multiple_has_one_tag() -> None:
    tag = {"field": "note", "value": "x"}
    repeatable_tag = {"field": "notes", "value": "x"}
    judge = validator(STRUCTURE)
    assert judge.is_valid([tag, repeatable_tag, repeatable_tag])
    assert not judge.is_valid([tag, tag])


def test_an_error_names_the_place() -> None:
    judge = validator(STRUCTURE)
    faults = judge.iter_errors([{"field": "notes", "value": "x"}, {"field": "note", "value": 7}])
    assert [list(fault.absolute_path) for fault in faults] == [[1, "value"]]


@pytest.mark.parametrize("fields", [STRUCTURE, SCHEMA, STRUCTURE[1:2]], ids=str)
def test_it_is_a_json_schema(fields: list[dict[str, Any]]) -> None:
    schema = json.loads(json.dumps(build_tags_schema(fields, identifier="urn:x", title="x")))
    Draft202012Validator.check_schema(schema)
    assert Draft202012Validator(schema).is_valid([])
    assert not Draft202012Validator(schema).is_valid([{"field": "nothing", "value": 1}])


def test_definitions_are_there_when_they_are_referred_to() -> None:
    few = build_tags_schema(STRUCTURE[:1], identifier="urn:x", title="x")["$defs"]
    assert list(few) == ["note", "Evidence", "Trimmed", "Verbatim"]
    many = build_tags_schema(SCHEMA, identifier="urn:x", title="x")["$defs"]
    assert {"Country", "Currency", "Address", "Url", "table.money"} <= set(many)


OF_EVERYTHING = validator(SCHEMA)
