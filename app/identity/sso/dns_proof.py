"""Check in the DNS whether the owner of a domain has published our token."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from math import inf
from time import monotonic

import dns.exception
import dns.resolver

RECORD_NAME = "_labeling-challenge"
VALUE_PREFIX = "labeling-domain="
QUERY_TIMEOUT = 3.0
"""Seconds for one query, over all name servers and retries."""
REQUEST_TIMEOUT = 5.0
"""Seconds for all queries during an API request; the hourly job does the rest."""
_MAX_THREADS = 8


class Proof(Enum):
    """Result of a query: `ABSENT` if the DNS denies the record, `UNKNOWN` if the query failed."""

    FOUND = "found"
    ABSENT = "absent"
    UNKNOWN = "unknown"


def system_resolver() -> dns.resolver.Resolver:
    """Return a resolver with the machine's current configuration."""
    return dns.resolver.Resolver()


make_resolver: Callable[[], dns.resolver.Resolver] = system_resolver
"""Factory of the resolver. Tests replace it with one for their own DNS server."""


def check_domains(tokens: Mapping[str, str], *, timeout: float = inf) -> dict[str, Proof]:
    """Check for each domain whether its TXT record contains its token.

    This can take seconds, so no transaction may be open. `timeout` is the time limit in seconds for
    all domains together; domains not checked by then are `UNKNOWN`.
    """
    if not tokens:
        return {}
    deadline = monotonic() + timeout
    with ThreadPoolExecutor(min(_MAX_THREADS, len(tokens))) as pool:
        proofs = pool.map(lambda domain: _check_domain(domain, tokens[domain], deadline), tokens)
        return dict(zip(tokens, proofs, strict=True))


def _check_domain(domain: str, token: str, deadline: float) -> Proof:
    lifetime = min(QUERY_TIMEOUT, deadline - monotonic())
    if lifetime <= 0:
        return Proof.UNKNOWN
    try:
        answer = make_resolver().resolve(
            f"{RECORD_NAME}.{domain}.", "TXT", lifetime=lifetime, search=False
        )
        texts = {b"".join(record.strings) for record in answer}
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
        return Proof.ABSENT
    except (dns.exception.DNSException, OSError, ValueError):
        return Proof.UNKNOWN
    return Proof.FOUND if f"{VALUE_PREFIX}{token}".encode() in texts else Proof.ABSENT
