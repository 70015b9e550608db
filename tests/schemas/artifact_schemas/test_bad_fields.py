"""Fields that nobody should get away with, over HTTP."""

from typing import Any

import pytest

from tests.factories import Org

TEXT = {"key": "a", "type": "text"}


def _nested(depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = TEXT
    for _ in range(depth):
        inner = {"key": "a", "type": "table", "columns": [inner]}
    return inner


def _pattern(pattern: str) -> dict[str, Any]:
    return {**TEXT, "constraints": {"pattern": pattern}}


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ([{"key": f"f{n}", "type": "text"} for n in range(2000)], 422),
        ([_nested(20)], 400),
        ([_nested(2)], 400),
        ([{**_nested(1), "key": f"t{n}"} for n in range(501)], 422),
        ([_pattern("(?=a)b")], 400),
        ([_pattern(r"(a)\1")], 400),
        ([_pattern("((a{1,100}){1,100}){1,100}")], 400),
        ([_pattern("x" * 1001)], 400),
    ],
)
def test_fields_that_are_too_much_are_refused(org: Org, fields: list[Any], status: int) -> None:
    answer = org.api("admin").post("/schemas", {"name": "x", "fields": fields})
    assert answer.status_code == status
    assert answer.json["error"]["field"].startswith("fields")
    assert org.api("admin").get("/schemas").json["meta"]["total"] == 0


def test_twenty_tables_beside_one_another_are_fine(org: Org) -> None:
    fields = [{**_nested(1), "key": f"t{n}"} for n in range(20)]
    assert org.api("admin").post("/schemas", {"name": "x", "fields": fields}).status_code == 201


def test_half_a_surrogate_pair_is_refused(org: Org) -> None:
    raw = b'{"name": "x", "fields": [{"key": "a", "type": "text", "label": "\\ud800"}]}'
    headers = {"Content-Type": "application/json"}
    answer = org.api("admin").request("POST", "/schemas", data=raw, headers=headers)
    assert answer.status_code == 422
