"""Lists of jobs and items, progress and statistics."""

import re
from typing import Any

import pytest
from sqlalchemy import text

from app.intake.ingestion_jobs.queries import statistics
from app.kit import db, tenancy
from tests.factories import Org
from tests.factories.errors import check_error
from tests.intake.conftest import Imports, counts, lines


def test_a_new_job_is_queued(imports: Imports) -> None:
    data = lines({"text": "One"})
    answer = imports.send(data)
    job = answer.json["data"]
    assert (job["status"], job["counts"]) == ("queued", counts())
    assert job["progress"] == {
        "done": 0,
        "total": None,
        "rate_per_second": None,
        "eta_seconds": None,
    }
    assert (job["size_bytes"], job["connector_id"]) == (len(data), None)
    assert (job["started_at"], job["finished_at"], job["error"]) == (None, None, None)
    assert job["created_by"] == str(imports.org.users["labeler"])
    assert imports.get(job["id"]) == job


def test_progress_of_a_completed_job(imports: Imports) -> None:
    job = imports.make(lines(*({"text": f"Text {n}"} for n in range(4))))
    assert (job["progress"]["done"], job["progress"]["total"]) == (4, 4)
    assert job["progress"]["rate_per_second"] > 0
    assert job["progress"]["eta_seconds"] is None
    assert job["started_at"] <= job["finished_at"]


def test_progress_of_a_running_job(imports: Imports) -> None:
    job = imports.make(lines({"text": "One"}))
    imports.sql(
        "UPDATE ingestion_jobs SET status = 'running', finished_at = NULL, total = 300,"
        " next_number = 101, started_at = now() - interval '10 seconds', updated_at = now()"
    )
    progress = imports.get(job["id"])["progress"]
    expected = {"done": 100, "total": 300, "rate_per_second": 10.0, "eta_seconds": 20}
    assert progress == expected


def _list_ids(imports: Imports, **query: Any) -> list[str]:
    answer = imports.api.get("/ingestion-jobs", query_string=query)
    assert answer.status_code == 200, answer.json
    assert answer.json["meta"]["total"] == len(answer.json["data"])
    return [job["id"] for job in answer.json["data"]]


def test_jobs_are_listed_newest_first_and_filtered(imports: Imports) -> None:
    first_id = imports.make(lines({"text": "One"}))["id"]
    second_id = imports.make(lines({"text": 2}))["id"]
    third_id = imports.start(lines({"text": "Three"}))
    assert _list_ids(imports) == [third_id, second_id, first_id]
    assert _list_ids(imports, sort="created_at") == [first_id, second_id, third_id]
    assert _list_ids(imports, status="completed") == [first_id]
    assert _list_ids(imports, status=["completed_with_errors", "queued"]) == [third_id, second_id]
    assert _list_ids(imports, kind="import") == [third_id, second_id, first_id]
    created = imports.get(second_id)["created_at"]
    assert _list_ids(imports, created_after=created) == [third_id, second_id]
    assert _list_ids(imports, created_before=created) == [first_id]
    for name in ("status", "kind"):
        assert imports.api.get("/ingestion-jobs", query_string={name: "x"}).status_code == 422
    first = imports.api.get("/ingestion-jobs", query_string={"page_size": 2}).json
    rest = {"page_size": 2, "cursor": first["meta"]["next_cursor"]}
    second = imports.api.get("/ingestion-jobs", query_string=rest).json
    assert [job["id"] for job in first["data"] + second["data"]] == [third_id, second_id, first_id]


