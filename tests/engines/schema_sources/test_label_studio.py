"""The conversion of labeling configuration tags to fields and warnings."""

from typing import Any

import pytest

from app.engines.schema_sources.label_studio.reader import read_label_studio
from app.engines.schema_sources.model import SchemaSourceError, SourceSchema

TEXT = '<Text name="t" value="$t"/>'
LONG = "z" * 201
IMAGE = '<Image name="i" value="$i"/>'


def _read(inside: str) -> SourceSchema:
    return read_label_studio(f"<View>{inside}</View>")


def _list_messages(found: SourceSchema) -> dict[str, str]:
    return {warning.path: warning.message for warning in found.warnings}


@pytest.mark.parametrize(
    ("tag", "kind", "constraints"),
    [
        ('<TextArea name="a" toName="t"/>', "text", {}),
        ('<Number name="a" toName="t" min="0" max="9.5"/>', "number", {"min": 0, "max": 9.5}),
        ('<Rating name="a" toName="t"/>', "integer", {"min": 1, "max": 5}),
        ('<Rating name="a" toName="t" maxRating="7"/>', "integer", {"min": 1, "max": 7}),
        ('<DateTime name="a" toName="t"/>', "datetime", {}),
        ('<DateTime name="a" toName="t" only="date,time"/>', "datetime", {}),
        (
            '<DateTime name="a" toName="t" only="date" min="2020-01-31"/>',
            "date",
            {"min": "2020-01-31"},
        ),
        ('<DateTime name="a" toName="t" only="date, month, year"/>', "date", {}),
        ('<DateTime name="a" toName="t" only="time"/>', "time", {}),
        ('<DateTime name="a" toName="t" only="year"/>', "integer", {}),
        ('<Rectangle name="a" toName="i"/>', "region", {}),
    ],
)
def test_a_control_becomes_a_field(tag: str, kind: str, constraints: dict[str, Any]) -> None:
    found = _read(TEXT + tag)
    (field,) = found.fields
    assert (field["key"], field["type"], field["constraints"]) == ("a", kind, constraints)
    assert found.warnings == []


def test_choices_are_single_or_multiple_with_their_hints() -> None:
    options = (
        '<Choice value="Good" hint="If so"/><View><Choice value="Bad one" alias="bad"/></View>'
    )
    single, several = _read(
        f'<Choices name="tone" toName="t" required="true">{options}</Choices>'
        f'<Choices name="tone" toName="t" choice="multiple">{options}</Choices>'
    ).fields
    assert (single["key"], single["required"], single["multiple"]) == ("tone", True, False)
    assert single["description"] == "- Good: If so"
    assert single["options"] == [
        {"value": "Good", "label": "Good"},
        {"value": "bad", "label": "Bad one"},
    ]
    assert (several["key"], several["required"], several["multiple"]) == ("tone_2", False, True)


@pytest.mark.parametrize("tag", ["Choices", "Taxonomy"])
def test_choices_within_choices_become_paths(tag: str) -> None:
    tree = '<Choice value="A"><Choice value="B"><Choice value="C"/></Choice></Choice>'
    (field,) = _read(f'<{tag} name="x" toName="t">{tree}<Choice value="D"/></{tag}>').fields
    assert [o["value"] for o in field["options"]] == ["A", "A / B", "A / B / C", "D"]
    assert field["multiple"] is (tag == "Taxonomy")


def test_invalid_options_cause_a_warning() -> None:
    choices = '<Choice value="a"/><Choice value="a"/><Choice/>'
    found = _read(
        f'<Choices name="x" toName="t">{choices}<Choice value="{"y" * 300}"/></Choices>'
        '<Choices name="dynamic" toName="t" value="$options"/>'
        f'<Choices name="many" toName="t">{_numbered(1001)}</Choices>'
    )
    messages = [warning.message for warning in found.warnings]
    assert [len(field["options"]) for field in found.fields] == [2, 0, 0]
    assert [field["type"] for field in found.fields] == ["choice", "text", "text"]
    assert sum("appears twice" in message for message in messages) == 1
    assert sum("without a value" in message for message in messages) == 1
    assert sum("was truncated" in message for message in messages) == 1
    assert sum("come with each task" in message for message in messages) == 1
    assert sum("more than 1,000" in message for message in messages) == 1


def _numbered(count: int) -> str:
    return "".join(f'<Choice value="{number}"/>' for number in range(count))


