"""What must hold when the service has come to rest."""

import os
import subprocess
import sys
from collections import Counter
from typing import Any

from sqlalchemy import NullPool, create_engine, make_url

from tests.chaos.clients import Client
from tests.chaos.ledger import Expected, Ledger
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
    """Return the organizations, by their slugs."""
    url = make_url(service.environment()["DATABASE_URL"]).set(drivername="postgresql+psycopg2")
    engine = create_engine(url, poolclass=NullPool)
    return {slug: Site(service, engine, slug) for slug in slugs}


def count_unfinished(sites: dict[str, Site]) -> Counter[str]:
    """Return how many jobs, events, deliveries and documents are not finished."""
    found: Counter[str] = Counter()
    for site in sites.values():
        for what, statement in _UNFINISHED.items():
            found[what] += site.one(statement)
    return found


def find_violations(
    sites: dict[str, Site], ledger: Ledger, receiver: Receiver, clients: dict[str, Client]
) -> list[str]:
    """Return what was lost, done twice, or never finished."""
    found = list(ledger.violations)
    for slug, site in sites.items():
        found += _check_documents(slug, site, ledger)
        found += _check_tag_sets(slug, site, ledger)
        found += _check_jobs(site)
        found += _check_exports(slug, ledger, clients[slug])
        found += _check_events(slug, site, _expected(slug, ledger), receiver)
    return found


def verify_audit_log(service: Service, slug: str) -> list[str]:
    """Return what `flask audit verify` says against the audit log of an organization."""
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


def count_sent_twice(receiver: Receiver) -> int:
    """Return how many deliveries the receiver acknowledged more than once."""
    return sum(number > 1 for sent in receiver.received.values() for number in sent.values())


def _expected(slug: str, ledger: Ledger) -> list[Expected]:
    present = [
        Expected(slug, "artifact.ingested", identifier, delivered=True)
        for identifier, (organization, state) in ledger.documents.items()
        if organization == slug and state == "present"
    ]
    return present + [entry for entry in ledger.expected if entry.organization == slug]


def _check_documents(slug: str, site: Site, ledger: Ledger) -> list[str]:
    rows = site.sql("SELECT id, status FROM artifacts WHERE organization_id = :org")
    stored = {str(row.id): row.status for row in rows}
    entered = {key: state for key, (org, state) in ledger.documents.items() if org == slug}
    found = [f"document {key} is failed" for key, status in stored.items() if status == "failed"]
    for key, state in entered.items():
        if (state == "present") != (key in stored):
            found.append(f"document {key} should be {state}")
    found += [f"document {key} was never acknowledged" for key in stored.keys() - entered.keys()]
    return found


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
    found = []
    for key, organization in ledger.exports.items():
        export = client.get(f"/exports/{key}") if organization == slug else {"status": "completed"}
        if export is None or export["status"] != "completed":
            found.append(f"export {key}: {export}")
    return found


def _check_events(slug: str, site: Site, expected: list[Expected], receiver: Receiver) -> list[str]:
    emitted = {(row.name, row.subject): row.number for row in site.sql(_EVENTS)}
    found = []
    for entry in expected:
        key = (entry.event, entry.subject)
        if emitted.get(key) != 1:
            found.append(f"{slug}: {key} was emitted {emitted.get(key, 0)} times")
        deliveries = receiver.received.get(key, {})
        if entry.delivered and len(deliveries) != 1:
            found.append(f"{slug}: {key} arrived as {len(deliveries)} deliveries")
    return found
