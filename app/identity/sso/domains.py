"""Email domains of an organization, and the DNS records that prove their ownership.

A domain can be verified for only one organization at a time. A verification expires when the DNS
has reported for three days that the record is missing, unless the operator has confirmed the
domain. While the DNS does not respond, the domain stays verified.
"""

import secrets
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from enum import Enum
from math import inf
from time import monotonic
from typing import NamedTuple

import dns.exception
import dns.resolver
import idna
from sqlalchemy.exc import IntegrityError

from app.identity.sso import queries
from app.identity.sso.models import Domain
from app.kit import db, errors, tenancy

RECORD_NAME = "_labeling-challenge"
RECORD_VALUE_PREFIX = "labeling-domain="
QUERY_TIMEOUT = 3.0
"""The timeout in seconds for one DNS query, including all name servers and retries."""
REQUEST_TIMEOUT = 5.0
"""The timeout in seconds for all DNS queries in one API request.

The hourly job checks the domains that were not checked within the timeout.
"""
_MAX_THREADS = 8


class DnsRecord(NamedTuple):
    """The DNS record that proves the ownership of a domain."""

    name: str
    value: str
    type: str = "TXT"


class DomainDetails(NamedTuple):
    """A domain, with the DNS record that proves its ownership."""

    domain: str
    verified_at: datetime | None
    problem: str | None
    record: DnsRecord


class ProofResult(Enum):
    """The result of looking for the DNS record that proves ownership of a domain.

    `ABSENT` means that the DNS has no such record. `UNKNOWN` means that the query failed or was not
    sent in time.
    """

    FOUND = "found"
    ABSENT = "absent"
    UNKNOWN = "unknown"


GRACE_PERIOD = timedelta(days=3)
"""The time for which a domain stays verified while its DNS record is missing."""
_MAX_DOMAIN_LENGTH = 253
_PROBLEMS = {
    ProofResult.ABSENT: "The DNS record was not found.",
    ProofResult.UNKNOWN: "The DNS did not respond.",
}
_DOMAIN_TAKEN_MESSAGE = "Another organization has verified this domain."


make_resolver: Callable[[], dns.resolver.Resolver] = dns.resolver.Resolver
"""Creates a DNS resolver with the machine's current configuration; tests replace this function."""


def get_domains_by_token(rows: Iterable[Domain]) -> dict[str, str]:
    """Return the domain names by token; a domain removed and added again has a new token."""
    return {row.token: row.domain for row in rows}


def check_domains(
    domains_by_token: Mapping[str, str], *, timeout: float = inf
) -> dict[str, ProofResult]:
    """Look up the TXT record of each domain, and check whether it contains the domain's token.

    The result has the same keys as `domains_by_token`. The queries can take seconds, so no
    transaction may be open. `timeout` is the timeout in seconds for all domains together. Domains
    that are not checked within the timeout are `UNKNOWN`.
    """
    if not domains_by_token:
        return {}
    deadline = monotonic() + timeout
    tokens, names = domains_by_token.keys(), domains_by_token.values()
    with ThreadPoolExecutor(min(_MAX_THREADS, len(tokens))) as pool:
        results = pool.map(lambda name, token: _check_domain(name, token, deadline), names, tokens)
        return dict(zip(tokens, results, strict=True))


def _check_domain(domain: str, token: str, deadline: float) -> ProofResult:
    lifetime = min(QUERY_TIMEOUT, deadline - monotonic())
    if lifetime <= 0:
        return ProofResult.UNKNOWN
    try:
        records = make_resolver().resolve(
            f"{RECORD_NAME}.{domain}.", "TXT", lifetime=lifetime, search=False
        )
        values = {b"".join(record.strings) for record in records}
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
        return ProofResult.ABSENT
    except (dns.exception.DNSException, OSError, ValueError):
        return ProofResult.UNKNOWN
    is_found = f"{RECORD_VALUE_PREFIX}{token}".encode() in values
    return ProofResult.FOUND if is_found else ProofResult.ABSENT


def parse(domain: str, field: str) -> str:
    """Parse a domain, and return it in ASCII and lower case, as `addresses.parse` does.

    Raises 400 for `field` if the domain is invalid.
    """
    text = domain.strip().rstrip(".").lower()
    try:
        name = idna.encode(text, uts46=True, std3_rules=True).decode().lower()
    except (idna.IDNAError, UnicodeError):
        name = ""
    if "." not in name or len(name) > _MAX_DOMAIN_LENGTH or name.rpartition(".")[2].isdigit():
        raise errors.invalid("This is not a valid email domain.", field)
    return name


def replace_domains(names: Iterable[str]) -> list[Domain]:
    """Replace the current organization's list of domains, and return the new list.

    Domains that are in both lists keep their verification status.
    """
    new_names = set(names)
    rows = queries.list_domains()
    for row in rows:
        if row.domain not in new_names:
            db.session().delete(row)
    old_names = {row.domain for row in rows}
    for name in sorted(new_names - old_names):
        db.session().add(Domain(domain=name, token=secrets.token_urlsafe(24)))
    db.session().flush()
    return queries.list_domains()


def record_results(rows: Iterable[Domain], results: Mapping[str, ProofResult]) -> list[str]:
    """Record the results of `check_domains`, and return the names of newly verified domains."""
    return [
        row.domain
        for row in rows
        if row.token in results and _record_result(row, results[row.token])
    ]


def _record_result(row: Domain, result: ProofResult) -> bool:
    """Record the result for one domain, and return whether the domain is newly verified."""
    if result is ProofResult.FOUND:
        if row.verified_at is None:
            return mark_verified(row)
        row.missing_since = row.problem = None
    elif row.verified_at is None:
        row.problem = _PROBLEMS[result]
    elif result is ProofResult.ABSENT and not row.vouched:
        _handle_missing_record(row)
    return False


def mark_verified(row: Domain) -> bool:
    """Mark a domain as verified, unless another open organization has verified it.

    If a closed organization has verified the domain, that verification ends. Returns whether the
    domain was marked.
    """
    with tenancy.across_organizations(reason="only one organization can have verified a domain"):
        queries.release_domain_of_closed_organization(row.domain)
        is_taken = queries.is_verified_by_another_organization(row.domain, row.organization_id)
    if not is_taken:
        try:
            with db.session().begin_nested():
                row.verified_at = db.utc_now()
        except IntegrityError:  # another organization has verified the domain at the same time
            is_taken = True
    row.problem = _DOMAIN_TAKEN_MESSAGE if is_taken else None
    if not is_taken:
        row.missing_since = None
    db.session().flush()
    return not is_taken


def _handle_missing_record(row: Domain) -> None:
    row.problem = _PROBLEMS[ProofResult.ABSENT]
    row.missing_since = row.missing_since or db.utc_now()
    if row.missing_since < db.utc_now() - GRACE_PERIOD:
        row.verified_at = row.missing_since = None


def describe(row: Domain) -> DomainDetails:
    """Return a domain's fields for the API response, with the DNS record that proves ownership."""
    record = DnsRecord(f"{RECORD_NAME}.{row.domain}", RECORD_VALUE_PREFIX + row.token)
    return DomainDetails(row.domain, row.verified_at, row.problem, record)
