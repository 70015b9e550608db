"""Conditions: what each operator means, what is refused, and that verdict and explanation agree."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.conditions.attributes import (
    ATTRIBUTES,
    MAX_EXCERPT_CHARS,
    OPERATORS,
    DocumentAttributes,
)
from app.engines.conditions.compiled_conditions import (
    MAX_CONDITIONS,
    MAX_DEPTH,
    MAX_PATTERNS,
    compile_conditions,
)
from app.engines.conditions.operators import ConditionError
from tests.factories.properties import examples

DOCUMENT: dict[str, Any] = {
    "name": "Straße 7 Invoice.PDF",
    "media_type": "application/pdf",
    "language": None,
    "page_count": 3,
    "schema_id": "0193a5a0-0000-7000-8000-000000000001",
    "metadata.vendor": "ACME GmbH",
    "metadata.amount": 1200.5,
    "metadata.urgent": True,
    "metadata.flag": 1,
    "text": "Total due: 119.00 EUR",
    "confidence": 0.25,
}
EQUALITIES = ["equals", "not_equals"]
PARTS = ["contains", "not_contains", "starts_with", "ends_with", "matches"]
COMPARISONS = ["greater_than", "at_least", "less_than", "at_most"]


def leaf(attribute: str, operator: str, value: Any = None) -> dict[str, Any]:
    return {"attribute": attribute, "operator": operator, "value": value}


def matches(*conditions: dict[str, Any], facts: dict[str, Any] = DOCUMENT) -> bool:
    compiled = compile_conditions({"all": list(conditions)})
    found = compiled.matches(DocumentAttributes(facts))
    assert compiled.explain(DocumentAttributes(facts))["matched"] is found
    return found


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (leaf("name", "equals", "STRASSE 7 invoice.pdf"), True),
        (leaf("name", "equals", "Strasse"), False),
        (leaf("name", "not_equals", "x"), True),
        (leaf("name", "in", ["x", "straße 7 INVOICE.pdf"]), True),
        (leaf("name", "not_in", ["x", "y"]), True),
        (leaf("name", "contains", "INVOICE"), True),
        (leaf("name", "not_contains", "invoice"), False),
        (leaf("name", "starts_with", "strasse"), True),
        (leaf("name", "ends_with", ".pdf"), True),
        (leaf("name", "matches", r"invoice\.pdf$"), True),
        (leaf("name", "matches", r"(?-i)invoice"), False),
        (leaf("page_count", "equals", 3), True),
        (leaf("page_count", "equals", 3.0), True),
        (leaf("page_count", "in", [1, 2, 3]), True),
        (leaf("page_count", "greater_than", 3), False),
        (leaf("page_count", "at_least", 3), True),
        (leaf("page_count", "less_than", 4), True),
        (leaf("page_count", "at_most", 2), False),
        (leaf("schema_id", "equals", "0193A5A0-0000-7000-8000-000000000001"), True),
        (leaf("schema_id", "not_in", ["0193a5a0-0000-7000-8000-000000000001"]), False),
        (leaf("metadata.vendor", "equals", "acme gmbh"), True),
        (leaf("metadata.amount", "at_least", 1200), True),
        (leaf("metadata.amount", "in", ["x", 1200.5, True]), True),
        (leaf("metadata.amount", "contains", "1200"), False),
        (leaf("metadata.urgent", "equals", True), True),
        (leaf("metadata.urgent", "equals", 1), False),
        (leaf("metadata.flag", "equals", True), False),
        (leaf("metadata.urgent", "at_least", 0), False),
        (leaf("metadata.vendor", "greater_than", 1), False),
        (leaf("text", "contains", "total DUE"), True),
        (leaf("confidence", "less_than", 0.5), True),
        (leaf("name", "exists"), True),
        (leaf("name", "not_exists"), False),
    ],
    ids=lambda one: str(one)[:60],
)
def test_what_operators_mean(condition: dict[str, Any], expected: bool) -> None:
    assert matches(condition) is expected


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("attribute", ["language", "metadata.absent"])
def test_what_is_missing_fits_the_negative_operators_alone(attribute: str, operator: str) -> None:
    value: Any = "x"
    if operator in ("in", "not_in"):
        value = ["x"]
    elif operator in ("exists", "not_exists"):
        value = None
    elif operator in COMPARISONS:
        if attribute == "language":
            return
        value = 1
    assert matches(leaf(attribute, operator, value)) is operator.startswith("not_")


def test_accents_are_compared_however_they_are_composed() -> None:
    facts = {"name": "Bu\u0308cher.pdf"}
    assert matches(leaf("name", "starts_with", "B\u00dc"), facts=facts)


def test_groups() -> None:
    yes, no = leaf("page_count", "equals", 3), leaf("page_count", "equals", 4)
    assert matches()
    assert compile_conditions({}).matches(DocumentAttributes({}))
    assert compile_conditions({"any": []}).matches(DocumentAttributes({}))
    assert matches({"any": [no, yes]})
    assert not matches(yes, {"any": [no, {"all": [yes, no]}]})


def nested(depth: int) -> dict[str, Any]:
    tree: dict[str, Any] = {"all": [leaf("name", "exists")]}
    for _ in range(depth - 1):
        tree = {"any": [tree]}
    return tree


@pytest.mark.parametrize(
    ("conditions", "path"),
    [
        ({"all": [leaf("colour", "exists")]}, "all.0.attribute"),
        ({"all": [leaf("metadata.", "exists")]}, "all.0.attribute"),
        ({"any": [leaf("name", "exists"), leaf("name", "at_least", 1)]}, "any.1.operator"),
        ({"all": [leaf("name", "is", "x")]}, "all.0.operator"),
        ({"all": [leaf("page_count", "equals", "3")]}, "all.0.value"),
        ({"all": [leaf("page_count", "equals", True)]}, "all.0.value"),
        ({"all": [leaf("page_count", "at_least", float("inf"))]}, "all.0.value"),
        ({"all": [leaf("page_count", "equals")]}, "all.0.value"),
        ({"all": [leaf("name", "equals", 3)]}, "all.0.value"),
        ({"all": [leaf("name", "equals", "x" * 2001)]}, "all.0.value"),
        ({"all": [leaf("name", "contains", "")]}, "all.0.value"),
        ({"all": [leaf("name", "exists", True)]}, "all.0.value"),
        ({"all": [leaf("name", "in", "x")]}, "all.0.value"),
        ({"all": [leaf("name", "in", [])]}, "all.0.value"),
        ({"all": [leaf("name", "in", ["x"] * 501)]}, "all.0.value"),
        ({"all": [leaf("name", "in", ["x", 1])]}, "all.0.value.1"),
        ({"all": [leaf("schema_id", "equals", "x")]}, "all.0.value"),
        ({"all": [leaf("metadata.a", "equals", {"a": 1})]}, "all.0.value"),
        ({"all": [leaf("name", "matches", "(")]}, "all.0.value"),
        ({"all": [leaf("name", "matches", "(?=x)")]}, "all.0.value"),
        ({"all": [leaf("name", "exists"), {"any": []}]}, "all.1.any"),
        ({"all": [leaf("name", "exists")] * (MAX_CONDITIONS + 1)}, "all"),
        ({"all": [{"any": [leaf("name", "exists")] * 60}] * 2}, ""),
        ({"all": [leaf("name", "matches", "x")] * (MAX_PATTERNS + 1)}, ""),
        (nested(MAX_DEPTH + 1), "any.0.any.0.any.0.any.0.any.0.all"),
    ],
    ids=lambda one: str(one)[:50],
)
def test_what_is_refused_and_where(conditions: dict[str, Any], path: str) -> None:
    with pytest.raises(ConditionError) as refused:
        compile_conditions(conditions)
    assert refused.value.path == path


def test_the_deepest_and_the_largest_that_are_taken() -> None:
    assert compile_conditions(nested(MAX_DEPTH)).size == 1
    most = compile_conditions({"all": [leaf("name", "exists")] * MAX_CONDITIONS})
    assert most.size == MAX_CONDITIONS


def test_an_explanation_shows_what_was_found_and_no_whole_text() -> None:
    facts = DocumentAttributes({"text": "a" * 5000 + "NEEDLE" + "b" * 5000, "page_count": 2})
    for operator, value in (
        ("contains", "needle"),
        ("matches", "n.*le"),
        ("not_contains", "needle"),
    ):
        compiled = compile_conditions({"all": [leaf("text", operator, value)]})
        (explanation,) = compiled.explain(facts)["all"]
        assert "NEEDLE" in explanation["actual"]
        assert len(explanation["actual"]) == MAX_EXCERPT_CHARS
        assert explanation["actual"][0] == explanation["actual"][-1] == "…"
    (ending,) = compile_conditions({"all": [leaf("text", "ends_with", "b")]}).explain(facts)["all"]
    assert ending["actual"].endswith("b")
    numbers = compile_conditions({"any": [leaf("page_count", "at_least", 3)]}).explain(facts)
    assert numbers == {
        "any": [{**leaf("page_count", "at_least", 3), "actual": 2, "matched": False}],
        "matched": False,
    }


def test_patterns_that_backtrack_elsewhere_take_linear_time() -> None:
    compiled = compile_conditions({"all": [leaf("text", "matches", "^(a+)+(a|aa)+$")]})
    spent = []
    for size in (10_000, 100_000):
        facts = DocumentAttributes({"text": "a" * size + "!"})
        began = time.thread_time()
        assert not compiled.matches(facts)
        spent.append(time.thread_time() - began)
    # Backtracking, the first alone would not come to an end in a lifetime.
    assert spent[1] < 5


WORDS = st.sampled_from(["", "a", "A", "ab", "Straße", "STRASSE", "é", "e\u0301", "İ", "x" * 300])
VALUES = st.one_of(st.none(), WORDS, st.booleans(), st.integers(-2, 3), st.floats(-2, 3))
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        **{
            name: st.none() | (WORDS if kind == "text" else st.integers(-2, 3))
            for name, kind in ATTRIBUTES.items()
            if kind != "id"
        },
        "metadata.a": VALUES,
    },
)
NUMBERS = st.integers(-2, 3) | st.floats(-2, 3)
FILLED = st.sampled_from(["a", "A", "ab", "strasse", "\u00e9", "i\u0307"])
LISTS = st.lists(FILLED | NUMBERS | st.booleans(), min_size=1, max_size=4)


def _draw_leaves(
    attributes: list[str], operators: list[str], values: st.SearchStrategy[Any]
) -> st.SearchStrategy[dict[str, Any]]:
    """Draw one of the attributes, one of the operators and a value."""
    return st.builds(leaf, st.sampled_from(attributes), st.sampled_from(operators), values)


LEAVES = st.one_of(
    _draw_leaves(["name", "text", "metadata.a"], [*EQUALITIES, *PARTS], FILLED),
    _draw_leaves(["page_count", "confidence", "metadata.a"], [*EQUALITIES, *COMPARISONS], NUMBERS),
    _draw_leaves(["metadata.a"], ["in", "not_in"], LISTS),
    _draw_leaves(
        ["name", "language", "metadata.a", "metadata.b"], ["exists", "not_exists"], st.none()
    ),
)


def _measure_depth(tree: dict[str, Any]) -> int:
    if "attribute" in tree:
        return 0
    return 1 + max(_measure_depth(member) for members in tree.values() for member in members)


TREES = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda mode, members: {mode: members},
        st.sampled_from(["all", "any"]),
        st.lists(inner, min_size=1, max_size=4),
    ),
    max_leaves=12,
).filter(lambda tree: _measure_depth(tree) < MAX_DEPTH)


def _evaluate(tree: dict[str, Any], facts: dict[str, Any]) -> bool:
    """The verdict as the words say it: no closures, no order."""
    if "attribute" in tree:
        return compile_conditions({"all": [tree]}).matches(DocumentAttributes(facts))
    mode = "all" if "all" in tree else "any"
    results = [_evaluate(member, facts) for member in tree[mode]]
    return all(results) if mode == "all" else any(results)


@examples(400)
@given(TREES, DOCUMENTS)
def test_the_verdict_is_the_explanations(tree: dict[str, Any], facts: dict[str, Any]) -> None:
    root = {"all": [tree]}
    compiled = compile_conditions(root)
    found = compiled.matches(DocumentAttributes(facts))
    assert compiled.explain(DocumentAttributes(facts))["matched"] is found
    assert _evaluate(root, facts) is found
    if compiled.key is not None and found:
        attribute, texts = compiled.key
        assert DocumentAttributes(facts).get_folded(attribute) in texts


@examples(300)
@given(LEAVES, DOCUMENTS)
def test_a_negative_is_the_opposite_of_its_positive(
    condition: dict[str, Any], facts: dict[str, Any]
) -> None:
    operator = condition["operator"]
    if f"not_{operator}" not in OPERATORS:
        return
    positive, negative = (
        matches({**condition, "operator": name}, facts=facts)
        for name in (operator, f"not_{operator}")
    )
    assert positive is not negative


@examples(200)
@given(st.text(max_size=30), st.text(max_size=10), st.text(max_size=10))
def test_a_part_of_a_text_is_found_whatever_its_case(before: str, part: str, after: str) -> None:
    facts = DocumentAttributes({"name": f"{before} {part} {after}"})
    if part:
        compiled = compile_conditions({"all": [leaf("name", "contains", f" {part.upper()} ")]})
        folded = f" {part} ".casefold() == f" {part.upper()} ".casefold()
        assert compiled.matches(facts) or not folded


@pytest.mark.parametrize(
    ("conditions", "key"),
    [
        (
            {"all": [leaf("page_count", "at_least", 1), leaf("name", "equals", "A")]},
            ("name", {"a"}),
        ),
        ({"any": [leaf("metadata.v", "in", ["A", "b"])]}, ("metadata.v", {"a", "b"})),
        ({"all": [{"all": [leaf("language", "equals", "DE")]}]}, ("language", {"de"})),
        ({"any": [leaf("name", "equals", "a"), leaf("language", "equals", "a")]}, None),
        ({"all": [leaf("name", "not_equals", "a")]}, None),
        ({"all": [leaf("metadata.v", "in", ["a", 1])]}, None),
        ({"all": [leaf("text", "equals", "a")]}, None),
        ({}, None),
    ],
)
def test_what_every_matching_document_has(conditions: dict[str, Any], key: Any) -> None:
    assert compile_conditions(conditions).key == key
