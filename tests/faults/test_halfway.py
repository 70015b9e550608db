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


def _kill_during_request(test_site: Site, table: str, path: str, body: dict[str, Any]) -> None:
    """Send a request, and kill the process that serves it before it writes to `table`."""
    with ThreadPoolExecutor(1) as pool, test_site.turnstile(table) as gate:
        request = pool.submit(test_site.call, "POST", path, json=body)
        gate.kill(gate.wait_for_arrival("gunicorn"))
        with pytest.raises(requests.RequestException):
            request.result()


def _kill_in_the_second_batch(test_site: Site, path: str, body: dict[str, Any]) -> None:
    """Send a request, and kill the process that serves it before it emits its second event."""
    with (
        ThreadPoolExecutor(1) as pool,
        test_site.turnstile("outbox_events", sql_part=test_site.org) as gate,
    ):
        request = pool.submit(test_site.call, "POST", path, json=body)
        gate.kill(gate.step("gunicorn"))
        with pytest.raises(requests.RequestException):
            request.result()


# --- requests: complete or no changes ---------------------------------------------------------


@pytest.mark.parametrize("table", ["tag_set_revisions", "outbox_events"])
@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_a_bulk_decision_is_applied_to_all_tag_sets_or_none(
    test_site: Site, decision: str, table: str
) -> None:
    (labeler,) = test_site.create_labelers(1)
    test_site.create_documents(300, schema_id=test_site.create_schema())
    test_site.create_submitted_tag_sets(labeler)
    before = _count_tag_sets(test_site)
    ids = [row.id for row in test_site.sql("SELECT id FROM tag_sets WHERE organization_id = :org")]
    body: dict[str, Any] = {"tag_set_ids": list(map(str, ids))}
    body |= {"reason": "No", "send_to": "pool"} if decision == "reject" else {}
    _kill_during_request(test_site, table, f"/review-queue/bulk-{decision}", body)
    assert _count_tag_sets(test_site) == before
    assert test_site.events(f"tag_set.{decision}ed") == []
    result = test_site.call("POST", f"/review-queue/bulk-{decision}", json=body)
    assert (result["succeeded"], result["failed"]) == (300, 0)
    payloads = test_site.events(f"tag_set.{decision}ed")
    assert sorted(payload["tag_set_id"] for payload in payloads) == sorted(map(str, ids))
    state = {"accept": ("accepted", "done"), "reject": ("rejected", "ready")}[decision]
    assert _count_tag_sets(test_site) == {(*state, 2, 2, decision): 300}


def test_a_decision_by_filter_is_applied_in_complete_batches(test_site: Site) -> None:
    (labeler,) = test_site.create_labelers(1)
    test_site.create_documents(BATCH + 200, schema_id=test_site.create_schema())
    test_site.create_submitted_tag_sets(labeler)
    body = {"filter": {"labeler_id": str(labeler)}, "expected_count": BATCH + 200}
    _kill_in_the_second_batch(test_site, "/review-queue/bulk-accept", body)
    # The first batch is complete and has its events. The interrupted batch has left no changes.
    assert {key[0]: count for key, count in _count_tag_sets(test_site).items()} == {
        "accepted": BATCH,
        "submitted": 200,
    }
    assert len(test_site.events("tag_set.accepted")) == BATCH
    remaining = {**body, "expected_count": 200}
    result = test_site.call("POST", "/review-queue/bulk-accept", json=remaining)
    assert (result["succeeded"], result["failed"]) == (200, 0)
    ids = [row.id for row in test_site.sql("SELECT id FROM tag_sets WHERE organization_id = :org")]
    event_ids = [payload["tag_set_id"] for payload in test_site.events("tag_set.accepted")]
    assert sorted(event_ids) == sorted(map(str, ids))
    assert _count_tag_sets(test_site) == {("accepted", "done", 2, 2, "accept"): BATCH + 200}


