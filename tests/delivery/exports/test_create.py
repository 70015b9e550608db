"""Asking for exports, and the list of them."""

from typing import Any
from uuid import uuid4

import pytest

from app.engines.formats import FORMATS
from app.kit.ids import uuid7
from tests.factories.errors import check_error
from tests.factories.orgs import get_data
from tests.factories.pages import read_pages

NO_FILTER = {
    "schema_id": None,
    "created_after": None,
    "created_before": None,
    "decided_after": None,
    "decided_before": None,
    "artifact_ids": None,
    "labeler_id": None,
}
FEBRUARY = "2026-02-01T00:00:00Z"


def test_what_was_left_out_is_filled_in(exports: Any) -> None:
    export = get_data(exports.api.post("/exports", {"format": "jsonl"}), 202)
    assert export["status"] == "queued"
    assert export["filter"] == {**NO_FILTER, "statuses": ["accepted"]}
    assert export["include"] == {
        "tags": "accepted",
        "evidence": True,
        "text": False,
        "history": False,
        "removed": False,
    }
    assert export["options"] == {}
    assert export["progress"] == {
        "done": 0,
        "total": None,
        "rate_per_second": None,
        "eta_seconds": None,
    }
    assert export["created_by"] == str(exports.org.users["reviewer"])
    unknown_yet = ("row_count", "size_bytes", "sha256", "expires_at", "error", "started_at")
    assert {export[name] for name in (*unknown_yet, "finished_at", "download_path")} == {None}
    assert exports.get(export["id"]) == export


def test_a_format_says_what_is_kept_by_default(exports: Any) -> None:
    export = exports.get(exports.start("csv", options={"delimiter": ";"}))
    assert export["include"]["evidence"] is False
    assert export["options"]["delimiter"] == ";"
    assert export["options"]["rows"] == "join"


@pytest.mark.parametrize(
    ("sent", "which", "statuses"),
    [
        ({}, "accepted", ["accepted"]),
        ({"filter": {"statuses": ["rejected", "submitted"]}}, "all", ["submitted", "rejected"]),
        ({"filter": {"statuses": ["accepted", "accepted"]}}, "accepted", ["accepted"]),
        ({"include": {"tags": "latest"}}, "latest", ["draft", "submitted", "accepted", "rejected"]),
        (
            {"include": {"tags": "all"}, "filter": {"statuses": ["draft", "draft"]}},
            "all",
            ["draft"],
        ),
        (
            {"include": {"tags": "accepted"}, "filter": {"statuses": ["accepted", "accepted"]}},
            "accepted",
            ["accepted"],
        ),
    ],
)
def test_which_and_in_what_state(
    exports: Any, sent: dict[str, Any], which: str, statuses: list[str]
) -> None:
    export = exports.get(exports.start(**sent))
    assert (export["include"]["tags"], export["filter"]["statuses"]) == (which, statuses)


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"format": "docx"}, "format"),
        ({"format": "\u202ejsonl"}, "format"),
        ({"options": {"delimiter": "x"}}, "options.delimiter"),
        ({"options": {"depth": 1}}, "options.depth"),
        ({"format": "jsonl", "options": {"delimiter": ","}}, "options.delimiter"),
        ({"include": {"text": True}}, "include.text"),
        ({"include": {"history": True}}, "include.history"),
        ({"include": {"evidence": True}}, "include.evidence"),
        ({"include": {"tags": "accepted"}, "filter": {"statuses": ["draft"]}}, "filter.statuses"),
        ({"filter": {"schema_id": str(uuid4())}}, "filter.schema_id"),
        ({"filter": {"labeler_id": str(uuid4())}}, "filter.labeler_id"),
        ({"filter": {"artifact_ids": [str(uuid4())]}}, "filter.artifact_ids"),
        (
            {"filter": {"created_after": FEBRUARY, "created_before": FEBRUARY}},
            "filter.created_before",
        ),
        (
            {
                "filter": {
                    "decided_after": "2026-02-01T01:00:00+02:00",
                    "decided_before": "2026-01-31T22:00:00Z",
                },
            },
            "filter.decided_before",
        ),
    ],
)
def test_rules_that_a_body_breaks(exports: Any, members: dict[str, Any], field: str) -> None:
    answer = exports.api.post("/exports", {"format": "csv", **members})
    check_error(answer, 400, "validation_error", field=field)
    assert exports.api.get("/exports").json["meta"]["total"] == 0
    assert exports.list_events("export.requested") == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"format": "csv", "options": {"delimiter": "x"}}, 'Must be one of ",", ";", "\\t", "|".'),
        ({"format": "coco", "options": {"size": 1}}, "Must be an option of coco: categories, "),
        ({"format": "json", "options": {"raw": 1}}, "Must be left out, because json has no opti"),
    ],
)
def test_an_invalid_option_is_explained(exports: Any, body: dict[str, Any], message: str) -> None:
    answer = exports.api.post("/exports", body)
    assert answer.json["error"]["message"].startswith(message)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "format"),
        ({"format": None}, "format"),
        ({"format": 7}, "format"),
        ({"format": "jsonl\x00"}, "format"),
        ({"format": "jsonl", "filter": None}, "filter"),
        ({"format": "jsonl", "filter": {"statuses": []}}, "filter.statuses"),
        ({"format": "jsonl", "filter": {"statuses": ["open"]}}, "filter.statuses.0"),
        ({"format": "jsonl", "filter": {"schema_id": "invoice"}}, "filter.schema_id"),
        ({"format": "jsonl", "filter": {"artifact_ids": []}}, "filter.artifact_ids"),
        ({"format": "jsonl", "filter": {"colour": "red"}}, "filter.colour"),
        ({"format": "jsonl", "filter": {"created_after": "2026-01-01"}}, "filter.created_after"),
        ({"format": "jsonl", "options": ["a"]}, "options"),
        ({"format": "jsonl", "options": {"a\x00": 1}}, "options"),
        ({"format": "jsonl", "include": {"tags": "none"}}, "include.tags"),
        ({"format": "jsonl", "include": {"text": "yes"}}, "include.text"),
        ({"format": "jsonl", "include": {"text": None}}, "include.text"),
        ({"format": "jsonl", "status": "completed"}, "status"),
    ],
)
def test_bodies_of_another_shape(exports: Any, body: dict[str, Any], field: str) -> None:
    check_error(exports.api.post("/exports", body), 422, "unprocessable", field=field)


