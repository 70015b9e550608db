"""Check that an import continues after its workers are killed, and creates nothing twice."""

import orjson
import pytest

from tests.factories.waiting import wait_until
from tests.faults.sites import Site

pytestmark = pytest.mark.xdist_group("faults")

BATCH = 500


def _start_import(test_site: Site, number: int) -> str:
    records = (
        {"text": f"Text {n} of {test_site.slug}", "tags": [{"field": "number", "value": str(n)}]}
        for n in range(number)
    )
    content = b"\n".join(map(orjson.dumps, records)).decode()
    body = {"content": content, "name": "texts.jsonl", "schema_id": str(test_site.create_schema())}
    return str(test_site.call("POST", "/artifacts/bulk-import", json=body)["id"])


def test_an_import_continues_after_kills_of_its_worker_and_postgresql(test_site: Site) -> None:
    with test_site.turnstile("ingestion_items") as gate:
        job_id = _start_import(test_site, 4 * BATCH)
        for _ in range(2):
            worker = gate.step("worker.py")
        gate.kill(worker)
    job = test_site.find_job("bulk_import.run").id
    running = test_site.call("GET", f"/ingestion-jobs/{job_id}")
    assert (running["status"], running["progress"]["done"]) == ("running", 2 * BATCH)
    assert test_site.count("artifacts") == 2 * BATCH
    with test_site.turnstile("ingestion_items") as gate:
        test_site.expire_lease(job)
        gate.step("worker.py")
        test_site.service.kill("postgres", "-D")
    # The service may report a readiness from before the kill.
    wait_until(test_site.is_database_ready, "PostgreSQL to accept connections again")
    test_site.resume_job(job)
    done = test_site.call("GET", f"/ingestion-jobs/{job_id}")
    assert done["status"] == "completed"
    assert (done["counts"]["found"], done["counts"]["created"]) == (4 * BATCH, 4 * BATCH)
    assert test_site.count("artifacts") == 4 * BATCH
    ingested_ids = [event["artifact_id"] for event in test_site.events("artifact.ingested")]
    assert (len(ingested_ids), len(set(ingested_ids))) == (4 * BATCH, 4 * BATCH)
    labeled_ids = [event["artifact_id"] for event in test_site.events("tag_set.submitted")]
    assert (len(labeled_ids), set(labeled_ids)) == (4 * BATCH, set(ingested_ids))
    assert test_site.count("tag_sets") == 4 * BATCH
    test_site.check_no_attempts("bulk_import.run")
