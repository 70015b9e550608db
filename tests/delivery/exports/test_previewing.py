"""The first rows of an export, without a job."""

from typing import Any
from uuid import UUID

import orjson
import pytest

from app.delivery.exports.queries import previews
from app.delivery.exports.queries.rows import LineWriter
from app.delivery.exports.service import previewing
from app.workflow.tag_sets.models import TagSetRevision
from tests.delivery.exports.conftest import read_answer
from tests.factories.labels import make_labeled


def _preview(exports: Any, status: int = 200, **body: Any) -> dict[str, Any]:
    return read_answer(exports.api.post("/exports/preview", {"format": "jsonl", **body}), status)


def test_the_preview_is_the_beginning_of_the_file(exports: Any) -> None:
    make_labeled(exports.org, 12)
    preview = _preview(exports, limit=5)
    assert (preview["count"], preview["count_is_exact"], len(preview["rows"])) == (12, True, 5)
    content = exports.export_file()
    assert [orjson.loads(line) for line in content.splitlines()][:5] == preview["rows"]
    assert content.decode().startswith(preview["content"])
    assert len(_preview(exports)["rows"]) == 10


def test_a_preview_creates_nothing(exports: Any) -> None:
    make_labeled(exports.org, 1)
    _preview(exports, filter={"decided_after": "2020-01-01T00:00:00Z"})
    assert exports.api.get("/exports").json["meta"]["total"] == 0
    assert exports.list_events("export.requested") == []
    sql = "SELECT FROM watermarks WHERE organization_id = :org"
    assert exports.sql(sql, org=exports.org.id) == []


def test_text_formats_have_content_and_binary_ones_rows_only(exports: Any) -> None:
    make_labeled(exports.org, 2)
    table = _preview(exports, format="csv", options={"delimiter": ";"})["content"]
    assert table.startswith("tag_set_id;status;")
    assert len(table.splitlines()) == 3
    workbook = _preview(exports, format="xlsx")
    assert (workbook["content"], len(workbook["rows"])) == (None, 2)


@pytest.mark.parametrize("tags", ["accepted", "final", "latest", "all"])
def test_the_count_is_that_of_the_export(exports: Any, tags: str) -> None:
    labeled = make_labeled(exports.org, 4)
    exports.label(labeled.schema_id, [], status="submitted")
    body = {"filter": {"schema_id": str(labeled.schema_id)}, "include": {"tags": tags}}
    preview = _preview(exports, **body)
    assert preview["count"] == exports.make(**body)["row_count"]
    assert preview["count_is_exact"] is True


def test_a_number_that_no_counter_covers_is_bounded(
    exports: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_labeled(exports.org, 4)
    monkeypatch.setattr(previews, "MAX_COUNTED", 3)
    preview = _preview(exports, include={"tags": "latest"})
    assert (preview["count"], preview["count_is_exact"]) == (3, False)


def test_rows_are_left_out_when_the_preview_becomes_large(
    exports: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    labeled = make_labeled(exports.org, 1)
    for _ in range(3):
        exports.label(labeled.schema_id, [], text="words " * 100)
    monkeypatch.setattr(previewing, "MAX_BYTES", 2000)
    preview = _preview(exports, include={"text": True})
    assert (preview["count"], 1 <= len(preview["rows"]) < 4) == (4, True)


@pytest.fixture
def lines_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each line that a preview reads from PostgreSQL is appended."""
    read: list[str] = []

    class Writer(LineWriter):
        def write_values(
            self, row_json: bytes, version_id: bytes | None, tags: bytes | None
        ) -> None:
            read.append(row_json.decode())
            super().write_values(row_json, version_id, tags)

    monkeypatch.setattr(previews, "LineWriter", Writer)
    return read


def test_no_more_texts_are_read_than_the_preview_shows(
    exports: Any, schema_id: UUID, lines_read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        exports.label(schema_id, [], text="words " * 100)
    monkeypatch.setattr(previewing, "MAX_BYTES", 3000)
    preview = _preview(exports, include={"text": True})
    assert (len(preview["rows"]), len(lines_read)) == (2, 3)
    monkeypatch.setattr(previewing, "MAX_BYTES", 100)
    lines_read.clear()
    preview = _preview(exports, include={"text": True})
    assert (len(preview["rows"]), len(lines_read)) == (1, 2)
    assert preview["rows"][0]["text"] == "words " * 100


def test_no_more_revisions_are_read_than_the_preview_shows(
    exports: Any, schema_id: UUID, lines_read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        tag_set_id = exports.label(schema_id, [])
        for number in range(1, 31):
            exports.add(
                TagSetRevision(tag_set_id=tag_set_id, number=number, tags=[], note="n" * 200)
            )
    complete = _preview(exports, include={"history": True})
    assert [len(row["history"]) for row in complete["rows"]] == [30, 30]
    lines_read.clear()
    monkeypatch.setattr(previewing, "MAX_BYTES", 4000)
    (row,) = _preview(exports, include={"history": True})["rows"]
    assert row == {**complete["rows"][0], "history": row["history"]}
    kept = len(row["history"])
    assert 5 < kept < 15
    assert row["history"] == complete["rows"][0]["history"][:kept]
    assert len(lines_read) == kept + 2
    # The first row fits, but the history of the second row does not.
    size = len(orjson.dumps(complete["rows"][0]))
    monkeypatch.setattr(previewing, "MAX_BYTES", size + 2000)
    assert _preview(exports, include={"history": True})["rows"] == complete["rows"][:1]


def test_no_more_removed_tag_sets_are_read_than_the_preview_shows(
    exports: Any, schema_id: UUID, lines_read: list[str]
) -> None:
    kept, *removed = (exports.label(schema_id, []) for _ in range(6))
    for tag_set_id in removed:
        exports.reopen(tag_set_id)
    body = {"filter": {"decided_after": "2020-01-01T00:00:00Z"}, "include": {"removed": True}}
    preview = _preview(exports, limit=3, **body)
    assert [row["tag_set_id"] for row in preview["rows"]] == [kept, *removed[:2]]
    assert (preview["count"], len(lines_read)) == (6, 3)
    assert [row["tag_set_id"] for row in _preview(exports, **body)["rows"]] == [kept, *removed]


def test_an_empty_selection_is_an_empty_valid_file(exports: Any) -> None:
    assert _preview(exports)["content"] == ""
    preview = _preview(exports, format="json")
    assert (preview["count"], preview["rows"], orjson.loads(preview["content"])) == (0, [], [])


def test_invalid_requests_are_refused_as_in_an_export(exports: Any) -> None:
    assert _preview(exports, 400, format="nothing")["field"] == "format"
    missing = "00000000-0000-7000-8000-000000000000"
    assert _preview(exports, 400, filter={"schema_id": missing})["field"] == "filter.schema_id"
    assert _preview(exports, 422, limit=51)["field"] == "limit"
    assert _preview(exports, 400, options={"no": 1})["field"] == "options.no"
