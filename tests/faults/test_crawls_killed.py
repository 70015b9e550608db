"""Check that a crawl continues after its worker is killed, and creates no document twice."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.sites import Site
from tests.intake.connectors.servers import SERVERS, Place

pytestmark = pytest.mark.xdist_group("faults")

BATCH = 16
DOCUMENTS = BATCH + 2


class _LocalFolder:
    settings: dict[str, object] = {}

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, number: int) -> None:
        (self._folder / f"{number:03}.txt").write_text(f"words {number}")


@contextmanager
def serve(type_name: str, test_site: Site, folder: Path) -> Iterator[Place]:
    """Serve a source of a type; the source `local` is in the folder of the organization."""
    if type_name != "local":
        with SERVERS[type_name](folder) as server:
            yield server
        return
    local = test_site.service.folder / "sources" / test_site.org
    local.mkdir(parents=True)
    yield _LocalFolder(local)


@pytest.mark.parametrize("type_name", ["local", *SERVERS])
def test_a_crawl_continues_after_its_worker_is_killed(
    test_site: Site, tmp_path: Path, type_name: str
) -> None:
    with serve(type_name, test_site, tmp_path) as source:
        for number in range(DOCUMENTS):
            source.add(number)
        body = {"name": "Inbox", "type": type_name, "settings": source.settings}
        connector = test_site.call("POST", "/connectors", json=body)["id"]
        # Jobs that record the outcomes of parsed documents update this table.
        with test_site.turnstile("ingestion_items", sql_part="INSERT INTO ingestion_items") as gate:
            job_id = test_site.call("POST", f"/connectors/{connector}/crawl")["id"]
            gate.kill(gate.step("worker.py"))
            # During the block, no other worker can continue the job.
            job = test_site.find_job("connectors.crawl").id
            running = test_site.call("GET", f"/ingestion-jobs/{job_id}")
            assert (running["status"], running["progress"]["done"]) == ("running", BATCH)
        test_site.resume_job(job)
        done = test_site.wait_for_end(f"/ingestion-jobs/{job_id}")
    assert (done["status"], done["counts"]["created"]) == ("completed", DOCUMENTS)
    assert done["counts"]["found"] == DOCUMENTS, "the listing continued after the last batch"
    assert test_site.count("artifacts") == DOCUMENTS
    ingested_ids = [event["artifact_id"] for event in test_site.events("artifact.ingested")]
    assert (len(ingested_ids), len(set(ingested_ids))) == (DOCUMENTS, DOCUMENTS)
    test_site.check_no_attempts("connectors.crawl")
