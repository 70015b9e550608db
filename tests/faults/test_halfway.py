"""Check that kills in the middle of bulk work leave no partial changes.

Jobs are resumed, and everything is done exactly once.
"""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
import requests

from tests.engines.documents.samples import pdf
from tests.factories.processes import has_ended
from tests.factories.sandboxes import list_sandboxed_processes
from tests.factories.waiting import wait_until
from tests.factories.work import POSTPONE_PERIODIC_JOBS
from tests.faults.sites import Site

pytestmark = pytest.mark.xdist_group("faults")

BATCH = 1000
"""The number of records in a transaction of a bulk action or a job."""
DOCUMENTS = 2 * BATCH


def _kill_during_request(place: Site, table: str, path: str, body: dict[str, Any]) -> None:
    """Send a request, and kill the process that serves it before it writes to `table`."""
    with ThreadPoolExecutor(1) as pool, place.turnstile(table) as gate:
        request = pool.submit(place.call, "POST", path, json=body)
        gate.kill(gate.wait_for_arrival("gunicorn"))
        with pytest.raises(requests.RequestException):
            request.result()


# --- requests: complete or no changes ---------------------------------------------------------


@pytest.mark.parametrize("table", ["tag_set_revisions", "outbox_events"])
@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_a_bulk_decision_is_applied_to_all_tag_sets_or_none(
    place: Site, decision: str, table: str
) -> None:
    (labeler,) = place.labelers(1)
    place.documents(300, schema_id=place.schema())
    place.submitted(labeler)
    before = _count_tag_sets(place)
    ids = [row.id for row in place.sql("SELECT id FROM tag_sets WHERE organization_id = :org")]
    body: dict[str, Any] = {"tag_set_ids": list(map(str, ids))}
    body |= {"reason": "No", "send_to": "pool"} if decision == "reject" else {}
    _kill_during_request(place, table, f"/review-queue/bulk-{decision}", body)
    assert _count_tag_sets(place) == before
    assert place.events(f"tag_set.{decision}ed") == []
    result = place.call("POST", f"/review-queue/bulk-{decision}", json=body)
    assert (result["succeeded"], result["failed"]) == (300, 0)
    payloads = place.events(f"tag_set.{decision}ed")
    assert sorted(payload["tag_set_id"] for payload in payloads) == sorted(map(str, ids))
    state = {"accept": ("accepted", "done"), "reject": ("rejected", "ready")}[decision]
    assert _count_tag_sets(place) == {(*state, 2, 2, decision): 300}


def test_a_decision_by_filter_is_applied_in_complete_batches(place: Site) -> None:
    (labeler,) = place.labelers(1)
    place.documents(BATCH + 200, schema_id=place.schema())
    place.submitted(labeler)
    body = {"filter": {"labeler_id": str(labeler)}, "expected_count": BATCH + 200}
    with ThreadPoolExecutor(1) as pool, place.turnstile("outbox_events", saying=place.org) as gate:
        request = pool.submit(place.call, "POST", "/review-queue/bulk-accept", json=body)
        gate.kill(gate.step("gunicorn"))
        with pytest.raises(requests.RequestException):
            request.result()
    # The first batch is complete and has its events. The interrupted batch has left no changes.
    assert {key[0]: count for key, count in _count_tag_sets(place).items()} == {
        "accepted": BATCH,
        "submitted": 200,
    }
    assert len(place.events("tag_set.accepted")) == BATCH
    remaining = {**body, "expected_count": 200}
    result = place.call("POST", "/review-queue/bulk-accept", json=remaining)
    assert (result["succeeded"], result["failed"]) == (200, 0)
    ids = [row.id for row in place.sql("SELECT id FROM tag_sets WHERE organization_id = :org")]
    event_ids = [payload["tag_set_id"] for payload in place.events("tag_set.accepted")]
    assert sorted(event_ids) == sorted(map(str, ids))
    assert _count_tag_sets(place) == {("accepted", "done", 2, 2, "accept"): BATCH + 200}


