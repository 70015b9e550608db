"""Any content gives either valid fields or a SchemaSourceError."""

from typing import Any

from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from app.engines.fields import check_fields
from app.engines.schema_sources import FORMATS
from app.engines.schema_sources.model import SchemaSourceError
from tests.factories.properties import examples

QUICK = examples(
    150,
    suppress_health_check=[HealthCheck.data_too_large],
)
_KEYWORDS = (
    *("type", "properties", "items", "required", "enum", "const", "allOf", "anyOf", "oneOf"),
    *("minimum", "exclusiveMaximum", "maxLength", "pattern", "format", "title", "$defs", "not"),
    *("prefixItems", "additionalProperties", "minItems", "$id", "$anchor", "$ref", "description"),
)
_WORDS = st.sampled_from(
    [*_KEYWORDS, "string", "object", "array", "integer", "null", "date", "#", "#/$defs/a", "a", "é"]
)
_PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats(allow_nan=False)
    | _WORDS
    | st.text()
)
_JSON = st.recursive(
    _PLAIN,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(_WORDS | st.text(), inner, max_size=6)
    ),
    max_leaves=25,
)
_SCHEMAS = st.recursive(
    st.just({})
    | st.booleans()
    | st.fixed_dictionaries(
        {}, optional=dict.fromkeys(_KEYWORDS, _PLAIN | st.lists(_PLAIN, max_size=2))
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "object", "array", "number", ["null", "integer"]]),
            "properties": st.dictionaries(_WORDS | st.text(), inner, max_size=4),
            "$defs": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "items": inner,
            "allOf": st.lists(inner, max_size=3),
            "anyOf": st.lists(inner, max_size=3),
            "oneOf": st.lists(inner, max_size=3),
            "$ref": st.sampled_from(["#", "#/$defs/a", "#/$defs/b", "#/properties/a"]),
            "required": st.lists(_WORDS, max_size=3),
            "enum": st.lists(_PLAIN, max_size=3),
            **dict.fromkeys(("minimum", "format", "const", "minItems"), _JSON),
            "title": st.text(),
        },
    ),
    max_leaves=20,
)
_ATTRIBUTES = st.dictionaries(
    st.sampled_from(
        ["name", "toName", "value", "alias", "choice", "required", "min", "only", "maxRating"]
    ),
    st.sampled_from(["a", "b", "true", "multiple", "$x", "date", "7", "", "Ж 1", "x" * 300]),
    max_size=5,
)
_TAGS = st.sampled_from(
    [
        *("View", "Choices", "Choice", "Labels", "Label", "TextArea", "Rating", "DateTime"),
        *("Image", "Number", "RectangleLabels", "Brush", "Taxonomy", "Header", "Audio"),
        *("Repeater", "Other"),
    ]
)


def _reads(format_: str, content: Any) -> None:
    try:
        found = FORMATS[format_](content)
    except SchemaSourceError:
        return
    assert found.fields
    assert check_fields(found.fields) == found.fields
    assert all(warning.message for warning in found.warnings)


@QUICK
@given(st.sampled_from(sorted(FORMATS)), _JSON | st.text())
def test_any_json_and_any_text(format_: str, content: Any) -> None:
    _reads(format_, content)


@QUICK
@given(_SCHEMAS)
def test_anything_like_a_json_schema(content: Any) -> None:
    _reads("json_schema", content)


@QUICK
@given(
    st.recursive(
        st.builds(lambda tag, attributes: (tag, attributes, []), _TAGS, _ATTRIBUTES),
        lambda inner: st.builds(
            lambda tag, attributes, below: (tag, attributes, below),
            _TAGS,
            _ATTRIBUTES,
            st.lists(inner, max_size=4),
        ),
        max_leaves=15,
    )
)
def test_anything_like_a_labeling_configuration(tree: Any) -> None:
    _reads("label_studio", f"<View>{_xml(tree)}</View>")


def _xml(tree: Any) -> str:
    tag, attributes, below = tree
    written = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<{tag}{written}>{''.join(map(_xml, below))}</{tag}>"
