"""Check that an idle service has lost nothing and done nothing twice."""

import os
import subprocess
import sys
from collections import Counter
from typing import Any

from sqlalchemy import NullPool, create_engine, make_url

from tests.chaos.clients import Client
from tests.chaos.ledger import ExpectedEvent, Ledger
from tests.chaos.receiver import Receiver
from tests.faults.conftest import ROOT, Service
from tests.faults.sites import Site

_UNFINISHED = {
    "jobs": "SELECT count(*) FROM jobs WHERE organization_id = :org"
    " AND status NOT IN ('completed', 'failed', 'discarded')",
    "deliveries": "SELECT count(*) FROM webhook_deliveries WHERE organization_id = :org"
    " AND status = 'pending'",
    "documents": "SELECT count(*) FROM artifacts WHERE organization_id = :org"
    " AND status = 'processing'",
}
_EVENTS = (
    "SELECT name, coalesce(data->>'tag_set_id', data->>'job_id', data->>'artifact_id') AS subject,"
    " count(*) AS number FROM outbox_events WHERE organization_id = :org GROUP BY 1, 2"
)


def open_sites(service: Service, slugs: list[str]) -> dict[str, Site]:
    """Return a `Site` for each organization, by slug."""
    url = make_url(service.environment()["DATABASE_URL"]).set(drivername="postgresql+psycopg2")
    engine = create_engine(url, poolclass=NullPool)
    return {slug: Site(service, engine, slug) for slug in slugs}


def count_unfinished(sites: dict[str, Site]) -> Counter[str]:
    """Return the numbers of unfinished jobs, deliveries and documents."""
    counts: Counter[str] = Counter()
    for site in sites.values():
        for name, statement in _UNFINISHED.items():
            counts[name] += site.get_value(statement)
    return counts


def find_violations(
    sites: dict[str, Site], ledger: Ledger, receiver: Receiver, clients: dict[str, Client]
) -> list[str]:
    """Return descriptions of everything that was lost, done twice or never finished.

    The violations in the ledger are included.
    """
    violations = list(ledger.violations)
    for slug, site in sites.items():
        violations += _check_documents(slug, site, ledger)
        violations += _check_tag_sets(slug, site, ledger)
        violations += _check_jobs(site)
        violations += _check_exports(slug, ledger, clients[slug])
        violations += _check_events(slug, site, _list_expected_events(slug, ledger), receiver)
    return violations


def verify_audit_log(service: Service, slug: str) -> list[str]:
    """Run `flask audit verify` for an organization; if it fails, return its output."""
    command = [sys.executable, "-m", "flask", "--app", "wsgi", "audit", "verify", slug]
    result = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **service.environment()},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return (
        [] if result.returncode == 0 else [f"audit log of {slug}: {result.stdout}{result.stderr}"]
    )


def count_repeated_deliveries(receiver: Receiver) -> int:
    """Return how many deliveries the receiver acknowledged more than once."""
    return sum(
        count > 1 for deliveries in receiver.received.values() for count in deliveries.values()
    )


def _list_expected_events(slug: str, ledger: Ledger) -> list[ExpectedEvent]:
    """List the events in the ledger, and the ingestion of each document that was not deleted.

    A deleted document may have been deleted before it was ingested.
    """
    ingestions = [
        ExpectedEvent(slug, "artifact.ingested", identifier, delivered=True)
        for identifier, (organization, state) in ledger.documents.items()
        if organization == slug and state == "present"
    ]
    return ingestions + [event for event in ledger.expected_events if event.organization == slug]


def _check_documents(slug: str, site: Site, ledger: Ledger) -> list[str]:
    rows = site.sql("SELECT id, status FROM artifacts WHERE organization_id = :org")
    stored = {str(row.id): row.status for row in rows}
    recorded = {key: state for key, (org, state) in ledger.documents.items() if org == slug}
    violations = [
        f"document {key} has failed" for key, status in stored.items() if status == "failed"
    ]
    for key, state in recorded.items():
        if (state == "present") != (key in stored):
            violations.append(f"document {key} should be {state}")
    unknown_ids = stored.keys() - recorded.keys()
    return violations + [f"document {key} was never acknowledged" for key in unknown_ids]


def _check_tag_sets(slug: str, site: Site, ledger: Ledger) -> list[str]:
    rows = site.sql("SELECT id, status, tags FROM tag_sets WHERE organization_id = :org")
    stored = {str(row.id): (row.status, _values(row.tags)) for row in rows}
    return [
        f"tag set {key} is {stored.get(key)}, not {status} with {tags}"
        for key, (org, status, tags) in ledger.tag_sets.items()
        if org == slug and stored.get(key) != (status, _values(tags))
    ]


def _values(tags: list[Any]) -> list[tuple[str, Any]]:
    return [(tag["field"], tag["value"]) for tag in tags]


def _check_jobs(site: Site) -> list[str]:
    rows = site.sql(
        "SELECT id, function, error FROM jobs WHERE organization_id = :org AND status = 'failed'"
    )
    return [f"job {row.id} ({row.function}) failed: {row.error}" for row in rows]


def _check_exports(slug: str, ledger: Ledger, client: Client) -> list[str]:
    violations = []
    for key, organization in ledger.exports.items():
        export = client.get(f"/exports/{key}") if organization == slug else {"status": "completed"}
        if export is None or export["status"] != "completed":
            violations.append(f"export {key}: {export}")
    return violations


def _check_events(
    slug: str, site: Site, expected_events: list[ExpectedEvent], receiver: Receiver
) -> list[str]:
    emitted_counts = {(row.name, row.subject): row.number for row in site.sql(_EVENTS)}
    violations = []
    for event in expected_events:
        key = (event.event, event.subject)
        if emitted_counts.get(key) != 1:
            violations.append(f"{slug}: {key} was emitted {emitted_counts.get(key, 0)} times")
        deliveries = receiver.received.get(key, {})
        if event.delivered and len(deliveries) != 1:
            violations.append(f"{slug}: {key} arrived as {len(deliveries)} deliveries")
    return violations
