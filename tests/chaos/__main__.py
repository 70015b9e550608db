"""Chaos test: clients write to a running service while its processes are killed and frozen.

Run `make chaos` or `python -m tests.chaos [--minutes 30] [--machines 2] [--seed N]`. Each
acknowledged write is recorded in a ledger. At the end, each record must exist as in the ledger,
each of its events must have been emitted once and delivered, and no job may have failed. Prints
statistics, and exits with status 1 if there is a violation.
"""

import argparse
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import gettempdir

import requests
from sqlalchemy.exc import SQLAlchemyError

from devserver.progress import Progress
from tests.chaos import checks
from tests.chaos.clients import Client, Writer
from tests.chaos.faults import Faults
from tests.chaos.ledger import Ledger
from tests.chaos.receiver import EVENTS, Receiver, receiving
from tests.faults.conftest import Service, run_service
from tests.faults.machines import run_another_machine
from tests.faults.sites import create_site

_ORGANIZATIONS = 3
_WRITERS = 2
_IDLE_SECONDS = 900.0
"""The maximum time in seconds for the service to finish all work after the last fault."""
say = partial(print, flush=True)


def main() -> int:
    """Run the chaos test, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--machines", type=int, default=1, help="machines with one database")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    path = Path(gettempdir()) / f"labeling-chaos-{options.seed}.jsonl"
    say(f"Seed {options.seed}; the ledger is {path}.")
    ledger = Ledger(path)
    with ExitStack() as stack:
        receiver = stack.enter_context(receiving())
        first = stack.enter_context(run_service(RATE_LIMITS="off"))
        others = [
            stack.enter_context(run_another_machine(first)) for _ in range(options.machines - 1)
        ]
        machines = [first, *others]
        schema_ids = _create_organizations(first, receiver)
        faults = _run(machines, schema_ids, ledger, options.minutes * 60, options.seed)
        violations = _check(machines, list(schema_ids), ledger, receiver)
    _report(ledger, faults, receiver, violations)
    return 1 if violations else 0


def _create_organizations(service: Service, receiver: Receiver) -> dict[str, str]:
    """Create organizations with a schema and a webhook; return the schema ids by slug."""
    schema_ids = {}
    with ExitStack() as stack:
        for number in range(_ORGANIZATIONS):
            organization = stack.enter_context(create_site(service, f"Chaos {number}"))
            body = {"settings": {"allow_self_review": True}}
            organization.call("PATCH", f"/organizations/{organization.slug}", json=body)
            webhook = {"url": receiver.url, "events": list(EVENTS)}
            organization.call("POST", "/webhooks", json=webhook)
            schema_ids[organization.slug] = str(organization.create_schema())
    return schema_ids


def _run(
    machines: Sequence[Service],
    schema_ids: dict[str, str],
    ledger: Ledger,
    seconds: float,
    seed: int,
) -> Counter[str]:
    """Inject faults while clients write; return the number of faults by name."""
    stop_writers, stop_faults = threading.Event(), threading.Event()
    writers = [
        Writer(
            machines,
            slug,
            ledger,
            stop_writers,
            schema_id=schema_id,
            seed=f"{seed} {slug} {number}",
        )
        for slug, schema_id in schema_ids.items()
        for number in range(_WRITERS)
    ]
    faults = Faults(machines, seed, stop_faults)
    progress = Progress()
    progress.begin("chaos")
    started_at = time.monotonic()

    def tick() -> None:
        elapsed = time.monotonic() - started_at
        progress.advance(int(elapsed), int(seconds))
        if elapsed > seconds:
            stop_faults.set()

    for writer in writers:
        writer.thread.start()
    faults.run(tick)
    stop_writers.set()
    for writer in writers:
        writer.thread.join()
    progress.done(f"{ledger.count_records()} records written, {faults.counts.total()} faults")
    return faults.counts


def _check(
    machines: Sequence[Service], slugs: list[str], ledger: Ledger, receiver: Receiver
) -> list[str]:
    """Wait until the service is idle, and return the violations."""
    progress = Progress()
    progress.begin("idle")
    deadline = time.monotonic() + _IDLE_SECONDS
    unfinished = Counter({"everything": 1})
    while unfinished.total() and time.monotonic() < deadline:
        time.sleep(0.5)
        progress.tick()
        try:
            sites = checks.open_sites(machines[0], slugs)
            unfinished = checks.count_unfinished(sites)
        except (SQLAlchemyError, requests.RequestException):
            continue
    progress.done(f"unfinished: {dict(+unfinished)}")
    clients = {slug: Client(machines, slug, ledger, threading.Event()) for slug in slugs}
    violations = [f"never finished: {name}" for name in +unfinished]
    violations += checks.find_violations(sites, ledger, receiver, clients)
    for slug in slugs:
        violations += checks.verify_audit_log(machines[0], slug)
    return violations


def _report(
    ledger: Ledger, faults: Counter[str], receiver: Receiver, violations: list[str]
) -> None:
    tag_sets = Counter(status for _, status, _ in ledger.tag_sets.values())
    documents = Counter(state for _, state in ledger.documents.values())
    say(f"Documents: {dict(documents)}; tag sets: {dict(tag_sets)}; exports: {len(ledger.exports)}")
    say(f"Responses: {dict(ledger.responses)}")
    say(f"Events expected: {len(ledger.expected_events)}, delivered: {len(receiver.received)},")
    say(f"  of these received more than once: {checks.count_repeated_deliveries(receiver)}")
    say(f"Faults: {dict(faults)}")
    for violation in violations[:50]:
        say(f"VIOLATION {violation}")
    say(f"{len(violations)} violations")


if __name__ == "__main__":
    sys.exit(main())
