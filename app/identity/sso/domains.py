"""Email domains, which an organization lists and proves by a DNS record with a token.

Only one organization at a time can have proven a domain. A proof expires when the DNS has reported
for three days that the record is missing. A DNS server that does not respond changes nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from enum import Enum
from math import inf
from time import monotonic
from typing import Any

import dns.exception
import dns.resolver
import idna

from app.identity.sso import queries
from app.identity.sso.models import Domain
from app.kit import db, errors, secrets, tenancy

RECORD_NAME = "_labeling-challenge"
VALUE_PREFIX = "labeling-domain="
QUERY_TIMEOUT = 3.0
"""The timeout in seconds for one query, including all name servers and retries."""
REQUEST_TIMEOUT = 5.0
"""The timeout in seconds for all queries of an API request; the hourly job does the rest."""
_MAX_THREADS = 8


class Proof(Enum):
    """Result of a query: `ABSENT` if the DNS denies the record, `UNKNOWN` if the query failed."""

    FOUND = "found"
    ABSENT = "absent"
    UNKNOWN = "unknown"


GRACE_PERIOD = timedelta(days=3)
_MAX_LENGTH = 253
_PROBLEMS = {
    Proof.ABSENT: "The DNS record was not found.",
    Proof.UNKNOWN: "The DNS did not respond.",
}
_DOMAIN_TAKEN_MESSAGE = "Another organization has proven this domain."


def create_system_resolver() -> dns.resolver.Resolver:
    """Return a resolver with the machine's current configuration."""
    return dns.resolver.Resolver()


make_resolver: Callable[[], dns.resolver.Resolver] = create_system_resolver
"""The function that creates the resolver. Tests replace it to use their own DNS server."""


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


def parse(domain: str, field: str) -> str:
    """Return the domain in ASCII and lower case, as `addresses.parse` normalizes it.

    Raises 400 on `field` if it is not a domain.
    """
    text = domain.strip().rstrip(".").lower()
    try:
        name = idna.encode(text, uts46=True, std3_rules=True).decode().lower()
    except (idna.IDNAError, UnicodeError):
        name = ""
    if "." not in name or len(name) > _MAX_LENGTH or name.rpartition(".")[2].isdigit():
        raise errors.invalid("This is not a valid email domain.", field)
    return name


def replace_all(names: Iterable[str]) -> list[Domain]:
    """Replace the current organization's list of domains, and return it.

    Domains that stay in the list stay proven.
    """
    new_names = set(names)
    rows = queries.list_domains()
    for row in rows:
        if row.domain not in new_names:
            db.session().delete(row)
    old_names = {row.domain for row in rows}
    for name in sorted(new_names - old_names):
        db.session().add(Domain(domain=name, token=secrets.random_token(24)))
    db.session().flush()
    return queries.list_domains()


def record_proofs(rows: Iterable[Domain], proofs: Mapping[str, Proof]) -> list[str]:
    """Store the results of the DNS checks, and return the domains that are newly proven."""
    return [
        row.domain
        for row in rows
        if row.domain in proofs and _record_proof(row, proofs[row.domain])
    ]


def _record_proof(row: Domain, proof: Proof) -> bool:
    if proof is Proof.FOUND:
        if row.verified_at is None:
            return mark_proven(row)
        row.missing_since = row.problem = None
    elif row.verified_at is None:
        row.problem = _PROBLEMS[proof]
    elif proof is Proof.ABSENT and not row.vouched:
        _handle_missing_record(row)
    return False


def mark_proven(row: Domain) -> bool:
    """Mark a domain as proven, unless another organization has proven it.

    Returns whether the domain is proven now.
    """
    with tenancy.across_organizations(reason="only one organization can have proven a domain"):
        is_taken = queries.is_proven_by_another(row.domain, row.organization_id)
    row.problem = _DOMAIN_TAKEN_MESSAGE if is_taken else None
    if not is_taken:
        row.verified_at = db.utc_now()
        row.missing_since = None
    db.session().flush()
    return not is_taken


def _handle_missing_record(row: Domain) -> None:
    row.problem = _PROBLEMS[Proof.ABSENT]
    row.missing_since = row.missing_since or db.utc_now()
    if row.missing_since < db.utc_now() - GRACE_PERIOD:
        row.verified_at = row.missing_since = None


def describe(row: Domain) -> dict[str, Any]:
    """Return a domain for the API response, with the DNS record that proves it."""
    return {
        "domain": row.domain,
        "verified_at": row.verified_at,
        "problem": row.problem,
        "record": {
            "type": "TXT",
            "name": f"{RECORD_NAME}.{row.domain}",
            "value": VALUE_PREFIX + row.token,
        },
    }
