"""Which lists of fields make a schema."""

import re
from typing import Any

import pytest

from app.engines.fields import TYPES, FieldError, check_fields


def refused(fields: object) -> tuple[str, str]:
    with pytest.raises(FieldError) as caught:
        check_fields(fields)
    return caught.value.code, caught.value.path


def one(kind: str = "text", **members: Any) -> list[dict[str, Any]]:
    if kind == "choice":
        members.setdefault("options", [{"value": "a"}])
    if kind == "table":
        members.setdefault("columns", [{"key": "c", "type": "text"}])
    return [{"key": "it", "type": kind, **members}]


def test_defaults_are_filled_in() -> None:
    fields = check_fields([{"key": "invoice_number", "type": "text", "label": None}])
    assert fields == [
        {
            "key": "invoice_number",
            "label": "Invoice number",
            "type": "text",
            "required": False,
            "multiple": False,
            "description": "",
            "options": [],
            "columns": [],
            "constraints": {},
            "ai_assist": True,
        }
    ]
    assert check_fields([]) == []


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_stands(kind: str) -> None:
    (field,) = check_fields(one(kind, required=True, description="What it is", ai_assist=False))
    assert field["type"] == kind
    assert field["required"]
    assert field["multiple"] == (kind == "span")


def test_a_table_has_columns_of_every_other_type() -> None:
    columns = [one(kind)[0] | {"key": kind} for kind in TYPES if kind != "table"]
    (table,) = check_fields(one("table", columns=columns))
    assert [column["type"] for column in table["columns"]] == [k for k in TYPES if k != "table"]


def test_constraints_take_the_form_of_values() -> None:
    def kept(kind: str, **constraints: Any) -> dict[str, Any]:
        field: dict[str, Any] = check_fields(one(kind, constraints=constraints))[0]
        return dict(field["constraints"])

    assert kept("date", min="1.2.2024", max=None) == {"min": "2024-02-01"}
    assert kept("money", min="1.000,50", currencies=["eur", "€", "usd"]) == {
        "min": 1000.5,
        "currencies": ["EUR", "USD"],
    }
    assert kept("time", min="9:00", max="5 pm") == {"min": "09:00:00", "max": "17:00:00"}
    assert kept("text", formats=["iban", "bic"], pattern="^D") == {
        "formats": ["iban", "bic"],
        "pattern": "^D",
    }
    assert kept("phone", formats=["DE", "AT"]) == {"formats": ["DE", "AT"]}
    assert kept("choice", pattern=None, formats=[]) == {}


@pytest.mark.parametrize(
    "key",
    ["", "A", "a-b", "a b", "_a", "a_", "a__b", "1a", "ä", "a.b", "a" * 65, "a\n", 5, None, []],
)
def test_keys_are_snake_case(key: object) -> None:
    assert refused([{"key": key, "type": "text"}]) == ("validation_error", "fields.0.key")


@pytest.mark.parametrize("key", ["a", "a1", "net_total_2", "x" * 64])
def test_keys_that_stand(key: str) -> None:
    assert check_fields([{"key": key, "type": "text"}])[0]["key"] == key


def test_types() -> None:
    assert refused(one("colour")) == ("invalid_field_type", "fields.0.type")
    assert refused(one(5)) == ("invalid_field_type", "fields.0.type")  # type: ignore[arg-type]
    assert refused([{"key": "a"}]) == ("validation_error", "fields.0.type")
    nested = one("table", columns=[*one(), {"key": "t", "type": "table", "columns": one()}])
    assert refused(nested) == ("invalid_field_type", "fields.0.columns.1.type")