def test_items_come_in_pages_and_by_status(imports: Imports) -> None:
    records = [{"text": f"Text {n}"} for n in range(5)] + [{"text": "Text 0"}, {"text": 1}]
    job = imports.make(lines(*records))
    path = f"/ingestion-jobs/{job['id']}/items"
    numbers, cursor = [], None
    while True:
        query = {"page_size": 3, **({"cursor": cursor} if cursor else {})}
        page = imports.api.get(path, query_string=query).json
        assert page["meta"]["total"] == 7
        numbers += [item["number"] for item in page["data"]]
        cursor = page["meta"]["next_cursor"]
        if cursor is None:
            break
    assert numbers == list(range(1, 8))
    for status, number in (("created", 5), ("duplicate", 1), ("failed", 1), ("skipped", 0)):
        page = imports.api.get(path, query_string={"status": status}).json
        assert (len(page["data"]), page["meta"]["total"]) == (number, number)
        assert {item["status"] for item in page["data"]} <= {status}
    last = imports.api.get(path, query_string={"sort": "-number", "page_size": 1}).json
    assert last["data"][0]["number"] == 7
    assert last["data"][0]["error"]["code"] == "unprocessable"


def test_items_of_a_deleted_document_remain(imports: Imports) -> None:
    job = imports.make(lines({"text": "One"}))
    (item,) = imports.items(job["id"])
    assert imports.admin.delete(f"/artifacts/{item['artifact_id']}").status_code == 204
    assert imports.items(job["id"]) == [item]


def test_statistics_sum_up_the_jobs_of_a_period(imports: Imports, other_org: Any) -> None:
    Imports(other_org).make(lines({"text": "Not counted"}))
    imports.make(lines({"text": "One"}, {"text": "Two"}, {"text": "One"}))
    bad = imports.make(b"lot\n1\n", "list.csv", format="csv")
    assert bad["status"] == "failed"
    imports.sql("UPDATE ingestion_jobs SET started_at = finished_at - interval '2 seconds'")
    stats = imports.api.get("/ingestion-jobs/stats").json["data"]
    sums = counts(found=3, created=2, duplicate=1)
    assert (stats["jobs"], stats["failed_jobs"], stats["counts"]) == (2, 1, sums)
    assert (stats["seconds"], stats["rate_per_second"]) == (4.0, 0.8)
    for group, member in (
        ("by_day", "date"),
        ("by_kind", "kind"),
        ("by_connector", "connector_id"),
    ):
        (only,) = stats[group]
        assert (only["jobs"], only["counts"]) == (2, sums)
        value = {"date": bad["created_at"][:10], "kind": "import", "connector_id": None}[member]
        assert only[member] == value
    later = {"created_before": bad["created_at"]}
    assert imports.api.get("/ingestion-jobs/stats", query_string=later).json["data"]["jobs"] == 1


def test_statistics_without_jobs_are_zero(imports: Imports) -> None:
    stats = imports.api.get("/ingestion-jobs/stats").json["data"]
    assert (stats["jobs"], stats["counts"], stats["rate_per_second"]) == (0, counts(), None)
    assert (stats["by_day"], stats["by_kind"], stats["by_connector"]) == ([], [], [])


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"created_after": "2999-01-01T00:00:00Z"}, "created_after"),
        (
            {"created_after": "2026-01-02T00:00:00Z", "created_before": "2026-01-01T00:00:00Z"},
            "created_before",
        ),
        (
            {"created_after": "2024-01-01T00:00:00Z", "created_before": "2026-01-01T00:00:00Z"},
            "created_after",
        ),
    ],
)
def test_periods_that_are_refused(imports: Imports, query: dict[str, str], field: str) -> None:
    answer = imports.api.get("/ingestion-jobs/stats", query_string=query)
    check_error(answer, 400, "validation_error", field=field)


def test_the_jobs_of_a_period_are_grouped_once(org: Org) -> None:
    now = db.utc_now()
    values = {"organization_id": org.id, "created_after": now, "created_before": now}
    with org.app.app_context(), tenancy.organization(org.id):
        rows = db.session().scalars(text(f"EXPLAIN {statistics._STATISTICS.text}"), values)
        plan = "\n".join(rows)
        db.session().rollback()
    keys = re.findall(r"(?:Group|Hash) Key: (.*)", plan)
    assert "kind" in keys[-1], plan
    assert "connector_id" in keys[-1], plan