def _count_tag_sets(place: Site) -> Counter[tuple[Any, ...]]:
    """Count tag sets by five values.

    The values are the status of the tag set, the status of its document, the tag set's revision
    number, the number of its stored revisions, and the kind of the last stored revision.
    """
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
def test_a_bulk_assignment_is_applied_in_complete_batches(place: Site, strategy: str) -> None:
    people = [str(user_id) for user_id in place.labelers(4)]
    place.documents(DOCUMENTS)
    body = {"filter": {}, "expected_count": DOCUMENTS, "user_ids": people, "strategy": strategy}
    with ThreadPoolExecutor(1) as pool, place.turnstile("outbox_events", saying=place.org) as gate:
        request = pool.submit(place.call, "POST", "/artifacts/bulk-assign", json=body)
        gate.kill(gate.step("gunicorn"))
        with pytest.raises(requests.RequestException):
            request.result()
    (part,) = place.events("artifacts.assigned")
    assert (part["count"], len(part["artifact_ids"])) == (BATCH, BATCH)
    assert _count_by_assignees(place)[()] == DOCUMENTS - BATCH
    # When sent again, the request assigns all documents, and emits events only for changed ones.
    result = place.call("POST", "/artifacts/bulk-assign", json=body)
    assert result["succeeded"] == DOCUMENTS
    counts = _count_by_assignees(place)
    if strategy == "everyone":
        assert counts == {tuple(sorted(people)): DOCUMENTS}
    else:
        assert counts == {(user_id,): DOCUMENTS // 4 for user_id in people}
    event_counts = [payload["count"] for payload in place.events("artifacts.assigned")]
    assert event_counts == [BATCH] * (DOCUMENTS // BATCH)


def _count_by_assignees(place: Site) -> Counter[tuple[str, ...]]:
    """Count documents by the sorted ids of their assignees."""
    rows = place.sql("SELECT assignees FROM artifacts WHERE organization_id = :org")
    return Counter(tuple(sorted(user["user_id"] for user in row.assignees)) for row in rows)


# --- jobs: resumed, each document once --------------------------------------------------------


def test_indexing_is_resumed_after_its_worker_was_killed(place: Site) -> None:
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
    before = _read_index_transactions(place)
    assert len(before) == 200
    place.expire_lease(job)
    place.wait_for_job(job)
    after = _read_index_transactions(place)
    # Rows that were indexed before the kill keep their transaction ids, so they were not rewritten.
    assert len(after) == 500
    assert before.items() <= after.items()
    assert place.sql("SELECT 1 FROM artifact_search_backlog WHERE organization_id = :org") == []
    found = place.service.call("GET", "/artifacts", params={"q": "rent", "page_size": 1}).json()
    assert found["meta"]["total"] == 500


def _read_index_transactions(place: Site) -> dict[UUID, str]:
    """Return the id of the transaction that indexed each document."""
    rows = place.sql(
        "SELECT artifact_id, CAST(xmin AS text) AS by FROM artifact_search"
        " WHERE organization_id = :org"
    )
    return {row.artifact_id: row.by for row in rows}


def test_retention_is_resumed_after_its_worker_was_killed(place: Site) -> None:
    settings = {"settings": {"retention_days": 30}}
    place.call("PATCH", f"/organizations/{place.slug}", json=settings)
    place.documents(BATCH + 500, age=31)
    place.sql(
        "UPDATE artifacts SET created_at = now() WHERE organization_id = :org AND name LIKE '%7'"
    )
    ids = "SELECT CAST(id AS text) AS id FROM artifacts WHERE organization_id = :org"
    new_ids = {row.id for row in place.sql(f"{ids} AND name LIKE '%7'")}
    old_ids = {row.id for row in place.sql(f"{ids} AND name NOT LIKE '%7'")}
    with place.turnstile("outbox_events", saying=place.org) as gate:
        job = place.job("artifacts.retain", org=place.org)
        gate.kill(gate.step("worker.py"))
    remaining_ids = {row.id for row in place.sql(ids)}
    assert len(remaining_ids & old_ids) == len(old_ids) - BATCH
    # There are no events for deletions that were rolled back.
    assert {
        payload["artifact_id"] for payload in place.events("artifact.deleted")
    } == old_ids - remaining_ids
    place.expire_lease(job)
    place.wait_for_job(job)
    assert {row.id for row in place.sql(ids)} == new_ids
    event_ids = [payload["artifact_id"] for payload in place.events("artifact.deleted")]
    assert sorted(event_ids) == sorted(old_ids)


def test_a_document_is_reprocessed_after_its_worker_was_killed(place: Site) -> None:
    lines = [[f"Page {n} of many", *(f"word{n}x{k} " * 6 for k in range(8))] for n in range(220)]
    with place.turnstile("artifact_pages") as gate:
        files = {"file": ("many.pdf", pdf(lines), "application/pdf")}
        with ThreadPoolExecutor(1) as pool:
            upload = pool.submit(place.call, "POST", "/artifacts", files=files)
            gate.step("worker.py")
        gate.step("worker.py")
        worker = gate.step("worker.py")
        (parser,) = [
            child for parent in worker.parents() for child in list_sandboxed_processes(parent.pid)
        ]
        gate.kill(worker)
    wait_until(lambda: has_ended(parser), "the parser to end with the worker")
    pages = "SELECT number FROM artifact_pages WHERE organization_id = :org ORDER BY number"
    assert [row.number for row in place.sql(pages)] == [*range(1, 51)]
    assert place.events("artifact.ingested") == []
    job = place.find_job("artifacts.parse")
    place.expire_lease(job.id)
    place.wait_for_job(job.id)
    assert place.find_job("artifacts.parse").attempts == 0, "a kill does not count as an attempt"
    assert [row.number for row in place.sql(pages)] == [*range(1, 221)]
    (payload,) = place.events("artifact.ingested")
    assert (payload["artifact_id"], payload["page_count"]) == (upload.result()["id"], 220)
    artifact = place.call("GET", f"/artifacts/{payload['artifact_id']}")
    assert (artifact["status"], artifact["page_count"]) == ("ready", 220)
    text = place.get_value("SELECT text FROM artifact_texts WHERE organization_id = :org")
    assert [text.count(f"Page {n} of many") for n in range(220)] == [1] * 220
