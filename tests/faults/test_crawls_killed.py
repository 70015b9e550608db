"""A crawl whose worker is killed: it continues, and no document is created twice."""

import pytest

from tests.factories.waiting import wait_until
from tests.faults.sites import Site

pytestmark = pytest.mark.xdist_group("faults")

BATCH = 16


def test_a_crawl_outlives_its_worker(place: Site) -> None:
    folder = place.service.folder / "sources" / place.org
    folder.mkdir(parents=True)
    for number in range(4 * BATCH):
        (folder / f"{number:03}.txt").write_text(f"Text {number} of {place.slug}")
    body = {"name": "Inbox", "type": "local", "settings": {}}
    connector = place.call("POST", "/connectors", json=body)["id"]
    with place.turnstile("ingestion_items") as gate:
        job_id = place.call("POST", f"/connectors/{connector}/crawl")["id"]
        for _ in range(2):
            worker = gate.step("worker.py")
        gate.kill(worker)
    job = place.find_job("connectors.crawl").id
    running = place.call("GET", f"/ingestion-jobs/{job_id}")
    assert (running["status"], running["progress"]["done"]) == ("running", 2 * BATCH)
    place.expire_lease(job)
    place.wait_for_job(job)

    def has_ended() -> bool:
        return bool(place.call("GET", f"/ingestion-jobs/{job_id}")["finished_at"])

    wait_until(has_ended, "the documents to be parsed")
    done = place.call("GET", f"/ingestion-jobs/{job_id}")
    assert (done["status"], done["counts"]["created"]) == ("completed", 4 * BATCH)
    assert place.one("SELECT count(*) FROM artifacts WHERE organization_id = :org") == 4 * BATCH
    announced = [one["artifact_id"] for one in place.events("artifact.ingested")]
    assert (len(announced), len(set(announced))) == (4 * BATCH, 4 * BATCH)
    assert place.find_job("connectors.crawl").attempts == 0, "kills are no errors of the job"