def test_more_than_a_thousand_documents(exports: Any) -> None:
    body = {"format": "jsonl", "filter": {"artifact_ids": [str(uuid4()) for _ in range(1001)]}}
    assert exports.api.post("/exports", body).json["error"]["field"] == "filter.artifact_ids"


def test_references_into_another_organization_are_absent_ones(
    exports: Any, other_exports: Any
) -> None:
    schema_id = other_exports.workspace.schema()
    foreign = {
        "schema_id": str(schema_id),
        "labeler_id": str(other_exports.org.users["labeler"]),
        "artifact_ids": [str(other_exports.workspace.artifact(schema_id))],
    }
    absent = {
        "schema_id": str(uuid7()),
        "labeler_id": str(uuid7()),
        "artifact_ids": [str(uuid7())],
    }
    for member in foreign:
        answers = [
            exports.api.post("/exports", {"format": "jsonl", "filter": {member: values[member]}})
            for values in (foreign, absent)
        ]
        assert [answer.status_code for answer in answers] == [400, 400]
        assert answers[0].data == answers[1].data


def test_somebody_who_left_can_still_be_named(exports: Any) -> None:
    labeler_id = exports.org.users["labeler"]
    exports.label(exports.workspace.schema(), [])
    exports.sql("DELETE FROM memberships WHERE user_id = :id", id=labeler_id)
    assert len(exports.export_rows(filter={"labeler_id": str(labeler_id)})) == 1


def test_the_same_key_asks_once(exports: Any) -> None:
    headers = {"Idempotency-Key": uuid4().hex}
    first, second = (
        exports.api.post("/exports", {"format": "jsonl"}, headers=headers) for _ in range(2)
    )
    assert first.json == second.json
    assert len(exports.list_events("export.requested")) == 1


def test_the_list_is_filtered_and_the_newest_comes_first(exports: Any) -> None:
    jsonl, csv = exports.start("jsonl"), exports.start("csv")
    exports.work()
    waiting = exports.start("csv")

    def list_ids(query: str = "") -> list[str]:
        return [export["id"] for export in get_data(exports.api.get(f"/exports{query}"))]

    assert list_ids() == [waiting, csv, jsonl]
    assert list_ids("?sort=created_at") == [jsonl, csv, waiting]
    assert list_ids("?format=csv") == [waiting, csv]
    assert list_ids("?format=docx") == []
    assert list_ids("?status=completed") == [csv, jsonl]
    assert list_ids("?status=queued&format=csv") == [waiting]
    assert list_ids(f"?created_after={exports.get(csv)['created_at']}") == [waiting, csv]
    assert list_ids(f"?created_before={exports.get(csv)['created_at']}") == [jsonl]
    assert exports.api.get("/exports?status=lost").status_code == 422
    answer = exports.api.get("/exports?page_size=1")
    assert answer.json["meta"]["total"] == 3
    assert answer.json["data"] == [exports.get(waiting)]
    assert list_ids(f"?page_size=1&cursor={answer.json['meta']['next_cursor']}") == [csv]


def test_a_foreign_export_is_an_absent_one(exports: Any, other_exports: Any) -> None:
    foreign = other_exports.make()["id"]
    for path in ("/exports/{}", "/exports/{}/download"):
        answers = [exports.api.get(path.format(id_)) for id_ in (foreign, uuid7(), "1")]
        assert {answer.status_code for answer in answers} == {404}
        assert len({answer.data for answer in answers}) == 1
    assert exports.api.get("/exports").json["data"] == []
    assert other_exports.list_events("export.downloaded") == []


def test_the_formats(exports: Any) -> None:
    api = exports.org.api("viewer")
    answer = api.get("/export-formats")
    assert [format_["id"] for format_ in answer.json["data"]] == sorted(FORMATS)
    assert answer.json["meta"]["total"] == len(FORMATS)
    pages = read_pages(api, "/export-formats?page_size=1&sort=-name")
    names = sorted((format_["name"] for format_ in answer.json["data"]), reverse=True)
    assert [page["data"][0]["name"] for page in pages[:2]] == names[:2]
    for format_ in answer.json["data"]:
        single = api.get(f"/export-formats/{format_['id']}").json["data"]
        assert single.pop("sample")
        assert single == format_
    csv = api.get("/export-formats/csv").json["data"]
    assert csv["media_type"] == "text/csv"
    assert csv["options_schema"]["properties"]["delimiter"]["default"] == ","
    assert csv["keeps"] == ["values", "tables"]
    for unknown in ("docx", "CSV", uuid4(), "a%00b", "%2e"):
        assert api.get(f"/export-formats/{unknown}").status_code == 404


def test_times_are_kept_in_utc(exports: Any) -> None:
    body = {"created_after": "2026-02-01T01:30:00+02:00", "decided_before": "2026-02-02T00:00:00Z"}
    stored_filter = exports.get(exports.start(filter=body))["filter"]
    assert stored_filter["created_after"] == "2026-01-31T23:30:00Z"
    assert stored_filter["decided_before"] == "2026-02-02T00:00:00Z"
