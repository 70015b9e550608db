"""Processes that are killed in the middle of bulk work.

A request leaves no partial changes, a job is resumed, and everything is done exactly once.
"""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
import requests

from tests.engines.documents.samples import pdf
from tests.factories.processes import has_ended
from tests.factories.sandboxes import sandboxed
from tests.factories.waiting import wait_until
from tests.factories.work import POSTPONE_PERIODIC_JOBS
from tests.faults.sites import Site

pytestmark = pytest.mark.xdist_group("faults")

BATCH = 1000
"""The number of records in a transaction of a bulk action or a job."""
DOCUMENTS = 2 * BATCH


def _cut_off(place: Site, table: str, path: str, body: dict[str, Any]) -> None:
    """Send a request, and kill the process that serves it before it writes to `table`."""
    with ThreadPoolExecutor(1) as pool, place.turnstile(table) as gate:
        lost = pool.submit(place.call, "POST", path, json=body)
        gate.kill(gate.arrived("gunicorn"))
        with pytest.raises(requests.RequestException):
            lost.result()


# --- requests: all or nothing -----------------------------------------------------------------


@pytest.mark.parametrize("table", ["tag_set_revisions", "outbox_events"])
@pytest.mark.parametrize("verdict", ["accept", "reject"])
def test_a_bulk_verdict_is_whole_or_nothing(place: Site, verdict: str, table: str) -> None:
    (labeler,) = place.labelers(1)
    place.documents(300, schema_id=place.schema())
    place.submitted(labeler)
    before = _label_sets(place)
    ids = [row.id for row in place.sql("SELECT id FROM tag_sets WHERE organization_id = :org")]
    body: dict[str, Any] = {"tag_set_ids": [str(one) for one in ids]}
    body |= {"reason": "No", "send_to": "pool"} if verdict == "reject" else {}
    _cut_off(place, table, f"/review-queue/bulk-{verdict}", body)
    assert _label_sets(place) == before
    assert place.events(f"tag_set.{verdict}ed") == []
    result = place.call("POST", f"/review-queue/bulk-{verdict}", json=body)
    assert (result["succeeded"], result["failed"]) == (300, 0)
    told = place.events(f"tag_set.{verdict}ed")
    assert sorted(one["tag_set_id"] for one in told) == sorted(map(str, ids))
    state = {"accept": ("accepted", "done"), "reject": ("rejected", "ready")}[verdict]
    assert _label_sets(place) == {(*state, 2, 2, verdict): 300}


def test_a_verdict_by_filter_is_whole_or_nothing_a_thousand_at_a_time(place: Site) -> None:
    (labeler,) = place.labelers(1)
    place.documents(BATCH + 200, schema_id=place.schema())
    place.submitted(labeler)
    body = {"filter": {"labeler_id": str(labeler)}, "expected_count": BATCH + 200}
    with ThreadPoolExecutor(1) as pool, place.turnstile("outbox_events", saying=place.org) as gate:
        lost = pool.submit(place.call, "POST", "/review-queue/bulk-accept", json=body)
        gate.kill(gate.step("gunicorn"))
        with pytest.raises(requests.RequestException):
            lost.result()
    # One batch stands, and was told of; nothing is left of the one that was killed.
    assert {key[0]: count for key, count in _label_sets(place).items()} == {
        "accepted": BATCH,
        "submitted": 200,
    }
    assert len(place.events("tag_set.accepted")) == BATCH
    again = {**body, "expected_count": 200}
    result = place.call("POST", "/review-queue/bulk-accept", json=again)
    assert (result["succeeded"], result["failed"]) == (200, 0)
    ids = [row.id for row in place.sql("SELECT id FROM tag_sets WHERE organization_id = :org")]
    told = [one["tag_set_id"] for one in place.events("tag_set.accepted")]
    assert sorted(told) == sorted(map(str, ids))
    assert _label_sets(place) == {("accepted", "done", 2, 2, "accept"): BATCH + 200}


def _label_sets(place: Site) -> Counter[tuple[Any, ...]]:
    """Count the tag sets by status, status of the document, and number of revisions."""
    return Counter(
        tuple(row)
        for row in place.sql(
            """
            SELECT t.status, a.status AS document, t.revision, count(*) AS revisions,
                   (array_agg(r.kind ORDER BY r.number DESC))[1] AS kind
            FROM tag_sets t JOIN artifacts a ON a.id = t.artifact_id
            JOIN tag_set_revisions r ON r.tag_set_id = t.id
            WHERE t.organization_id = :org GROUP BY t.id, t.status, a.status, t.revision
            """
        )
    )


