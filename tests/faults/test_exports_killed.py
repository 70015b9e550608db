"""Exports whose workers are killed: every job is completed, and every file is complete."""

import hashlib
import random
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from threading import Event
from typing import Any

import pytest
import redis
import requests

from tests.factories.processes import send_signal
from tests.factories.servers import serving
from tests.factories.waiting import wait_until
from tests.faults.conftest import ADDRESS, DEADLINE
from tests.faults.sites import Site

pytestmark = pytest.mark.xdist_group("faults")

DOCUMENTS = 1_500
KILLS = 10
ACCEPT = """
UPDATE tag_sets SET status = 'accepted', decided_at = now() WHERE organization_id = :org
"""


@pytest.fixture
def labeled(place: Site) -> Site:
    (labeler,) = place.labelers(1)
    place.documents(DOCUMENTS, schema_id=place.schema())
    place.submitted(labeler)
    place.sql(ACCEPT)
    return place


@dataclass
class Storehouse:
    """A server that takes files by PUT. The first request waits until `go` is set."""

    url: str = ""
    files: dict[str, list[bytes]] = field(default_factory=dict)
    arrived: Event = field(default_factory=Event)
    go: Event = field(default_factory=Event)


@pytest.fixture
def storehouse() -> Iterator[Storehouse]:
    house = Storehouse()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            house.arrived.set()
            assert house.go.wait(DEADLINE)
            house.files.setdefault(self.path, []).append(body)
            self.send_response(201)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with serving(Handler, ADDRESS) as port:
        house.url = f"http://{ADDRESS}:{port}/{{name}}"
        try:
            yield house
        finally:
            house.go.set()


def _kill_workers(place: Site, group: str = "exports") -> None:
    """Kill the workers of a group and what they have forked.

    A job whose worker died ten times fails, so a test kills fewer for each job.
    """
    for process in place.service.processes("worker.py", group):
        send_signal(process, signal.SIGKILL)


def _expire_leases(place: Site) -> None:
    place.sql(
        "UPDATE jobs SET leased_until = now() WHERE organization_id = :org"
        " AND function = 'exports.run' AND leased_until > now()"
    )


def _wait_for_end(place: Site, job_id: str) -> None:
    _expire_leases(place)
    wait_until(lambda: place.call("GET", f"/exports/{job_id}")["finished_at"], "the export to end")


def _check(place: Site, job_id: str) -> bytes:
    """Check that an export is completed and has one event, and return its file."""
    export = place.call("GET", f"/exports/{job_id}")
    assert (export["status"], export["row_count"]) == ("completed", DOCUMENTS)
    answer: requests.Response = place.service.call("GET", f"/exports/{job_id}/download")
    assert answer.status_code == 200, answer.text
    assert hashlib.sha256(answer.content).hexdigest() == export["sha256"]
    assert len(answer.content.splitlines()) == DOCUMENTS
    told = [event["job_id"] for event in place.events("export.completed")]
    assert told.count(job_id) == 1
    return answer.content


def test_exports_outlive_kills_at_random_moments(labeled: Site) -> None:
    chance = random.Random(12)
    contents, killed = set(), 0
    while killed < KILLS:
        job_id = labeled.call("POST", "/exports", json={"format": "jsonl"})["id"]
        for _ in range(5):
            moment = chance.choice(("queued", "running", "written"))
            with labeled.turnstile("exports", saying="UPDATE exports") as gate:
                if moment == "queued":
                    wait_until(lambda: labeled.service.processes("worker.py", "exports"))
                    _kill_workers(labeled)
                else:
                    _expire_leases(labeled)
                    worker = gate.arrived("worker.py")
                    if moment == "written":
                        worker = gate.step("worker.py")
                    gate.kill(worker)
            killed += 1
        _wait_for_end(labeled, job_id)
        contents.add(_check(labeled, job_id))
    # The same filter over the same data gives the same bytes.
    assert len(contents) == 1
    job = labeled.find_job("exports.run")
    assert job.attempts == 0, "kills are no errors of the job"


def test_a_scheduled_run_outlives_kills_and_an_empty_valkey(
    labeled: Site, storehouse: Storehouse
) -> None:
    body = {
        "name": "Nightly",
        "format": "jsonl",
        "mode": "incremental",
        "cron": "0 3 * * *",
        "destination": {"kind": "http", "settings": {"url": storehouse.url}},
    }
    scheduled = labeled.call("POST", "/exports/scheduled", json=body)["id"]
    runs = f"/exports/scheduled/{scheduled}/runs"
    with labeled.turnstile("scheduled_export_runs", saying="INSERT INTO scheduled") as gate:
        labeled.sql(
            "UPDATE scheduled_exports SET next_run_at = now() - interval '2 days' WHERE id = :id",
            id=scheduled,
        )
        labeled.job("scheduled_exports.start_due")
        gate.kill(gate.arrived("worker.py"))
    assert labeled.call("GET", runs) == []
    _flush_valkey(labeled)
    labeled.sql(
        "UPDATE jobs SET leased_until = now() WHERE function = 'scheduled_exports.start_due'"
        " AND leased_until > now()"
    )
    wait_until(lambda: labeled.call("GET", runs), "the run")
    assert storehouse.arrived.wait(DEADLINE)
    _kill_workers(labeled, "crawls")
    storehouse.go.set()
    labeled.expire_lease(labeled.find_job("scheduled_exports.deliver").id)

    def is_delivered() -> bool:
        return bool(labeled.call("GET", runs)[0]["delivery"]["status"] == "delivered")

    wait_until(is_delivered, "the delivery")
    (run,) = labeled.call("GET", runs)
    assert (run["status"], run["trigger"]) == ("completed", "schedule")
    content = _check(labeled, run["job_id"])
    # A killed delivery is repeated under the same name, with the same bytes.
    ((_, bodies),) = storehouse.files.items()
    assert set(bodies) == {content}
    assert labeled.call("GET", f"/exports/scheduled/{scheduled}")["exported_until"]


def _flush_valkey(place: Site) -> None:
    with redis.from_url(place.service.environment()["REDIS_URL"]) as client:
        client.flushall()


def test_two_relays_start_one_run(labeled: Site) -> None:
    body = {"name": "Hourly", "format": "csv", "cron": "0 * * * *"}
    ids = [labeled.call("POST", "/exports/scheduled", json=body)["id"] for _ in range(3)]
    labeled.sql(
        "UPDATE scheduled_exports SET next_run_at = now() - interval '3 hours'"
        " WHERE organization_id = :org"
    )
    for _ in range(4):
        labeled.job("scheduled_exports.start_due")
    count = "SELECT count(*) FROM scheduled_export_runs WHERE organization_id = :org"
    wait_until(lambda: labeled.one(count) >= len(ids), "the runs")
    for scheduled in ids:
        (run,) = labeled.call("GET", f"/exports/scheduled/{scheduled}/runs")
        _wait_for_end(labeled, run["job_id"])
    assert labeled.one(count) == len(ids)
