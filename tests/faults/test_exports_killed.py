"""Check that exports are completed although their workers are killed, with complete files."""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Event

import pytest
import requests

from tests.factories.servers import QuietHandler, serve_receiver
from tests.factories.waiting import wait_until
from tests.faults.conftest import ADDRESS, DEADLINE_SECONDS
from tests.faults.sites import Site

pytestmark = pytest.mark.xdist_group("faults")

DOCUMENTS = 1_500
KILLS = 10
ACCEPT = """
UPDATE tag_sets SET status = 'accepted', decided_at = now() WHERE organization_id = :org
"""


@pytest.fixture
def labeled_site(test_site: Site) -> Site:
    (labeler,) = test_site.create_labelers(1)
    test_site.create_documents(DOCUMENTS, schema_id=test_site.create_schema())
    test_site.create_submitted_tag_sets(labeler)
    test_site.sql(ACCEPT)
    return test_site


@dataclass
class UploadServer:
    """A server that receives files with PUT. It responds only after `may_respond` is set."""

    url: str = ""
    files: dict[str, list[bytes]] = field(default_factory=dict)
    arrived: Event = field(default_factory=Event)
    may_respond: Event = field(default_factory=Event)


@pytest.fixture
def upload_server() -> Iterator[UploadServer]:
    upload_server = UploadServer()

    def receive(request: QuietHandler) -> int:
        body = request.read_body()
        upload_server.arrived.set()
        assert upload_server.may_respond.wait(DEADLINE_SECONDS)
        upload_server.files.setdefault(request.path, []).append(body)
        return 201

    with serve_receiver(receive, ADDRESS) as url:
        upload_server.url = f"{url}/{{name}}"
        try:
            yield upload_server
        finally:
            upload_server.may_respond.set()


def _kill_workers(test_site: Site, group: str = "exports") -> None:
    """Kill the workers of a group and their child processes.

    A job fails after ten kills of its worker, so a test must kill fewer workers for each job.
    """
    test_site.service.kill("worker.py", group)


def _expire_leases(test_site: Site) -> None:
    test_site.sql(
        "UPDATE jobs SET leased_until = now() WHERE organization_id = :org"
        " AND function = 'exports.run' AND leased_until > now()"
    )


def _wait_for_end(test_site: Site, job_id: str) -> None:
    _expire_leases(test_site)
    test_site.wait_for_end(f"/exports/{job_id}")


def _check_export(test_site: Site, job_id: str) -> bytes:
    """Check that an export is completed and has one event, and return its file."""
    export = test_site.call("GET", f"/exports/{job_id}")
    assert (export["status"], export["row_count"]) == ("completed", DOCUMENTS)
    response: requests.Response = test_site.service.call("GET", f"/exports/{job_id}/download")
    assert response.status_code == 200, response.text
    assert hashlib.sha256(response.content).hexdigest() == export["sha256"]
    assert len(response.content.splitlines()) == DOCUMENTS
    completed_ids = [event["job_id"] for event in test_site.events("export.completed")]
    assert completed_ids.count(job_id) == 1
    return response.content


def test_exports_are_completed_after_kills_at_random_stages(labeled_site: Site) -> None:
    generator = random.Random(12)
    contents, killed = set(), 0
    while killed < KILLS:
        job_id = labeled_site.call("POST", "/exports", json={"format": "jsonl"})["id"]
        for _ in range(5):
            stage = generator.choice(("queued", "running", "written"))
            with labeled_site.turnstile("exports", sql_part="UPDATE exports") as gate:
                if stage == "queued":
                    wait_until(lambda: labeled_site.service.processes("worker.py", "exports"))
                    _kill_workers(labeled_site)
                else:
                    _expire_leases(labeled_site)
                    worker = gate.wait_for_arrival("worker.py")
                    if stage == "written":
                        worker = gate.step("worker.py")
                    gate.kill(worker)
            killed += 1
        _wait_for_end(labeled_site, job_id)
        contents.add(_check_export(labeled_site, job_id))
    # The same filter over the same data gives the same bytes.
    assert len(contents) == 1
    labeled_site.check_no_attempts("exports.run")


def test_a_scheduled_run_is_completed_after_kills_and_a_flush_of_valkey(
    labeled_site: Site, upload_server: UploadServer
) -> None:
    body = {
        "name": "Nightly",
        "format": "jsonl",
        "mode": "incremental",
        "cron": "0 3 * * *",
        "destination": {"kind": "http", "settings": {"url": upload_server.url}},
    }
    scheduled = labeled_site.call("POST", "/exports/scheduled", json=body)["id"]
    runs = f"/exports/scheduled/{scheduled}/runs"
    with labeled_site.turnstile("scheduled_export_runs", sql_part="INSERT INTO scheduled") as gate:
        labeled_site.sql(
            "UPDATE scheduled_exports SET next_run_at = now() - interval '2 days' WHERE id = :id",
            id=scheduled,
        )
        labeled_site.insert_job("scheduled_exports.start_due")
        gate.kill(gate.wait_for_arrival("worker.py"))
    assert labeled_site.call("GET", runs) == []
    labeled_site.service.flush_valkey()
    labeled_site.sql(
        "UPDATE jobs SET leased_until = now() WHERE function = 'scheduled_exports.start_due'"
        " AND leased_until > now()"
    )
    wait_until(lambda: labeled_site.call("GET", runs), "the run")
    assert upload_server.arrived.wait(DEADLINE_SECONDS)
    _kill_workers(labeled_site, "crawls")
    upload_server.may_respond.set()
    labeled_site.expire_lease(labeled_site.find_job("scheduled_exports.deliver").id)

    def is_delivered() -> bool:
        return bool(labeled_site.call("GET", runs)[0]["delivery"]["status"] == "delivered")

    wait_until(is_delivered, "the delivery")
    (run,) = labeled_site.call("GET", runs)
    assert (run["status"], run["trigger"]) == ("completed", "schedule")
    content = _check_export(labeled_site, run["job_id"])
    # A killed delivery is repeated under the same name, with the same bytes.
    ((_, bodies),) = upload_server.files.items()
    assert set(bodies) == {content}
    assert labeled_site.call("GET", f"/exports/scheduled/{scheduled}")["exported_until"]


def test_several_jobs_start_one_run(labeled_site: Site) -> None:
    body = {"name": "Hourly", "format": "csv", "cron": "0 * * * *"}
    ids = [labeled_site.call("POST", "/exports/scheduled", json=body)["id"] for _ in range(3)]
    labeled_site.sql(
        "UPDATE scheduled_exports SET next_run_at = now() - interval '3 hours'"
        " WHERE organization_id = :org"
    )
    for _ in range(4):
        labeled_site.insert_job("scheduled_exports.start_due")
    wait_until(lambda: labeled_site.count("scheduled_export_runs") >= len(ids), "the runs")
    for scheduled in ids:
        (run,) = labeled_site.call("GET", f"/exports/scheduled/{scheduled}/runs")
        _wait_for_end(labeled_site, run["job_id"])
    assert labeled_site.count("scheduled_export_runs") == len(ids)