def test_duplicates() -> None:
    assert refused(one() + one("date")) == ("duplicate_field_name", "fields.1.key")
    table = one("table", columns=one() + one())
    assert refused(table) == ("duplicate_field_name", "fields.0.columns.1.key")
    same_key_inside = one("table", columns=one())
    assert check_fields(same_key_inside)[0]["columns"][0]["key"] == "it"


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        (None, "fields"),
        ({}, "fields"),
        ("text", "fields"),
        ([5], "fields.0"),
        (one(colour="red"), "fields.0.colour"),
        (one(**{"a\ud800\u202e": 1}), "fields.0.a??"),
        (one(required="yes"), "fields.0.required"),
        (one(multiple=1), "fields.0.multiple"),
        (one("table", multiple=True), "fields.0.multiple"),
        (one(label="x" * 201), "fields.0.label"),
        (one(label="\x00"), "fields.0.label"),
        (one(description=5), "fields.0.description"),
        (one(description="x" * 5001), "fields.0.description"),
        (one(options=[{"value": "a"}]), "fields.0.options"),
        (one(columns=one()), "fields.0.columns"),
        (one("choice", options=None), "fields.0.options"),
        (one("choice", options=[]), "fields.0.options"),
        (one("choice", options=["a"]), "fields.0.options.0"),
        (one("choice", options=[{"value": " "}]), "fields.0.options.0.value"),
        (one("choice", options=[{"value": 5}]), "fields.0.options.0.value"),
        (one("choice", options=[{"value": "a"}, {"value": " a"}]), "fields.0.options.1.value"),
        (one("choice", options=[{"value": "a", "color": 1}]), "fields.0.options.0.color"),
        (one("choice", options=[{"value": str(n)} for n in range(1001)]), "fields.0.options"),
        (one("table", columns=[]), "fields.0.columns"),
        (one("table", columns="x"), "fields.0.columns"),
        (one("table", columns=[{"key": "A"}]), "fields.0.columns.0.key"),
        (
            one("table", columns=[{"key": f"c{n}", "type": "text"} for n in range(101)]),
            "fields.0.columns",
        ),
        ([{"key": f"f{n}", "type": "text"} for n in range(501)], "fields"),
    ],
)
def test_rules(fields: object, path: str) -> None:
    assert refused(fields) == ("validation_error", path)


@pytest.mark.parametrize(
    ("kind", "constraints", "member"),
    [
        ("text", [], ""),
        ("text", {"minimum": 1}, ".minimum"),
        ("text", {"min": 1}, ".min"),
        ("number", {"pattern": "a"}, ".pattern"),
        ("country", {"formats": ["iban"]}, ".formats"),
        ("number", {"min": "x"}, ".min"),
        ("number", {"min": 2, "max": "1,5"}, ".min"),
        ("date", {"min": "01/02/2024"}, ".min"),
        ("date", {"min": "2024-02-01", "max": "2024-01-31"}, ".min"),
        ("datetime", {"min": "2024-01-01T00:00:00.5Z", "max": "2024-01-01T00:00:00Z"}, ".min"),
        ("text", {"min_length": -1}, ".min_length"),
        ("text", {"min_length": True}, ".min_length"),
        ("text", {"max_length": 10**9}, ".max_length"),
        ("text", {"min_length": 5, "max_length": 4}, ".min_length"),
        ("text", {"pattern": "("}, ".pattern"),
        ("text", {"pattern": "(?=a)a"}, ".pattern"),
        ("text", {"pattern": "(a)\\1"}, ".pattern"),
        ("text", {"pattern": "((a{1000}){1000}){1000}"}, ".pattern"),
        ("text", {"pattern": "a" * 1001}, ".pattern"),
        ("text", {"pattern": "\ud800"}, ".pattern"),
        ("text", {"pattern": 5}, ".pattern"),
        ("text", {"formats": ["ibann"]}, ".formats"),
        ("text", {"formats": "iban"}, ".formats"),
        ("phone", {"formats": ["XX"]}, ".formats"),
        ("money", {"currencies": ["EUR", "ABC"]}, ".currencies"),
        ("money", {"currencies": ["EUR"] * 201}, ".currencies"),
    ],
)
def test_constraints_that_mean_nothing(kind: str, constraints: object, member: str) -> None:
    path = f"fields.0.constraints{member}"
    assert refused(one(kind, constraints=constraints)) == ("validation_error", path)


def test_limits_in_all() -> None:
    columns = [{"key": f"c{n}", "type": "text"} for n in range(100)]
    many = [one("table", columns=columns)[0] | {"key": f"t{n}"} for n in range(20)]
    assert refused(many) == ("validation_error", "fields")
    options = [{"value": str(n)} for n in range(1000)]
    choices = [one("choice", options=options)[0] | {"key": f"c{n}"} for n in range(21)]
    assert refused(choices) == ("validation_error", "fields")
    assert len(check_fields(choices[:20])) == 20


def test_deep_nesting_is_refused_without_recursion() -> None:
    field: dict[str, Any] = {"key": "t", "type": "table"}
    for _ in range(5000):
        field = {"key": "t", "type": "table", "columns": [field]}
    assert refused([field])[0] == "invalid_field_type"


def test_the_message_says_what_to_do() -> None:
    with pytest.raises(FieldError, match=re.escape("fields.0.type: must be one of text, number")):
        check_fields(one("colour"))