@pytest.mark.parametrize(
    ("tag", "shown", "kind"),
    [
        ("Labels", TEXT, "span"),
        ("HyperTextLabels", '<HyperText name="t" value="$t"/>', "span"),
        ("ParagraphLabels", '<Paragraphs name="t" value="$t"/>', "span"),
        ("Labels", "", "span"),
        ("Labels", '<Image name="t" value="$t"/>', "region"),
        ("RectangleLabels", '<Image name="t" value="$t"/>', "region"),
        ("PolygonLabels", '<Pdf name="t" value="$t"/>', "region"),
    ],
)
def test_each_label_is_a_field(tag: str, shown: str, kind: str) -> None:
    labels = '<Label value="Straße №1" hint="Which"/><Label value="日付"/><Label value="👍"/>'
    found = _read(f'{shown}<{tag} name="x" toName="t">{labels}</{tag}>')
    assert [(f["key"], f["label"], f["type"], f["multiple"]) for f in found.fields] == [
        ("strasse_no1", "Straße №1", kind, True),
        ("ri_fu", "日付", kind, True),
        ("label", "👍", kind, True),
    ]
    assert found.fields[0]["description"] == "Which"
    assert any("bounding box" in message for message in _list_messages(found).values()) is (
        tag == "PolygonLabels"
    )


def test_labels_with_the_same_name_get_numbers() -> None:
    labels = '<Label value="Name"/><Label value="name"/>'
    found = _read(f'<Labels name="a" toName="t">{labels}</Labels>' * 2)
    assert [f["key"] for f in found.fields] == ["name", "name_2", "name_3", "name_4"]
    assert "already has the key name" in _list_messages(found)["Labels[a].Label[name]"]


def test_labels_of_recordings_are_left_out() -> None:
    found = _read(
        '<Audio name="s" value="$s"/><Labels name="x" toName="s"><Label value="A"/></Labels>'
        '<TextArea name="words" toName="s"/>'
    )
    assert [field["key"] for field in found.fields] == ["words"]
    assert _list_messages(found).keys() == {"Audio[s]", "Labels[x]"}


def test_a_tool_draws_for_the_labels_of_its_object() -> None:
    tool = '<Polygon name="shape" toName="i"/>'
    labels = '<Labels name="x" toName="i"><Label value="A"/></Labels>'
    found = _read(IMAGE + labels + tool)
    assert [(f["key"], f["type"]) for f in found.fields] == [("a", "region")]
    assert "bounding box" in _list_messages(found)["Polygon[shape]"]
    assert [f["key"] for f in _read(IMAGE + tool).fields] == ["shape"]


def test_headings_become_descriptions_or_guidelines() -> None:
    found = _read(
        '<Header value="Look closely"/><Header value="Which tone?"/>'
        '<View><Choices name="tone" toName="t"><Choice value="a"/></Choices></View>'
        '<Header value="$title"/><TextArea name="why" toName="t" placeholder="In a few words"/>'
        '<Header value="Thanks"/>'
    )
    assert [f["description"] for f in found.fields] == ["Which tone?", "In a few words"]
    assert found.guidelines == "Look closely\n\nThanks"


def test_conditionally_required_fields_are_not_required() -> None:
    found = _read(
        '<TextArea name="a" toName="t" required="true" perRegion="true"/>'
        '<View visibleWhen="choice-selected"><Number name="b" toName="t" required="true"/></View>'
        '<Labels name="l" toName="t" required="true"><Label value="c"/><Label value="d"/></Labels>'
        '<Labels name="m" toName="t" required="true"><Label value="e" maxUsages="1"/></Labels>'
    )
    required = {field["key"]: (field["required"], field["multiple"]) for field in found.fields}
    assert required == {
        "a": (False, True),
        "b": (False, False),
        "c": (False, True),
        "d": (False, True),
        "e": (True, False),
    }
    paths = [warning.path for warning in found.warnings]
    assert paths == [*["TextArea[a]"] * 2, *["Number[b]"] * 2, "Labels[l]"]


