"""Whether a domain's owner put our token into the DNS. Nothing but the question."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from enum import Enum

import dns.exception
import dns.resolver

RECORD = "_labeling-challenge"
VALUE = "labeling-domain="
LIFETIME = 3.0
"""Seconds for one question, over all servers and tries."""
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


def look(tokens: Mapping[str, str]) -> dict[str, Proof]:
    """Of each domain whether its TXT record holds its token. Some seconds; no transaction open."""
    if not tokens:
        return {}
    with ThreadPoolExecutor(min(_AT_ONCE, len(tokens))) as pool:
        return dict(zip(tokens, pool.map(_look, tokens, tokens.values()), strict=True))


def _look(domain: str, token: str) -> Proof:
    try:
        answer = make_resolver().resolve(
            f"{RECORD}.{domain}.", "TXT", lifetime=LIFETIME, search=False
        )
        texts = {b"".join(record.strings) for record in answer}
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
        return Proof.ABSENT
    except (dns.exception.DNSException, OSError, ValueError):
        return Proof.UNKNOWN
    return Proof.FOUND if f"{VALUE}{token}".encode() in texts else Proof.ABSENT
