"""Which label sets an export holds, and in what order."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from app.kit import db
from app.kit.ids import uuid7


class _TagSets:
    """Four tag sets, named `one` to `four`, that differ in everything that a filter asks for."""

    def __init__(self, exports: Any) -> None:
        self.exports, self.now = exports, db.utc_now()
        self.first, self.second = exports.workspace.schema(), exports.workspace.schema()
        self.anna = anna = exports.org.add_user("anna", "labeler")
        self.ids = {
            "one": self._label(self.first, 1, decided_at=self.day(5)),
            "two": self._label(self.first, 2, decided_at=self.day(4), status="rejected"),
            "three": self._label(self.second, 3, decided_at=self.day(6), labeler_id=anna),
            "four": self._label(self.second, 4, status="submitted", labeler_id=anna),
        }

    def _label(self, schema_id: UUID, created_on: int, **members: Any) -> str:
        return str(self.exports.label(schema_id, [], created_at=self.day(created_on), **members))

    def day(self, number: int) -> datetime:
        return self.now + timedelta(days=number - 10)

    def select(self, **filters: Any) -> list[str]:
        """Return the names of the tag sets that an export with these filters contains."""
        names = {tag_set_id: name for name, tag_set_id in self.ids.items()}
        body = {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in filters.items()
        }
        tag_set_ids = self.exports.export_tag_set_ids(filter=body, include={"tags": "all"})
        return [names[tag_set_id] for tag_set_id in tag_set_ids]


def test_filters(exports: Any) -> None:
    tag_sets = _TagSets(exports)
    select, day = tag_sets.select, tag_sets.day
    assert select() == ["one", "two", "three", "four"]
    assert select(schema_id=str(tag_sets.first)) == ["one", "two"]
    assert select(statuses=["rejected", "submitted"]) == ["two", "four"]
    assert select(labeler_id=str(tag_sets.anna)) == ["three", "four"]
    # A period has its start in it and its end not: periods that follow each other share nothing.
    assert select(created_after=day(2), created_before=day(4)) == ["two", "three"]
    assert select(decided_after=day(5)) == ["one", "three"]
    assert select(decided_before=day(5)) == ["two"]
    documents = [str(exports.get_artifact(tag_sets.ids[name]).id) for name in ("four", "one")]
    assert select(artifact_ids=documents) == ["one", "four"]
    assert select(artifact_ids=documents, schema_id=str(tag_sets.second)) == ["four"]
    assert select(statuses=["draft"]) == []


def test_which_label_sets_of_a_document(exports: Any, schema_id: UUID) -> None:
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


def test_one_tag_set_represents_each_document(exports: Any, schema_id: UUID) -> None:
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
    early_only = exports.export_tag_set_ids(
        filter={"decided_before": early}, include={"tags": "final"}
    )
    assert early_only == [merge]
    csv = exports.make("csv", include={"tags": "final"})
    assert csv["row_count"] == 3
    refusal = {"filter": {"statuses": ["submitted"]}, "include": {"tags": "final"}}
    answer = exports.api.post("/exports", {"format": "jsonl", **refusal})
    assert (answer.status_code, answer.json["error"]["field"]) == (400, "filter.statuses")


def test_the_order_is_that_of_creation_then_of_ids(exports: Any, schema_id: UUID) -> None:
    now = db.utc_now()
    ids = [uuid7() for _ in range(6)]
    for position in (3, 1, 4, 0, 5, 2):
        at = now if position < 4 else now - timedelta(hours=position)
        exports.label(schema_id, [], id=ids[position], created_at=at)
    expected = [str(ids[position]) for position in (5, 4, 0, 1, 2, 3)]
    assert exports.export_tag_set_ids() == expected
    filters = {"schema_id": str(schema_id), "statuses": ["accepted"]}
    assert exports.export_tag_set_ids(filter=filters) == expected
