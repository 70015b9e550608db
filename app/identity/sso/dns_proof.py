"""Whether a domain's owner put our token into the DNS. Nothing but the question."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from math import inf
from time import monotonic

import dns.exception
import dns.resolver

RECORD = "_labeling-challenge"
VALUE = "labeling-domain="
LIFETIME = 3.0
"""Seconds for one question, over all servers and tries."""
IN_A_REQUEST = 5.0
"""Seconds for all questions while somebody waits; what is left is asked by the hourly job."""
_AT_ONCE = 8


class Proof(Enum):
    """`ABSENT` is the DNS's own word that the token is not there; `UNKNOWN` is no answer."""

    FOUND = "found"
    ABSENT = "absent"
    UNKNOWN = "unknown"


def system_resolver() -> dns.resolver.Resolver:
    """The resolver that the machine is set up with, asked anew each time."""
    return dns.resolver.Resolver()


make_resolver: Callable[[], dns.resolver.Resolver] = system_resolver
"""What makes the resolver. Tests put one for a server of their own here."""


def look(tokens: Mapping[str, str], *, within: float = inf) -> dict[str, Proof]:
    """Of each domain whether its TXT record holds its token. Some seconds; no transaction open.

    :param within: seconds for all of them; what is not answered by then is unknown.
    """
    if not tokens:
        return {}
    until = monotonic() + within
    with ThreadPoolExecutor(min(_AT_ONCE, len(tokens))) as pool:
        found = pool.map(lambda domain: _look(domain, tokens[domain], until), tokens)
        return dict(zip(tokens, found, strict=True))


def _look(domain: str, token: str, until: float) -> Proof:
    lifetime = min(LIFETIME, until - monotonic())
    if lifetime <= 0:
        return Proof.UNKNOWN
    try:
        answer = make_resolver().resolve(
            f"{RECORD}.{domain}.", "TXT", lifetime=lifetime, search=False
        )
        texts = {b"".join(record.strings) for record in answer}
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
        return Proof.ABSENT
    except (dns.exception.DNSException, OSError, ValueError):
        return Proof.UNKNOWN
    return Proof.FOUND if f"{VALUE}{token}".encode() in texts else Proof.ABSENT
