"""Portable files are imported completely, and other files are rejected."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.fields import check_fields
from app.engines.schema_sources import FORMATS
from app.engines.schema_sources.model import SchemaSourceError
from app.engines.schema_sources.portable import read_portable_file
from tests.factories.properties import examples

FIELDS = [{"key": "a", "type": "text"}]
SETTINGS: dict[str, Any] = {
    "name": "Invoices",
    "document_type": "invoice",
    "description": "What they bill.\nTwice.",
    "guidelines": "# Look\n\n- here",
    "review_policy": {"labels_per_artifact": 2, "sample_rate": 0.5, "max_rejections": None},
    "required_skills": ["Dutch", "VAT"],
}
_TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=40)
_KEYS = st.from_regex(r"[a-z][a-z0-9]{0,8}(_[a-z0-9]{1,8}){0,2}", fullmatch=True)
_LABELS = _TEXT.filter(str.strip)
_OPTIONS = st.lists(
    st.fixed_dictionaries({"value": _LABELS}, optional={"label": _TEXT}),
    min_size=1,
    max_size=5,
    unique_by=lambda option: option["value"].strip(),
)
_CONSTRAINED = st.sampled_from(
    [
        ("text", {"min_length": 1, "pattern": "^[A-Z]+$", "formats": ["iban", "bic"]}),
        ("number", {"min": "0.1", "max": 100}),
        ("money", {"currencies": ["EUR", "USD"], "min": 0}),
        ("date", {"min": "2020-01-31", "max": None}),
        ("phone", {"formats": ["DE"]}),
        ("span", {"max_length": 50}),
        ("boolean", {}),
        ("region", None),
        ("address", {}),
    ]
)


@st.composite
def _a_field(draw: st.DrawFn, *, table: bool = True) -> dict[str, Any]:
    flags = st.sampled_from([True, False, None])
    field = {
        "key": draw(_KEYS),
        "label": draw(_TEXT | st.none()),
        "description": draw(_TEXT),
        "required": draw(flags),
        "ai_assist": draw(flags),
    }
    kind = draw(st.sampled_from(["choice", "plain", *(["table"] if table else [])]))
    if kind == "table":
        columns = draw(st.lists(_a_field(table=False), min_size=1, max_size=4, unique_by=_key))
        return {**field, "type": "table", "columns": columns}
    field["multiple"] = draw(flags)
    if kind == "choice":
        return {**field, "type": "choice", "options": draw(_OPTIONS)}
    plain, constraints = draw(_CONSTRAINED)
    return {**field, "type": plain, "constraints": constraints}


def _key(field: dict[str, Any]) -> str:
    return str(field["key"])


@examples(60)
@given(st.lists(_a_field(), min_size=1, max_size=6, unique_by=_key), st.booleans())
def test_exported_fields_are_imported_unchanged(
    fields: list[dict[str, Any]], as_text: bool
) -> None:
    schema = {**SETTINGS, "fields": check_fields(fields)}
    file = {"format": "labeling-schema", "version": 1, **schema}
    found = read_portable_file(json.dumps(file) if as_text else file)
    assert {name: getattr(found, name) for name in schema} == schema
    assert found.warnings == []


def test_fields_alone_are_enough() -> None:
    found = read_portable_file({"fields": FIELDS, "name": None, "review_policy": None})
    assert found.fields == check_fields(FIELDS)
    assert (found.name, found.document_type, found.guidelines) == (None, None, "")
    assert (found.review_policy, found.required_skills) == ({}, [])


def test_a_whole_api_response_is_accepted() -> None:
    local = {"id": "x", "revision": 3, "status": "active", "current_version": {"number": 2}}
    found = read_portable_file({"data": {**SETTINGS, **local, "fields": FIELDS}, "meta": {}})
    assert found.name == "Invoices"
    assert found.warnings == []


def test_unknown_properties_cause_a_warning() -> None:
    policy = {"sample_rate": 1, "colour": 2}
    found = read_portable_file({"fields": FIELDS, "review_policy": policy, "zeal": 1, "apt": 2})
    assert [w.path for w in found.warnings] == ["apt", "review_policy.colour", "zeal"]
    assert found.review_policy == {"sample_rate": 1}


def test_names_become_one_line() -> None:
    members = {"name": " In\n\tvoices\x1b " + "x" * 300, "document_type": "\n", "fields": FIELDS}
    found = read_portable_file({**members, "required_skills": [" a\nb ", "\t"]})
    assert found.name is not None
    assert found.name.startswith("In voices xxx")
    assert len(found.name) == 200
    assert found.document_type is None
    assert found.required_skills == ["a b"]


@pytest.mark.parametrize(
    ("content", "path"),
    [
        ([], ""),
        ("3", ""),
        ("", ""),
        ("{'fields': []}", ""),
        ('{"fields": [NaN]}', ""),
        ('{"name": "\\ud800", "fields": []}', ""),
        ({"fields": [{"key": "a\x00", "type": "text"}]}, ""),
        ({"fields": [], "version": 10**400}, ""),
        ({"data": []}, "fields"),
        ({}, "fields"),
        ({"fields": None}, "fields"),
        ({"fields": {}}, "fields"),
        ({"fields": []}, ""),
        ({"fields": [1]}, "fields.0"),
        ({"fields": FIELDS, "format": "yaml"}, "format"),
        ({"fields": FIELDS, "version": 2}, "version"),
        ({"fields": FIELDS, "version": "1"}, "version"),
        ({"fields": FIELDS, "name": 1}, "name"),
        ({"fields": FIELDS, "guidelines": "x" * 100_001}, "guidelines"),
        ({"fields": FIELDS, "review_policy": {"sample_rate": 2}}, "review_policy.sample_rate"),
        (
            {"fields": FIELDS, "review_policy": {"labels_per_artifact": 1.5}},
            "review_policy.labels_per_artifact",
        ),
        (
            {"fields": FIELDS, "review_policy": {"max_rejections": True}},
            "review_policy.max_rejections",
        ),
        ({"fields": FIELDS, "required_skills": ["a"] * 51}, "required_skills"),
        ({"fields": FIELDS, "required_skills": [1]}, "required_skills.0"),
        ({"fields": [{"key": "a", "type": "text"}] * 501}, "fields"),
    ],
)
def test_invalid_files_are_rejected_with_the_path_of_the_error(content: Any, path: str) -> None:
    with pytest.raises(SchemaSourceError) as refused:
        read_portable_file(content)
    assert refused.value.path == path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"fields": FIELDS, "format": "yaml"}, 'must be "labeling-schema"'),
        ({"fields": FIELDS, "name": 1}, "must be of type string or null"),
        ({"fields": FIELDS, "guidelines": "x" * 100_001}, "must have a maximum length of 100000"),
        ({"fields": FIELDS, "required_skills": ["a"] * 51}, "must have a maximum length of 50"),
        ({"fields": FIELDS, "review_policy": {"sample_rate": 2}}, "must be at most 1"),
    ],
)
def test_an_invalid_property_is_described(content: Any, message: str) -> None:
    with pytest.raises(SchemaSourceError) as refused:
        read_portable_file(content)
    assert refused.value.message == message


@pytest.mark.parametrize("format_", ["portable", "json_schema"])
@pytest.mark.parametrize("nested", ["[" * 500, "[" * 200_000, '{"a":' * 500 + "1" + "}" * 500])
def test_deeply_nested_text_is_rejected(format_: str, nested: str) -> None:
    with pytest.raises(SchemaSourceError):
        FORMATS[format_](nested)


def test_a_truncated_name_causes_a_warning() -> None:
    found = read_portable_file({"name": "n" * 201, "document_type": "d" * 101, "fields": FIELDS})
    assert [warning.path for warning in found.warnings] == ["document_type", "name"]
    assert (len(found.name or ""), len(found.document_type or "")) == (200, 100)


def test_whole_numbers_of_a_policy_are_integers() -> None:
    policy = {"labels_per_artifact": 2.0, "max_rejections": 3.0, "sample_rate": 0.5}
    found = read_portable_file({"review_policy": policy, "fields": FIELDS}).review_policy
    assert [json.dumps(found[name]) for name in policy] == ["2", "3", "0.5"]
