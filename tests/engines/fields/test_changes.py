"""What a new version of a schema changes, and what that breaks."""

from typing import Any

import pytest

from app.engines.fields import check_fields, compare


def fields(*members: dict[str, Any]) -> list[dict[str, Any]]:
    return check_fields([{"key": "a", "type": "text", **each} for each in members])


def table(*columns: dict[str, Any]) -> list[dict[str, Any]]:
    return fields(
        {"type": "table", "columns": [{"key": "c", "type": "text", **c} for c in columns]}
    )


def options(*values: str) -> dict[str, Any]:
    return {"type": "choice", "options": [{"value": value} for value in values]}


@pytest.mark.parametrize(
    ("old", "new", "kind", "what", "breaking"),
    [
        ([{}], [], "removed", "field", True),
        ([], [{}], "added", "field", False),
        ([], [{"required": True}], "added", "field", True),
        ([{}], [{"required": True}], "changed", "required", True),
        ([{"required": True}], [{}], "changed", "required", False),
        ([{"multiple": True}], [{}], "changed", "multiple", True),
        ([{}], [{"multiple": True}], "changed", "multiple", False),
        ([{}], [{"type": "email"}], "changed", "type", True),
        ([{}], [{"label": "New"}], "changed", "label", False),
        ([{}], [{"constraints": {"max_length": 5}}], "changed", "constraints", False),
        ([{}], [{"description": "x"}], "changed", "description", False),
        ([{}], [{"ai_assist": False}], "changed", "ai_assist", False),
        ([options("x", "y")], [options("y")], "changed", "options", True),
        ([options("x")], [options("x", "y")], "changed", "options", False),
        ([options("x", "y")], [options("y", "x")], "changed", "options", False),
    ],
)
def test_one_change(
    old: list[dict[str, Any]], new: list[dict[str, Any]], kind: str, what: str, breaking: bool
) -> None:
    (change,) = compare(fields(*old), fields(*new))
    assert (change.kind, change.key, change.what, change.breaking) == (kind, "a", what, breaking)


@pytest.mark.parametrize(
    ("old", "new", "key", "what", "breaking"),
    [
        ([{}, {"key": "d"}], [{}], "a.d", "column", True),
        ([{}], [{}, {"key": "d"}], "a.d", "column", False),
        ([{}], [{}, {"key": "d", "required": True}], "a.d", "column", True),
        ([{}], [{"required": True}], "a.c", "required", True),
        ([{}], [{"type": "date"}], "a.c", "type", True),
        ([{"multiple": True}], [{}], "a.c", "multiple", True),
        ([options("x", "y")], [options("x")], "a.c", "options", True),
    ],
)
def test_one_change_in_a_table(
    old: list[dict[str, Any]], new: list[dict[str, Any]], key: str, what: str, breaking: bool
) -> None:
    (change,) = compare(table(*old), table(*new))
    assert (change.key, change.what, change.breaking) == (key, what, breaking)


def test_a_new_type_says_nothing_of_what_hangs_on_it() -> None:
    (change,) = compare(table({}), fields({}))
    assert (change.what, change.before, change.after) == ("type", "table", "text")


def test_a_new_table_with_required_columns_breaks_nothing() -> None:
    (change,) = compare([], table({"required": True}))
    assert not change.breaking


def test_several_changes_and_their_json() -> None:
    old = fields({"key": "gone"}, {"key": "kept", "required": True}, options("x") | {"key": "pick"})
    new = fields(options("y") | {"key": "pick"}, {"key": "kept", "label": "K"}, {"key": "new"})
    changes = compare(old, new)
    assert [(change.kind, change.key, change.what) for change in changes] == [
        ("removed", "gone", "field"),
        ("changed", "pick", "options"),
        ("changed", "kept", "label"),
        ("changed", "kept", "required"),
        ("added", "new", "field"),
    ]
    assert changes[2].as_dict() == {
        "kind": "changed",
        "key": "kept",
        "breaking": False,
        "what": "label",
        "from": "Kept",
        "to": "K",
    }
    assert compare(new, new) == []
