"""Normalize http, https and ftp URLs; the host becomes lower-case ASCII (IDNA)."""

import ipaddress
import re
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

import idna

from app.engines.fields.errors import ValueProblem
from app.engines.fields.model import Field, Normalizer
from app.engines.fields.plain_text import check_text
from app.engines.fields.values.texts import build_text_normalizer

MAX_URL_CHARS = 2048
MAX_HOST_CHARS = 253  # RFC 1035
_UNSAFE_CHARS = re.compile(r"[\s\x00-\x1f\x7f\\<>\"^`{|}]")
_URL_WITHOUT_SCHEME = re.compile(r"(?:www\.)?[^\s/:?#@]+\.[^\s/:?#@.]{2,}(?:[:/?#].*)?")
_DNS_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
UNQUOTED_CHARS = "/%:@!$&'()*+,;=~-._?#[]"
_NOT_A_URL = "is not a web address (http, https or ftp)"


def build_normalizer(field: Field) -> Normalizer:
    """Build the normalizer for a URL field.

    `www.example.com` becomes `https://www.example.com`. A user name or password in the URL is
    rejected, because it would be copied into every export.
    """
    return build_text_normalizer(field, _parse_url)


def _parse_url(value: object) -> str:
    text = check_text(value, MAX_URL_CHARS).strip()
    if _UNSAFE_CHARS.search(text):
        raise ValueProblem(_NOT_A_URL)
    if "://" not in text and _URL_WITHOUT_SCHEME.fullmatch(text):
        text = "https://" + text
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueProblem(_NOT_A_URL) from None
    if parts.scheme not in {"http", "https", "ftp"} or not parts.hostname:
        raise ValueProblem(_NOT_A_URL)
    if "@" in parts.netloc:
        raise ValueProblem("contains a user name or password; remove it")
    host = _parse_host(parts.hostname)
    netloc = host if port is None else f"{host}:{port}"
    url = urlunsplit(
        SplitResult(parts.scheme, netloc, *(quote(p, UNQUOTED_CHARS) for p in parts[2:]))
    )
    if len(url) > MAX_URL_CHARS:
        raise ValueProblem(f"is longer than {MAX_URL_CHARS:,} characters")
    return url


def _parse_host(host: str) -> str:
    try:
        if ":" in host:
            if "%" in host:  # a zone ID, which is only valid on one machine
                raise ValueProblem(_NOT_A_URL)
            return f"[{ipaddress.IPv6Address(host)}]"
        if not host.isascii():
            host = idna.encode(host, uts46=True).decode("ascii")
    except ValueError:  # includes IDNAError and AddressValueError
        raise ValueProblem(_NOT_A_URL) from None
    host = host.lower()
    labels = host.removesuffix(".").split(".")
    if len(host) > MAX_HOST_CHARS or not all(_DNS_LABEL.fullmatch(label) for label in labels):
        raise ValueProblem(_NOT_A_URL)
    return host
