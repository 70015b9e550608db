"""Conversion of labels from other tools to tags: names, options, offsets."""

from typing import Any

import pytest

from app.engines.fields import check_fields
from app.engines.imports.marks import Mark, MarkConverter, MarkError, SpanMark, ValueMark
from app.engines.schema_sources.label_studio.reader import read_label_studio

_CONFIG = """
<View>
  <Text name="text" value="$text"/>
  <Labels name="ner" toName="text">
    <Label value="Vendor Name"/><Label value="Größe" alias="size"/>
  </Labels>
  <Choices name="docType" toName="text" choice="single">
    <Choice value="Purchase order"/><Choice value="Invoice" alias="inv"/>
  </Choices>
  <TextArea name="note" toName="text" maxSubmissions="3"/>
  <Number name="pages" toName="text"/>
</View>
"""


@pytest.fixture(scope="module")
def names() -> MarkConverter:
    """Return the field names for the schema imported from a Label Studio configuration."""
    return MarkConverter(check_fields(read_label_studio(_CONFIG).fields))


@pytest.mark.parametrize(
    ("mark", "tag"),
    [
        (SpanMark("Vendor Name", 0, 4, "ner"),
         {"field": "vendor_name", "evidence": [{"start": 0, "end": 4}]}),
        (SpanMark("size", 5, 6), {"field": "size", "evidence": [{"start": 5, "end": 6}]}),
        (SpanMark("Größe", 5, 6), {"field": "size", "evidence": [{"start": 5, "end": 6}]}),
        (ValueMark("inv", "docType"), {"field": "doc_type", "value": "inv"}),
        (ValueMark("Invoice", "docType"), {"field": "doc_type", "value": "inv"}),
        (ValueMark("Unknown", "docType"), {"field": "doc_type", "value": "Unknown"}),
        (ValueMark("Purchase order"), {"field": "doc_type", "value": "Purchase order"}),
        (ValueMark("anything else"), {"field": "note", "value": "anything else"}),
        (ValueMark("three", "note"), {"field": "note", "value": "three"}),
        (ValueMark(3, "pages"), {"field": "pages", "value": 3}),
    ],
)  # fmt: skip
def test_a_mark_becomes_a_tag(names: MarkConverter, mark: Mark, tag: dict[str, Any]) -> None:
    assert names.build_tags([mark], "Acme Ltd") == [tag]


@pytest.mark.parametrize(
    ("mark", "reason"),
    [
        (SpanMark("Person", 0, 4, "ner"), "no span field `Person`"),
        (SpanMark("doc type", 0, 4), "no span field"),
        (ValueMark("x", "unknown"), "no field `unknown`"),
        (ValueMark("x", "vendor_name"), "no field `vendor_name`"),
        (SpanMark("size", 0, 4, text="Acma"), "from 0 to 4 is not `Acma`"),
        (SpanMark("size", 90, 95, text="Acme"), "from 90 to 95 exceeds the text"),
        (SpanMark("size", 5, 9), "from 5 to 9 exceeds the text"),
    ],
)
def test_a_mark_that_does_not_fit(names: MarkConverter, mark: Mark, reason: str) -> None:
    with pytest.raises(MarkError, match=reason):
        names.build_tags([mark], "Acme Ltd")


@pytest.mark.parametrize(
    ("labels", "keys"),
    [
        (("时间", "事件"), ("shi_jian", "shi_jian_2")),
        (("C", "C++", "C#"), ("c", "c_2", "c_3")),
    ],
)
def test_labels_with_the_same_name_in_snake_case_keep_their_fields(
    labels: tuple[str, ...], keys: tuple[str, ...]
) -> None:
    options = "".join(f'<Label value="{label}"/>' for label in labels)
    config = f'<View><Text name="t"/><Labels name="n" toName="t">{options}</Labels></View>'
    names = MarkConverter(check_fields(read_label_studio(config).fields))
    tags = names.build_tags([SpanMark(label, 0, 4) for label in labels], "Acme Ltd")
    assert tuple(tag["field"] for tag in tags) == keys


def test_a_label_that_several_fields_match_is_refused() -> None:
    fields = [
        {"key": "time", "label": "时间", "type": "span"},
        {"key": "event", "label": "事件", "type": "span"},
    ]
    names = MarkConverter(check_fields(fields))
    with pytest.raises(MarkError, match=r"Several fields .* `shi jian`: `time`, `event`"):
        names.build_tags([SpanMark("shi jian", 0, 4)], "Acme Ltd")
    # Without a control, no field of this name is meant.
    other = MarkConverter(check_fields([{"key": "label", "label": "Label", "type": "span"}]))
    with pytest.raises(MarkError, match="no span field `Person`"):
        other.build_tags([SpanMark("Person", 0, 4)], "Acme Ltd")


def test_a_category_needs_an_option_or_the_only_text_field() -> None:
    choice = {"key": "a", "label": "A", "type": "choice", "options": [{"value": "x", "label": "X"}]}
    names = MarkConverter(check_fields([choice]))
    assert names.build_tags([ValueMark("X")], "") == [{"field": "a", "value": "x"}]
    with pytest.raises(MarkError, match="No field of the schema has the option `y`"):
        names.build_tags([ValueMark("y")], "")


def test_a_control_finds_the_span_field_of_all_its_labels() -> None:
    names = MarkConverter(check_fields([{"key": "ner", "label": "Ner", "type": "span"}]))
    (tag,) = names.build_tags([SpanMark("from the task", 0, 4, "ner")], "Acme Ltd")
    assert tag["field"] == "ner"


@pytest.mark.parametrize(
    ("text", "mark", "place"),
    [
        ("😀 Acme Ltd", SpanMark("size", 2, 6, text="Acme"), (2, 6)),
        ("😀 Acme Ltd", SpanMark("size", 3, 7, text="Acme"), (2, 6)),
        ("one\ntwo", SpanMark("size", 0, 7, text="one\\ntwo"), (0, 7)),
        ("one  two", SpanMark("size", 0, 8, text="one two"), (0, 8)),
    ],
)
def test_offsets_lead_to_the_exported_text(
    names: MarkConverter, text: str, mark: SpanMark, place: tuple[int, int]
) -> None:
    (tag,) = names.build_tags([mark], text)
    assert tag["evidence"] == [{"start": place[0], "end": place[1]}]


def test_all_spans_of_a_document_count_in_one_unit(names: MarkConverter) -> None:
    text = "😀 aaaa Acme"
    # In code points, the first span would also match, one letter too far to the right.
    marks = [SpanMark("size", 3, 5, text="aa"), SpanMark("size", 8, 12, text="Acme")]
    evidence = [tag["evidence"][0] for tag in names.build_tags(marks, text)]
    assert evidence == [{"start": 2, "end": 4}, {"start": 7, "end": 11}]
    with pytest.raises(MarkError, match="from 3 to 7 is not `none`"):
        names.build_tags([*marks, SpanMark("size", 3, 7, text="none")], text)


@pytest.mark.parametrize("text", ["a😀b😀😀c", "😀a", "a😀", "no pairs", "x😀\n\n😀 x"])
def test_offsets_in_utf16_become_code_points(names: MarkConverter, text: str) -> None:
    starts = [len(text[:index].encode("utf-16-le")) // 2 for index in range(len(text) + 1)]
    pairs = [(i, j) for i in range(len(text)) for j in range(i + 1, len(text) + 1)]
    marks = [SpanMark("size", starts[i], starts[j], text=text[i:j]) for i, j in pairs]
    tags = names.build_tags(marks, text)
    assert [tag["evidence"] for tag in tags] == [[{"start": i, "end": j}] for i, j in pairs]
