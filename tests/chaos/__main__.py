"""Chaos: clients write to a running service while its processes are killed and frozen.

`make chaos` or `python -m tests.chaos [--minutes 30] [--seed N]`. Every acknowledged write is
entered in a ledger. In the end each of them must be there once, with each of its events emitted
once and delivered, and no job may have failed. Prints figures, and ends with status 1 on a
violation.
"""

import argparse
import random
import sys
import threading
import time
from collections import Counter
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
from tests.faults.conftest import Service, running
from tests.faults.sites import site

_ORGANIZATIONS = 3
_WRITERS = 2
_REST_SECONDS = 900.0
say = partial(print, flush=True)


def main() -> int:
    """Run chaos for some minutes, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    path = Path(gettempdir()) / f"labeling-chaos-{options.seed}.jsonl"
    say(f"Seed {options.seed}; the ledger is {path}.")
    ledger = Ledger(path)
    with receiving() as receiver, running(RATE_LIMITS="off") as service:
        slugs = _create_organizations(service, receiver)
        faults = _run(service, slugs, ledger, options.minutes * 60, options.seed)
        violations = _check(service, slugs, ledger, receiver)
    _report(ledger, faults, receiver, violations)
    return 1 if violations else 0


def _create_organizations(service: Service, receiver: Receiver) -> dict[str, str]:
    """Return the new organizations' slugs, each with the id of its schema."""
    found = {}
    with ExitStack() as stack:
        for number in range(_ORGANIZATIONS):
            place = stack.enter_context(site(service, f"Chaos {number}"))
            settings = {"settings": {"allow_self_review": True}}
            place.call("PATCH", f"/organizations/{place.slug}", json=settings)
            place.call("POST", "/webhooks", json={"url": receiver.url, "events": list(EVENTS)})
            found[place.slug] = str(place.schema())
    return found


def _run(
    service: Service, slugs: dict[str, str], ledger: Ledger, seconds: float, seed: int
) -> Counter[str]:
    """Have clients write, and inject faults meanwhile; return the faults by name."""
    stop, calm = threading.Event(), threading.Event()
    writers = [
        Writer(service, slug, ledger, stop, schema_id=schema, seed=f"{seed} {slug} {number}")
        for slug, schema in slugs.items()
        for number in range(_WRITERS)
    ]
    faults = Faults(service, seed, calm)
    progress = Progress()
    progress.begin("chaos")
    began = time.monotonic()

    def tick() -> None:
        elapsed = time.monotonic() - began
        progress.advance(int(elapsed), int(seconds))
        if elapsed > seconds:
            calm.set()

    for writer in writers:
        writer.thread.start()
    faults.run(tick)
    stop.set()
    for writer in writers:
        writer.thread.join()
    progress.done(f"{ledger.writes()} writes acknowledged, {faults.counts.total()} faults")
    return faults.counts


def _check(
    service: Service, slugs: dict[str, str], ledger: Ledger, receiver: Receiver
) -> list[str]:
    """Wait for the service to come to rest, and return the violations."""
    progress = Progress()
    progress.begin("rest")
    ends = time.monotonic() + _REST_SECONDS
    unfinished = Counter({"everything": 1})
    while unfinished.total() and time.monotonic() < ends:
        time.sleep(0.5)
        progress.tick()
        try:
            sites = checks.open_sites(service, list(slugs))
            unfinished = checks.count_unfinished(sites)
        except (SQLAlchemyError, requests.RequestException):
            continue
    progress.done(f"unfinished: {dict(+unfinished)}")
    clients = {slug: Client(service, slug, ledger, threading.Event()) for slug in slugs}
    found = [f"never finished: {what}" for what in +unfinished]
    found += checks.find_violations(sites, ledger, receiver, clients)
    for slug in slugs:
        found += checks.verify_audit_log(service, slug)
    return found


def _report(
    ledger: Ledger, faults: Counter[str], receiver: Receiver, violations: list[str]
) -> None:
    tag_sets = Counter(status for _, status, _ in ledger.tag_sets.values())
    documents = Counter(state for _, state in ledger.documents.values())
    say(f"Documents: {dict(documents)}; tag sets: {dict(tag_sets)}; exports: {len(ledger.exports)}")
    say(f"Answers: {dict(ledger.answers)}")
    say(f"Events expected: {len(ledger.expected)}, delivered: {len(receiver.received)},")
    say(f"  of these received more than once: {checks.count_sent_twice(receiver)}")
    say(f"Faults: {dict(faults)}")
    for violation in violations[:50]:
        say(f"VIOLATION {violation}")
    say(f"{len(violations)} violations")


if __name__ == "__main__":
    sys.exit(main())