@pytest.mark.parametrize("strategy", ["everyone", "round_robin"])
def test_a_bulk_assignment_is_whole_or_nothing_a_thousand_at_a_time(
    place: Site, strategy: str
) -> None:
    people = [str(one) for one in place.labelers(4)]
    place.documents(DOCUMENTS)
    body = {"filter": {}, "expected_count": DOCUMENTS, "user_ids": people, "strategy": strategy}
    with ThreadPoolExecutor(1) as pool, place.turnstile("outbox_events", saying=place.org) as gate:
        lost = pool.submit(place.call, "POST", "/artifacts/bulk-assign", json=body)
        gate.kill(gate.step("gunicorn"))
        with pytest.raises(requests.RequestException):
            lost.result()
    (part,) = place.events("artifacts.assigned")
    assert (part["count"], len(part["artifact_ids"])) == (BATCH, BATCH)
    assert _assigned(place)[()] == DOCUMENTS - BATCH
    # Sent again, it gives them all, and tells of those that they had not yet.
    result = place.call("POST", "/artifacts/bulk-assign", json=body)
    assert result["succeeded"] == DOCUMENTS
    given = _assigned(place)
    if strategy == "everyone":
        assert given == {tuple(sorted(people)): DOCUMENTS}
    else:
        assert given == {(one,): DOCUMENTS // 4 for one in people}
    told = [one["count"] for one in place.events("artifacts.assigned")]
    assert told == [BATCH] * (DOCUMENTS // BATCH)


def _assigned(place: Site) -> Counter[tuple[str, ...]]:
    """Count the documents of each set of assignees."""
    rows = place.sql("SELECT assignees FROM artifacts WHERE organization_id = :org")
    return Counter(tuple(sorted(one["user_id"] for one in row.assignees)) for row in rows)


# --- jobs: resumed, each document once --------------------------------------------------------


def test_reindexing_goes_on_where_its_worker_was_killed(place: Site) -> None:
    place.sql(POSTPONE_PERIODIC_JOBS, names=["artifacts.index"], every=[60], seconds=600)
    place.documents(500)
    place.texts()
    place.sql("DELETE FROM artifact_search WHERE organization_id = :org")
    place.sql("INSERT INTO artifact_search_backlog (organization_id) VALUES (:org)")
    with place.turnstile("artifact_search") as gate:
        job = place.job("artifacts.index")
        for _ in range(2):
            worker = gate.step("worker.py")
        gate.kill(worker)
    before = _indexed(place)
    assert len(before) == 200
    place.expire_lease(job)
    place.wait_for_job(job)
    after = _indexed(place)
    # Whose row was written again is in another transaction's hand.
    assert len(after) == 500
    assert before.items() <= after.items()
    assert place.sql("SELECT 1 FROM artifact_search_backlog WHERE organization_id = :org") == []
    found = place.service.call("GET", "/artifacts", params={"q": "rent", "page_size": 1}).json()
    assert found["meta"]["total"] == 500


def _indexed(place: Site) -> dict[UUID, str]:
    """Return the id of the transaction that indexed each document."""
    rows = place.sql(
        "SELECT artifact_id, CAST(xmin AS text) AS by FROM artifact_search"
        " WHERE organization_id = :org"
    )
    return {row.artifact_id: row.by for row in rows}


def test_retention_goes_on_where_its_worker_was_killed(place: Site) -> None:
    settings = {"settings": {"retention_days": 30}}
    place.call("PATCH", f"/organizations/{place.slug}", json=settings)
    place.documents(BATCH + 500, age=31)
    place.sql(
        "UPDATE artifacts SET created_at = now() WHERE organization_id = :org AND name LIKE '%7'"
    )
    ids = "SELECT CAST(id AS text) AS id FROM artifacts WHERE organization_id = :org"
    young = {row.id for row in place.sql(f"{ids} AND name LIKE '%7'")}
    old = {row.id for row in place.sql(f"{ids} AND name NOT LIKE '%7'")}
    with place.turnstile("outbox_events", saying=place.org) as gate:
        job = place.job("artifacts.retain", org=place.org)
        gate.kill(gate.step("worker.py"))
    left = {row.id for row in place.sql(ids)}
    assert len(left & old) == len(old) - BATCH
    # What was undone is not told of.
    assert {one["artifact_id"] for one in place.events("artifact.deleted")} == old - left
    place.expire_lease(job)
    place.wait_for_job(job)
    assert {row.id for row in place.sql(ids)} == young
    told = [one["artifact_id"] for one in place.events("artifact.deleted")]
    assert sorted(told) == sorted(old)


def test_a_document_is_read_anew_when_its_reader_was_killed(place: Site) -> None:
    lines = [[f"Page {n} of many", *(f"word{n}x{k} " * 6 for k in range(8))] for n in range(220)]
    with place.turnstile("artifact_pages") as gate:
        files = {"file": ("many.pdf", pdf(lines), "application/pdf")}
        with ThreadPoolExecutor(1) as pool:
            made = pool.submit(place.call, "POST", "/artifacts", files=files)
            gate.step("worker.py")
        gate.step("worker.py")
        reader = gate.step("worker.py")
        (parser,) = [one for parent in reader.parents() for one in sandboxed(parent.pid)]
        gate.kill(reader)
    wait_until(lambda: has_ended(parser), "the child to end with the reader")
    pages = "SELECT number FROM artifact_pages WHERE organization_id = :org ORDER BY number"
    assert [row.number for row in place.sql(pages)] == [*range(1, 51)]
    assert place.events("artifact.ingested") == []
    job = place.find_job("artifacts.parse")
    place.expire_lease(job.id)
    place.wait_for_job(job.id)
    assert place.find_job("artifacts.parse").attempts == 0, "a kill is no error of the job"
    assert [row.number for row in place.sql(pages)] == [*range(1, 221)]
    (told,) = place.events("artifact.ingested")
    assert (told["artifact_id"], told["page_count"]) == (made.result()["id"], 220)
    read = place.call("GET", f"/artifacts/{told['artifact_id']}")
    assert (read["status"], read["page_count"]) == ("ready", 220)
    text = place.one("SELECT text FROM artifact_texts WHERE organization_id = :org")
    assert [text.count(f"Page {n} of many") for n in range(220)] == [1] * 220