def _count_tag_sets(test_site: Site) -> Counter[tuple[Any, ...]]:
    """Count tag sets by five values.

    The values are the status of the tag set, the status of its document, the tag set's revision
    number, the number of its stored revisions, and the kind of the last stored revision.
    """
    return Counter(
        tuple(row)
        for row in test_site.sql(
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
def test_a_bulk_assignment_is_applied_in_complete_batches(test_site: Site, strategy: str) -> None:
    people = [str(user_id) for user_id in test_site.create_labelers(4)]
    test_site.create_documents(DOCUMENTS)
    body = {"filter": {}, "expected_count": DOCUMENTS, "user_ids": people, "strategy": strategy}
    _kill_in_the_second_batch(test_site, "/artifacts/bulk-assign", body)
    (part,) = test_site.events("artifacts.assigned")
    assert (part["count"], len(part["artifact_ids"])) == (BATCH, BATCH)
    assert _count_by_assignees(test_site)[()] == DOCUMENTS - BATCH
    # When sent again, the request assigns all documents, and emits events only for changed ones.
    result = test_site.call("POST", "/artifacts/bulk-assign", json=body)
    assert result["succeeded"] == DOCUMENTS
    counts = _count_by_assignees(test_site)
    if strategy == "everyone":
        assert counts == {tuple(sorted(people)): DOCUMENTS}
    else:
        assert counts == {(user_id,): DOCUMENTS // 4 for user_id in people}
    event_counts = [payload["count"] for payload in test_site.events("artifacts.assigned")]
    assert event_counts == [BATCH] * (DOCUMENTS // BATCH)


def _count_by_assignees(test_site: Site) -> Counter[tuple[str, ...]]:
    """Count documents by the sorted ids of their assignees."""
    rows = test_site.sql("SELECT assignees FROM artifacts WHERE organization_id = :org")
    return Counter(tuple(sorted(user["user_id"] for user in row.assignees)) for row in rows)


# --- jobs: resumed, each document once --------------------------------------------------------


def test_indexing_is_resumed_after_its_worker_was_killed(test_site: Site) -> None:
    test_site.sql(POSTPONE_PERIODIC_JOBS, names=["artifacts.index"], every=[60], seconds=600)
    test_site.create_documents(500)
    test_site.create_texts()
    test_site.sql("DELETE FROM artifact_search WHERE organization_id = :org")
    test_site.sql("INSERT INTO artifact_search_backlog (organization_id) VALUES (:org)")
    with test_site.turnstile("artifact_search") as gate:
        job = test_site.insert_job("artifacts.index")
        for _ in range(2):
            worker = gate.step("worker.py")
        # Afterwards, another worker may continue the job as soon as the lease has expired.
        before = _read_index_transactions(test_site)
        gate.kill(worker)
    assert len(before) == 200
    test_site.resume_job(job)
    after = _read_index_transactions(test_site)
    # Rows that were indexed before the kill keep their transaction ids, so they were not rewritten.
    assert len(after) == 500
    assert before.items() <= after.items()
    assert test_site.sql("SELECT 1 FROM artifact_search_backlog WHERE organization_id = :org") == []
    search_result = test_site.service.call(
        "GET", "/artifacts", params={"q": "rent", "page_size": 1}
    ).json()
    assert search_result["meta"]["total"] == 500


def _read_index_transactions(test_site: Site) -> dict[UUID, str]:
    """Return the id of the transaction that indexed each document."""
    rows = test_site.sql(
        "SELECT artifact_id, CAST(xmin AS text) AS by FROM artifact_search"
        " WHERE organization_id = :org"
    )
    return {row.artifact_id: row.by for row in rows}


def test_retention_is_resumed_after_its_worker_was_killed(test_site: Site) -> None:
    settings = {"settings": {"retention_days": 30}}
    test_site.call("PATCH", f"/organizations/{test_site.slug}", json=settings)
    test_site.create_documents(BATCH + 500, age=31)
    test_site.sql(
        "UPDATE artifacts SET created_at = now() WHERE organization_id = :org AND name LIKE '%7'"
    )
    ids = "SELECT CAST(id AS text) AS id FROM artifacts WHERE organization_id = :org"
    new_ids = {row.id for row in test_site.sql(f"{ids} AND name LIKE '%7'")}
    old_ids = {row.id for row in test_site.sql(f"{ids} AND name NOT LIKE '%7'")}
    with test_site.turnstile("outbox_events", sql_part=test_site.org) as gate:
        job = test_site.insert_job("artifacts.retain", org=test_site.org)
        gate.kill(gate.step("worker.py"))
    remaining_ids = {row.id for row in test_site.sql(ids)}
    assert len(remaining_ids & old_ids) == len(old_ids) - BATCH
    # There are no events for deletions that were rolled back.
    assert {
        payload["artifact_id"] for payload in test_site.events("artifact.deleted")
    } == old_ids - remaining_ids
    test_site.resume_job(job)
    assert {row.id for row in test_site.sql(ids)} == new_ids
    event_ids = [payload["artifact_id"] for payload in test_site.events("artifact.deleted")]
    assert sorted(event_ids) == sorted(old_ids)


def test_a_document_is_reprocessed_after_its_worker_was_killed(test_site: Site) -> None:
    lines = [[f"Page {n} of many", *(f"word{n}x{k} " * 6 for k in range(8))] for n in range(220)]
    with test_site.turnstile("artifact_pages") as gate:
        files = {"file": ("many.pdf", pdf(lines), "application/pdf")}
        with ThreadPoolExecutor(1) as pool:
            upload = pool.submit(test_site.call, "POST", "/artifacts", files=files)
            gate.step("worker.py")
        gate.step("worker.py")
        worker = gate.step("worker.py")
        (parser,) = [
            child for parent in worker.parents() for child in list_sandboxed_processes(parent.pid)
        ]
        gate.kill(worker)
    wait_until(lambda: has_ended(parser), "the parser to end with the worker")
    pages = "SELECT number FROM artifact_pages WHERE organization_id = :org ORDER BY number"
    assert [row.number for row in test_site.sql(pages)] == [*range(1, 51)]
    assert test_site.events("artifact.ingested") == []
    job = test_site.find_job("artifacts.parse")
    test_site.resume_job(job.id)
    test_site.check_no_attempts("artifacts.parse")
    assert [row.number for row in test_site.sql(pages)] == [*range(1, 221)]
    (payload,) = test_site.events("artifact.ingested")
    assert (payload["artifact_id"], payload["page_count"]) == (upload.result()["id"], 220)
    artifact = test_site.call("GET", f"/artifacts/{payload['artifact_id']}")
    assert (artifact["status"], artifact["page_count"]) == ("ready", 220)
    text = test_site.get_value("SELECT text FROM artifact_texts WHERE organization_id = :org")
    assert [text.count(f"Page {n} of many") for n in range(220)] == [1] * 220
