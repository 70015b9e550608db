"""Which label sets an export holds, and in what order."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from app.kit import db
from app.kit.ids import uuid7


@pytest.fixture
def tag_sets(exports: Any) -> dict[str, Any]:
    """Four label sets that differ in everything that a filter asks for."""
    first, second = exports.workspace.schema(), exports.workspace.schema()
    exports.org.add_user("anna", "labeler")
    start = db.utc_now() - timedelta(days=10)

    def day(number: int) -> datetime:
        return start + timedelta(days=number)

    one = exports.label(first, [], created_at=day(1), decided_at=day(5))
    two = exports.label(first, [], created_at=day(2), decided_at=day(4), status="rejected")
    anna = exports.org.users["anna"]
    three = exports.label(second, [], created_at=day(3), decided_at=day(6), labeler_id=anna)
    four = exports.label(second, [], created_at=day(4), status="submitted", labeler_id=anna)
    named = {"one": one, "two": two, "three": three, "four": four}
    return {**named, "first": first, "second": second, "day": day, "anna": anna}


def list_exported_names(exports: Any, tag_sets: dict[str, Any], **where: Any) -> list[str]:
    """The names of the label sets that a filter lets through."""
    names = {tag_sets[name]: name for name in ("one", "two", "three", "four")}
    body = {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in where.items()
    }
    tag_set_ids = exports.export_tag_set_ids(filter=body, include={"tags": "all"})
    return [names[one] for one in tag_set_ids]


def test_filters(exports: Any, tag_sets: dict[str, Any]) -> None:
    day = tag_sets["day"]
    assert list_exported_names(exports, tag_sets) == ["one", "two", "three", "four"]
    assert list_exported_names(exports, tag_sets, schema_id=str(tag_sets["first"])) == [
        "one",
        "two",
    ]
    assert list_exported_names(exports, tag_sets, statuses=["rejected", "submitted"]) == [
        "two",
        "four",
    ]
    assert list_exported_names(exports, tag_sets, labeler_id=str(tag_sets["anna"])) == [
        "three",
        "four",
    ]
    # A period has its start in it and its end not: periods that follow each other share nothing.
    assert list_exported_names(exports, tag_sets, created_after=day(2), created_before=day(4)) == [
        "two",
        "three",
    ]
    assert list_exported_names(exports, tag_sets, decided_after=day(5)) == ["one", "three"]
    assert list_exported_names(exports, tag_sets, decided_before=day(5)) == ["two"]
    documents = [str(exports.get_artifact(tag_sets[name]).id) for name in ("four", "one")]
    assert list_exported_names(exports, tag_sets, artifact_ids=documents) == ["one", "four"]
    both = {"artifact_ids": documents, "schema_id": str(tag_sets["second"])}
    assert list_exported_names(exports, tag_sets, **both) == ["four"]
    assert list_exported_names(exports, tag_sets, statuses=["draft"]) == []


def test_which_label_sets_of_a_document(exports: Any) -> None:
    schema_id = exports.workspace.schema()
    document, other = (exports.workspace.artifact(schema_id) for _ in range(2))
    now = db.utc_now()

    ids = [uuid7() for _ in range(5)]

    def label(status: str, minute: int, artifact_id: UUID = document) -> str:
        at = now + timedelta(minutes=minute)
        # The later, the smaller the id: it is the time that counts.
        about = {"id": ids[-minute], "artifact_id": artifact_id, "created_at": at}
        tag_set_id = exports.label(schema_id, [], status=status, **about)
        return str(tag_set_id)

    old = label("accepted", 1)
    refused = label("rejected", 2)
    elsewhere = label("accepted", 3, other)
    fresh = label("submitted", 4)
    assert exports.export_tag_set_ids() == [old, elsewhere]
    assert exports.export_tag_set_ids(include={"tags": "all"}) == [old, refused, elsewhere, fresh]
    assert exports.export_tag_set_ids(include={"tags": "latest"}) == [elsewhere, fresh]
    decided = {"statuses": ["accepted", "rejected"]}
    assert exports.export_tag_set_ids(include={"tags": "latest"}, filter=decided) == [
        refused,
        elsewhere,
    ]


def test_one_tag_set_stands_for_each_document(exports: Any) -> None:
    schema_id = exports.workspace.schema()
    now = db.utc_now()

    def label(minute: int, document: UUID, **members: Any) -> str:
        at = now + timedelta(minutes=minute)
        # The later it was decided, the earlier it was created.
        times = {"created_at": now - timedelta(minutes=minute), "decided_at": at}
        return str(exports.label(schema_id, [], artifact_id=document, **times, **members))

    merged, labeled, imported, refused = (exports.workspace.artifact(schema_id) for _ in range(4))
    merge = label(-3, merged, source="merge", labeler_id=None)
    label(-2, merged)
    label(-2, labeled)
    last = label(-1, labeled)
    label(-4, labeled, status="rejected", source="merge", labeler_id=None)
    only = exports.label(schema_id, [], artifact_id=imported, source="import", decided_at=None)
    label(-1, refused, status="rejected")
    assert sorted(exports.export_tag_set_ids(include={"tags": "final"})) == sorted(
        [merge, last, only]
    )
    # The filter chooses among those that stand; what it leaves out is not replaced.
    early = (now - timedelta(seconds=90)).isoformat()
    export = exports.make(filter={"decided_before": early}, include={"tags": "final"})
    assert exports.download_file(export["id"]).count(b"\n") == 1
    assert merge.encode() in exports.download_file(export["id"])
    csv = exports.make("csv", include={"tags": "final"})
    assert csv["row_count"] == 3
    refusal = {"filter": {"statuses": ["submitted"]}, "include": {"tags": "final"}}
    answer = exports.api.post("/exports", {"format": "jsonl", **refusal})
    assert (answer.status_code, answer.json["error"]["field"]) == (400, "filter.statuses")


def test_the_order_is_that_of_creation_then_of_ids(exports: Any) -> None:
    schema_id = exports.workspace.schema()
    now = db.utc_now()
    ids = [uuid7() for _ in range(6)]
    for position in (3, 1, 4, 0, 5, 2):
        at = now if position < 4 else now - timedelta(hours=position)
        exports.label(schema_id, [], id=ids[position], created_at=at)
    expected = [str(ids[position]) for position in (5, 4, 0, 1, 2, 3)]
    assert exports.export_tag_set_ids() == expected
    assert (
        exports.export_tag_set_ids(filter={"schema_id": str(schema_id), "statuses": ["accepted"]})
        == expected
    )
