"""Check that two machines with one database, Redis and storage share the work.

Each machine is a supervisor with its own data folder. The first machine runs the servers.
"""

import signal
from collections.abc import Iterator

import orjson
import pytest

from tests.factories.processes import send_signal
from tests.factories.waiting import wait_until
from tests.faults.conftest import Service
from tests.faults.machines import kill_machine, run_another_machine
from tests.faults.sites import Site
from tests.faults.turnstile import Turnstile

pytestmark = pytest.mark.xdist_group("faults")

_TEXTS = 2_000
"""The number of texts to import: four batches."""


@pytest.fixture
def second_machine(test_site: Site) -> Iterator[Service]:
    """Run a second machine, with the credentials of the first machine."""
    with run_another_machine(test_site.service) as machine:
        machine.headers = dict(test_site.service.headers)
        yield machine


def test_two_machines_share_the_work_and_one_completes_the_work_of_the_other(
    test_site: Site, second_machine: Service
) -> None:
    _check_that_files_are_shared(test_site, second_machine)
    job_id = _start_import_and_kill_its_machine(test_site, second_machine)
    job = test_site.find_job("bulk_import.run").id
    test_site.resume_job(job)
    done = test_site.call("GET", f"/ingestion-jobs/{job_id}")
    assert (done["status"], done["counts"]["created"]) == ("completed", _TEXTS)
    ingested_ids = [event["artifact_id"] for event in test_site.events("artifact.ingested")]
    assert (len(ingested_ids), len(set(ingested_ids))) == (1 + _TEXTS, 1 + _TEXTS)


def _check_that_files_are_shared(test_site: Site, second_machine: Service) -> None:
    content = b"Invoice 7 of two machines"
    response = second_machine.call("POST", "/artifacts", files={"file": ("invoice.txt", content)})
    assert response.status_code == 201, response.text
    path = f"/artifacts/{response.json()['data']['id']}"
    wait_until(
        lambda: test_site.call("GET", path)["status"] == "ready", "the document to be parsed"
    )
    assert test_site.service.call("GET", f"{path}/content").content == content
    path = f"/exports/{test_site.call('POST', '/exports', json={'format': 'jsonl'})['id']}"
    wait_until(lambda: test_site.call("GET", path)["status"] == "completed", "the export to end")
    assert second_machine.call("GET", f"{path}/download").status_code == 200


def _start_import_and_kill_its_machine(test_site: Site, second_machine: Service) -> str:
    """Start an import on the second machine, and kill the machine; return the id of the job."""
    records = ({"text": f"Text {number} of {test_site.slug}"} for number in range(_TEXTS))
    body = {"content": b"\n".join(map(orjson.dumps, records)).decode(), "name": "texts.jsonl"}
    suspended = test_site.service.processes("worker.py")
    with Turnstile(second_machine.processes, test_site.engine, "ingestion_items") as gate:
        for process in suspended:
            send_signal(process, signal.SIGSTOP)
        try:
            job_id = str(test_site.call("POST", "/artifacts/bulk-import", json=body)["id"])
            for _ in range(2):
                gate.step("worker.py")
            kill_machine(second_machine)
        finally:
            for process in suspended:
                send_signal(process, signal.SIGCONT)
    return job_id
