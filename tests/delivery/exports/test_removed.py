"""Rows of accepted tag sets that were reopened or deleted."""

from typing import Any
from uuid import UUID

import orjson
import pytest
from sqlalchemy import text

from app.kit import db, tenancy
from tests.delivery.exports.conftest import read_answer
from tests.delivery.exports.test_periods import open_transaction, pause_before_commit

REOPEN = text("UPDATE tag_sets SET status = 'draft' WHERE id = CAST(:id AS uuid)")
LONG_AGO = "2020-01-01T00:00:00Z"


def _rows(exports: Any, since: str = LONG_AGO, format: str = "jsonl", **filters: Any) -> Any:  # noqa: A002
    body = {"filter": {"decided_after": since, **filters}, "include": {"removed": True}}
    export = exports.make(format, **body)
    rows = [orjson.loads(line) for line in exports.download_file(export["id"]).splitlines()]
    return rows, export


def test_reopened_and_deleted_tag_sets_are_exported(exports: Any, schema_id: UUID) -> None:
    kept, reopened, deleted = (exports.label(schema_id, []) for _ in range(3))
    document = exports.get_artifact(deleted).id
    first, export = _rows(exports)
    assert [row["tag_set_id"] for row in first] == [kept, reopened, deleted]
    exports.reopen(reopened)
    assert exports.org.api("admin").delete(f"/artifacts/{document}").status_code in (200, 204)
    second, again = _rows(exports, export["filter"]["decided_before"])
    assert {(row["tag_set_id"], row["status"]) for row in second} == {
        (reopened, "removed"),
        (deleted, "removed"),
    }
    gone = next(row for row in second if row["tag_set_id"] == deleted)
    assert gone["artifact"] == {"id": str(document)}
    assert gone["schema"]["id"] == str(schema_id)
    assert (gone["labels"], gone["labeler_id"]) == ({}, None)
    assert export["filter"]["decided_before"] <= gone["decided_at"]
    manifest = exports.api.get(f"/exports/{again['id']}/manifest").json["data"]
    assert (manifest["row_count"], manifest["removed_count"]) == (2, 2)
    assert _rows(exports, again["filter"]["decided_before"])[0] == []


def test_a_tag_set_that_was_accepted_again_is_no_removed_one(exports: Any, schema_id: UUID) -> None:
    tag_set = exports.label(schema_id, [])
    _, export = _rows(exports)
    exports.reopen(tag_set)
    exports.sql(
        "UPDATE tag_sets SET status = 'accepted', decided_at = now() WHERE id = :id", id=tag_set
    )
    rows, _ = _rows(exports, export["filter"]["decided_before"])
    assert [(row["tag_set_id"], row["status"]) for row in rows] == [(tag_set, "accepted")]


def test_filters_apply_to_removed_ones(exports: Any, schema_id: UUID) -> None:
    tag_set = exports.label(schema_id, [])
    other = str(exports.workspace.schema())
    exports.reopen(tag_set)
    assert _rows(exports, schema_id=other)[0] == []
    labeler = str(exports.org.users["labeler"])
    rows, _ = _rows(exports, schema_id=str(schema_id), labeler_id=labeler)
    assert [row["tag_set_id"] for row in rows] == [tag_set]


@pytest.mark.parametrize("format_id", ["json", "csv", "xlsx", "parquet"])
def test_every_format_that_can_contain_them_is_written(
    exports: Any, schema_id: UUID, format_id: str
) -> None:
    tag_set = exports.label(schema_id, [])
    exports.reopen(tag_set)
    body = {"filter": {"decided_after": LONG_AGO}, "include": {"removed": True}}
    export = exports.make(format_id, **body)
    assert export["row_count"] == 1


def test_only_suitable_exports_contain_them(exports: Any) -> None:
    def refuse(**body: Any) -> str:
        answer = exports.api.post("/exports", {"format": "jsonl", **body})
        return str(read_answer(answer, 400)["field"])

    period = {"decided_after": LONG_AGO}
    assert refuse(include={"removed": True}) == "include.removed"
    latest = {"removed": True, "tags": "latest"}
    assert refuse(include=latest, filter=period) == "include.removed"
    both = {**period, "created_before": "2030-01-01T00:00:00Z"}
    assert refuse(include={"removed": True}, filter=both) == "include.removed"
    tasks = {"format": "label_studio", "include": {"removed": True}, "filter": period}
    assert refuse(**tasks) == "include.removed"


def test_a_removal_that_commits_late_is_in_the_next_period(exports: Any, schema_id: UUID) -> None:
    tag_set = exports.label(schema_id, [])
    _, export = _rows(exports)

    def reopen(*before_commit: Any) -> None:
        with open_transaction(exports, *before_commit) as session:
            session.execute(REOPEN, {"id": tag_set})

    # Its time is set, and it commits only after the next period.
    with pause_before_commit(reopen):
        rows, export = _rows(exports, export["filter"]["decided_before"])
        assert rows == []
    rows, _ = _rows(exports, export["filter"]["decided_before"])
    assert [row["tag_set_id"] for row in rows] == [tag_set]


def test_an_organization_is_erased_with_its_removed_tag_sets(exports: Any, schema_id: UUID) -> None:
    tag_set = exports.label(schema_id, [])
    exports.reopen(tag_set)
    exports.label(schema_id, [])
    everything = tenancy.across_organizations(reason="a test deletes an organization's rows")
    with exports.org.app.app_context(), everything, db.transaction() as session:
        values = {"org": exports.org.id}
        session.execute(text("DELETE FROM tag_sets WHERE organization_id = :org"), values)
        count = "SELECT count(*) FROM removed_tag_sets WHERE organization_id = :org"
        assert session.execute(text(count), values).scalar_one() == 2
