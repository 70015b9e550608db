"""Which tags a draft takes, and how it refuses others."""

from typing import Any

import pytest

from app.engines.fields import compiled_fields
from tests.factories.errors import check_error, check_invalid_field
from tests.factories.labels import make_field
from tests.factories.workspace import FIELDS, Workspace, tag


@pytest.mark.parametrize(
    ("tags", "field"),
    [
        ([tag("number", "A"), tag("nope", "x")], "tags.1.field"),
        ([tag("number", "A"), tag("number", "B")], "tags.1.field"),
        ([tag("pages", "many")], "tags.0.value"),
        ([tag("pages", "9" * 40)], "tags.0.value"),
        ([tag("number", "A\x00")], "tags.0.value"),
        ([tag("number", None)], "tags.0.value"),
        ([tag("number", {"deep": {"er": [1]}})], "tags.0.value"),
        ([tag("total", {"amount": "1", "currency": "XXXX"})], "tags.0.value"),
        ([tag("lines.item", "x")], "tags.0.row"),
        ([tag("lines", "x")], "tags.0.field"),
        ([tag("number", "A", row=1)], "tags.0.row"),
        ([tag("number", "A", confidence=1.5)], "tags.0.confidence"),
        ([tag("number", "A", evidence=[{"page": 3}])], "tags.0.evidence.0.page"),
        (
            [tag("number", "A", evidence=[{"page": 1, "box": [0, 0, 2, 1]}])],
            "tags.0.evidence.0.box",
        ),
        ([tag("clause", "A", evidence=[{"start": 0, "end": 1001}])], "tags.0.evidence.0.end"),
        ([tag("clause", "A", evidence=[{"start": 5, "end": 5}])], "tags.0.evidence.0.end"),
        ([tag("number", "A", evidence=[{"text": "\x00"}])], "tags.0.evidence.0.text"),
        ([tag("note", "x")] * 5001, "tags"),
    ],
)  # fmt: skip
def test_tags_that_do_not_fit_are_named(tags: list[Any], field: str, workspace: Workspace) -> None:
    draft = workspace.draft()
    error = check_invalid_field(workspace.save(draft, tags), field)
    assert error["details"]["errors"][0]["field"] == field
    assert len(workspace.revisions(draft["id"])) == 1


def test_all_misfits_are_listed(workspace: Workspace) -> None:
    answer = workspace.save(
        workspace.draft(), [tag("pages", "x"), tag("number", "A"), tag("nope", 1)]
    )
    found = [e["field"] for e in answer.json["error"]["details"]["errors"]]
    assert found == ["tags.0.value", "tags.2.field"]


@pytest.mark.parametrize(
    ("member", "field"),
    [
        ("x", "tags.0"),
        ([], "tags.0"),
        ({"value": 1}, "tags.0.field"),
        ({"field": None}, "tags.0.field"),
        ({"field": 1}, "tags.0.field"),
        ({"field": "number", "row": "1"}, "tags.0.row"),
        ({"field": "number", "row": True}, "tags.0.row"),
        ({"field": "number", "confidence": "1"}, "tags.0.confidence"),
        ({"field": "number", "source": 1}, "tags.0.source"),
        ({"field": "number", "evidence": {}}, "tags.0.evidence"),
        ({"field": "number", "evidence": ["x"]}, "tags.0.evidence.0"),
        ({"field": "number", "evidence": [{"page": 1.5}]}, "tags.0.evidence.0.page"),
        ({"field": "number", "evidence": [{"note": 1}]}, "tags.0.evidence.0.note"),
        ({"field": "number", "colour": "red"}, "tags.0.colour"),
    ],
)
def test_tags_of_another_shape_are_unprocessable(
    member: Any, field: str, workspace: Workspace
) -> None:
    check_error(workspace.save(workspace.draft(), [member]), 422, "unprocessable", field=field)