@pytest.mark.parametrize(
    ("tag", "part"),
    [
        ('<Pairwise name="x" toName="a,b"/>', "Comparing"),
        ('<Ranker name="x" toName="a"/>', "Ranking"),
        ('<Relations><Relation value="r"/></Relations>', "Linking"),
        (
            '<TimeSeriesLabels name="x" toName="a"><Label value="z"/></TimeSeriesLabels>',
            "recordings",
        ),
        ('<VideoRectangle name="x" toName="a"/>', "recordings"),
        ('<Repeater on="$x"><TextArea name="y" toName="a"/></Repeater>', "imported once"),
        ('<Widget name="x"/>', "is unknown"),
        ('<Number name="x" toName="a" step="0.1"/>', "step"),
        ('<Number name="x" toName="a" min="low"/>', "minimum"),
        ('<DateTime name="x" toName="a" only="month"/>', "takes text"),
        ('<TextArea name="x" toName="a" value="$ocr"/>', "not used as a default"),
        ('<Labels name="x" toName="a"><Label value="$v"/></Labels>', "comes with each task"),
        ('<RectangleLabels name="x" toName="a" value="$v"/>', "come with each task"),
        (
            '<Choices name="x" toName="a"><Choice value="a" selected="true"/></Choices>',
            "preselection",
        ),
    ],
)
def test_unsupported_tags_cause_a_warning(tag: str, part: str) -> None:
    found = _read(tag + '<TextArea name="kept" toName="t"/>')
    assert "kept" in [field["key"] for field in found.fields]
    assert any(part in message for message in _list_messages(found).values()), found.warnings


def test_layout_and_object_tags_cause_no_warning() -> None:
    found = _read(
        '<Style>.a { color: red }</Style><Collapse><Panel value="P"><View style="x">'
        f'{TEXT}{IMAGE}<TextArea name="a" toName="t"/></View></Panel></Collapse><!-- note -->'
        "<![CDATA[ words ]]>"
    )
    assert found.warnings == []


@pytest.mark.parametrize(
    "content",
    [
        {},
        "",
        "<View>",
        "<View></View>",
        "<view/>",
        "<html><View/></html>",
        f"<View>{TEXT}</View>",
        "no XML at all",
        "<View>\x00</View>",
        "<View>\ud800</View>",
        "<View>&nbsp;</View>",
        '<View a="1" a="2"/>',
        "<View/><View/>",
    ],
)
def test_invalid_configurations_are_rejected(content: object) -> None:
    with pytest.raises(SchemaSourceError) as refused:
        read_label_studio(content)
    assert refused.value.path == ""


def test_more_labels_than_the_field_limit_are_rejected() -> None:
    labels = "".join(f'<Label value="l{number}"/>' for number in range(501))
    with pytest.raises(SchemaSourceError, match="more than 500"):
        _read(f'<Labels name="x" toName="t">{labels}</Labels>')


@pytest.mark.parametrize(
    ("inner", "path"),
    [
        ('<Choices name="c"><Choice value="a"/><Number name="n"/></Choices>', "Choices[c]"),
        (
            '<Labels name="l"><Label value="A"/><View><Rating name="r"/></View></Labels>',
            "Labels[l]",
        ),
        ('<Number name="n"/><Choice value="a"/>', "Choice[]"),
        ('<Number name="n"/><Label value="a"/>', "Label[]"),
        ('<Taxonomy name="t" maxUsages="3"><Choice value="a"/></Taxonomy>', "Taxonomy[t]"),
        ('<TextArea name="t" maxSubmissions="3"/>', "TextArea[t]"),
        ('<Labels name="l" maxUsages="3"><Label value="A"/></Labels>', "Labels[l].Label[A]"),
        (
            '<Choices name="c" choice="multiple"><Choice value="a" exclusive="true"/></Choices>',
            "Choices[c]",
        ),
        (f'<Labels name="l"><Label value="{LONG}"/></Labels>', f"Labels[l].Label[{LONG[:63]}…]"),
        (f'<Number name="{LONG}"/>', f"Number[{LONG[:63]}…]"),
        ('<Number name="n"/>' + "".join(f"<Header>{n}</Header>" for n in range(101)), "Header"),
    ],
)
def test_every_omission_causes_a_warning(inner: str, path: str) -> None:
    unique_warnings = {(warning.path, warning.message) for warning in _read(inner).warnings}
    assert [warning_path for warning_path, _ in unique_warnings] == [path]


def test_only_leaves_become_options_if_only_leaves_can_be_chosen() -> None:
    tree = '<Choice value="x"><Choice value="y"/></Choice><Choice value="z"/>'
    (field,) = _read(f'<Taxonomy name="t" leafsOnly="true">{tree}</Taxonomy>').fields
    assert [option["value"] for option in field["options"]] == ["x / y", "z"]