def test_an_integer_may_be_written_as_a_float(workspace: Workspace) -> None:
    cell = tag("lines.item", "a", row=1.0, evidence=[{"start": 0.0, "end": 3.0}])
    (saved,) = workspace.save(workspace.draft(), [cell]).json["data"]["tags"]
    numbers = [saved["row"], saved["evidence"][0]["start"], saved["evidence"][0]["end"]]
    assert [(number, type(number)) for number in numbers] == [(1, int), (0, int), (3, int)]


def test_offsets_count_code_points(workspace: Workspace) -> None:
    # "😀 total" has seven code points, and eight UTF-16 units.
    draft = workspace.draft(workspace.artifact(text="😀 total"))
    good = tag("clause", "😀 total", evidence=[{"start": 0, "end": 7, "text": "😀 total"}])
    saved = workspace.save(draft, [good])
    assert saved.status_code == 200
    assert saved.json["data"]["tags"][0]["value"] == "😀 total"
    units = tag("clause", "😀 total", evidence=[{"start": 0, "end": 8}])
    check_invalid_field(workspace.save(saved.json["data"], [units]), "tags.0.evidence.0.end")


def test_half_a_surrogate_pair_is_no_text(workspace: Workspace) -> None:
    draft = workspace.draft()
    raw = b'{"revision": 1, "tags": [{"field": "number", "value": "\\ud83d"}]}'
    answer = workspace.org.api("labeler").request(
        "PUT", f"/tag-sets/{draft['id']}/tags", data=raw,
        headers={"Content-Type": "application/json"},
    )  # fmt: skip
    assert answer.status_code == 422


def test_five_thousand_tags(workspace: Workspace) -> None:
    draft = workspace.draft()
    tags = [tag("note", f"n{i}", evidence=[{"start": i % 900, "end": i % 900 + 1}])
            for i in range(5000)]  # fmt: skip
    saved = workspace.save(draft, tags).json["data"]
    assert saved["tag_count"] == 5000
    assert saved["tags"][4999]["value"] == "n4999"
    (listed,) = workspace.org.api("reviewer").get("/tag-sets").json["data"]
    assert listed["tag_count"] == 5000
    assert listed["tags"] is None
    (alone,) = workspace.org.api("reviewer").get("/tag-sets?page_size=1").json["data"]
    assert len(alone["tags"]) == 5000


def test_rows_and_columns_of_a_table(workspace: Workspace) -> None:
    tags = [tag("lines.item", "a", row=0), tag("lines.item", "b", row=1)]
    saved = workspace.save(workspace.draft(), tags).json["data"]
    assert [(t["field"], t["row"]) for t in saved["tags"]] == [("lines.item", 0), ("lines.item", 1)]


def test_a_field_of_another_schema_is_refused(workspace: Workspace) -> None:
    other = workspace.schema(fields=[*FIELDS, make_field("elsewhere", "text")])
    workspace.save(workspace.draft(workspace.artifact(other)), [tag("elsewhere", "x")])
    workspace.org.add_user("second", "labeler")
    answer = workspace.save(workspace.draft(by="second"), [tag("elsewhere", "x")], by="second")
    assert answer.json["error"]["field"] == "tags.0.field"


def test_ten_thousand_tags_are_refused_before_any_is_looked_at(workspace: Workspace) -> None:
    answer = workspace.save(workspace.draft(), [tag("nope", "x")] * 10_000)
    assert answer.status_code == 400
    assert answer.json["error"]["details"]["errors"] == [
        {"field": "tags", "message": "tags has more than 5,000 entries."}
    ]


def test_tags_that_take_too_long_to_check_are_refused(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = workspace.draft()
    monkeypatch.setattr(compiled_fields, "MAX_CHECK_SECONDS", 0.0)
    answer = workspace.save(draft, [tag("note", "x")] * 5000)
    assert answer.status_code == 400, answer.json
    error = answer.json["error"]
    assert (error["code"], error["field"]) == ("validation_error", "tags")
    assert error["message"] == (
        "tags take too long to check against their fields' patterns; "
        "send fewer tags, or simplify the patterns."
    )
    monkeypatch.undo()
    assert workspace.save(draft, [tag("note", "x")] * 5000).status_code == 200
