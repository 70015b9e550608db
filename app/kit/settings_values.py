"""Parsers for settings. Each parser converts an environment variable, or raises ValueError.

This module imports only the standard library, like `settings`.
"""

import re
from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, urlsplit

Network = IPv4Network | IPv6Network
RetryDelays = tuple[int, int, int]

MIN_SECRET_LENGTH = 32
MIN_PASSWORD_LENGTH = 10
# The usual beginnings of example values, in lower case and with letters only.
EXAMPLE_PREFIXES = ("change", "replace", "insert", "example", "your", "secret", "notasecret")
# 32 random characters of base64 or hexadecimal practically always have more distinct characters.
MIN_DISTINCT_CHARACTERS = 10
DATABASE_URL_PREFIX = "postgresql://"
DATABASE_ROLE = "labeling_app"
"""The default database role of the application; the setting of the same name overrides it."""
_TRUE = {"1", "on", "true", "yes"}
_FALSE = {"0", "off", "false", "no"}
_ROLE = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_FERNET_KEY = re.compile(r"[A-Za-z0-9_-]{43}=")
_ADDRESS = r"[^\s<>@,;]+@[^\s<>@,;]+"


def build_whole_number_parser(low: int, high: int) -> Callable[[str], int]:
    """Return a parser for whole numbers from `low` to `high`."""

    def parse(raw: str) -> int:
        # int() alone would also accept "1_000", signs and non-ASCII digits.
        if not re.fullmatch(r"[0-9]{1,18}", raw) or not low <= int(raw) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(raw)

    return parse


def parse_switch(raw: str) -> bool:
    """Parse a boolean: on or off, or a synonym such as true or no."""
    if (lowered := raw.lower()) not in _TRUE | _FALSE:
        raise ValueError("must be on or off (also true/false, yes/no, 1/0)")
    return lowered in _TRUE


def build_choice_parser(
    *choices: str, normalize: Callable[[str], str] = str.lower
) -> Callable[[str], str]:
    """Return a parser that accepts only `choices`, after `normalize` has normalized the text."""

    def parse(raw: str) -> str:
        if normalize(raw) not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return normalize(raw)

    return parse


def parse_database_role(raw: str) -> str:
    """Parse the name of a database role, which must not need quotes in SQL."""
    if not _ROLE.fullmatch(raw):
        raise ValueError("must be lower-case letters, digits and _, not beginning with a digit")
    return raw


def _split_items(raw: str) -> list[str]:
    return [item.strip() for item in raw.split(",") if item.strip()]


def parse_host(raw: str) -> str:
    """Parse an IP address or a host name, without a port."""
    if re.search(r"[\s/@]|://", raw):
        raise ValueError("must be an address or a host name without port or path")
    return raw


def _split_url(raw: str, *schemes: str) -> SplitResult:
    allowed_schemes = " or ".join(f"{scheme}://" for scheme in schemes)
    try:
        parts = urlsplit(raw)
        _ = parts.port
    except ValueError:
        raise ValueError("is not a URL: its host or port is malformed") from None
    if parts.scheme not in schemes or "://" not in raw:
        raise ValueError(f"must start with {allowed_schemes}")
    return parts


def parse_database_url(raw: str) -> str:
    """Parse the URL of a PostgreSQL database. The result begins with `DATABASE_URL_PREFIX`."""
    parts = _split_url(raw, "postgresql", "postgres", "postgresql+psycopg2")
    if not parts.path.strip("/"):
        raise ValueError("must name a database: postgresql://user:password@host:5432/database")
    return DATABASE_URL_PREFIX + raw.split("://", 1)[1]


def parse_redis_url(raw: str) -> str:
    """Parse the URL of a Redis server."""
    parts = _split_url(raw, "redis", "rediss", "unix")
    if parts.scheme != "unix" and not parts.hostname:
        raise ValueError("must name a host: redis://:password@host:6379/0")
    return raw


def parse_folder(raw: str) -> str:
    """Parse the absolute path of a folder, which need not exist yet."""
    if not raw.startswith("/") or "\x00" in raw:
        raise ValueError("must be an absolute path")
    return raw


def parse_file(raw: str) -> str:
    """Parse the absolute path of an existing file."""
    if not Path(parse_folder(raw)).is_file():
        raise ValueError("must be the absolute path of a file that exists")
    return raw


def parse_smtp_url(raw: str) -> str:
    """Parse the URL of a mail server."""
    parts = _split_url(raw, "smtp", "smtps")
    if not parts.hostname:
        raise ValueError("must name a host: smtp://user:password@host:587?starttls=1")
    # If a misspelled `starttls` were ignored, the password would be sent without encryption.
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name != "starttls":
            raise ValueError("must have no other option than starttls")
        try:
            parse_switch(value)
        except ValueError as error:
            raise ValueError(f"has an invalid option: starttls {error}") from None
    return raw


def parse_storage_url(raw: str) -> str:
    """Parse the URL of the file storage."""
    if not re.match(r"[a-z][a-z0-9+.-]*://", raw):
        raise ValueError("must be a URL, for example file:///srv/files or s3://bucket/prefix")
    if raw.startswith("file://") and not raw.startswith("file:///"):
        raise ValueError("must have an absolute path: file:///srv/files (three slashes)")
    return raw


def parse_web_url(raw: str) -> str:
    """Parse the URL of a web service. A trailing slash is removed."""
    parts = _split_url(raw, "http", "https")
    if not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError("must be http(s)://host[:port][/path] and nothing more")
    return raw.rstrip("/")


def parse_origins(raw: str) -> tuple[str, ...]:
    """Parse a list of web origins, or `*`."""
    if raw == "*":
        return ("*",)
    for item in _split_items(raw):
        parts = _split_url(item, "http", "https")
        if not parts.hostname or parts.path or parts.query or parts.fragment or parts.username:
            raise ValueError("must list origins, for example https://app.example.com, or be `*`")
    return tuple(item.lower() for item in _split_items(raw))


def parse_networks(raw: str) -> tuple[Network, ...]:
    """Parse a list of IP networks."""
    parsed = []
    for item in _split_items(raw):
        try:
            parsed.append(ip_network(item))
        except ValueError as error:
            raise ValueError(f"must list networks, for example 10.1.0.0/16: {error}") from None
    return tuple(parsed)


def parse_retry_delays(raw: str) -> RetryDelays:
    """Parse three delays in seconds."""
    try:
        first, second, third = map(build_whole_number_parser(1, 86_400), _split_items(raw))
    except ValueError:
        raise ValueError(
            "must be three whole numbers of seconds from 1 to 86400, for example 30,120,300"
        ) from None
    return first, second, third


def is_guessable(raw: str) -> bool:
    """Return whether a secret has too few distinct characters or begins like an example value."""
    normalized = re.sub(r"[^a-z0-9]", "", raw.lower())
    return len(set(raw)) < MIN_DISTINCT_CHARACTERS or normalized.startswith(EXAMPLE_PREFIXES)


def parse_fernet_keys(raw: str) -> tuple[str, ...]:
    """Parse a list of Fernet keys."""
    keys = tuple(_split_items(raw))
    for position, key in enumerate(keys, start=1):
        if not _FERNET_KEY.fullmatch(key):
            raise ValueError(
                f"is invalid: key {position} of {len(keys)} is not a Fernet key"
                " (32 random bytes in URL-safe base64, 44 characters)"
            )
        if len(set(key)) < MIN_DISTINCT_CHARACTERS:
            raise ValueError(f"is invalid: key {position} of {len(keys)} is not random")
    return keys


def parse_demo_password(raw: str) -> str:
    """Parse the password of the demo users."""
    if len(raw) < MIN_PASSWORD_LENGTH:
        raise ValueError(f"must have at least {MIN_PASSWORD_LENGTH} characters")
    return raw


def parse_operator_token(raw: str) -> str:
    """Parse a secret token that the operator chooses."""
    if len(raw) < MIN_SECRET_LENGTH or is_guessable(raw):
        raise ValueError(f"must have at least {MIN_SECRET_LENGTH} random characters")
    return raw


def parse_sender(raw: str) -> str:
    """Parse the sender address of emails, with or without a display name."""
    if not re.fullmatch(rf"{_ADDRESS}|[^\x00-\x1f\x7f<>@,;]*<{_ADDRESS}>", raw):
        raise ValueError("must be an email address, for example Labeling <no-reply@example.com>")
    return raw


def parse_email_addresses(raw: str) -> tuple[str, ...]:
    """Parse a list of email addresses."""
    addresses = tuple(_split_items(raw))
    if not all(re.fullmatch(_ADDRESS, address) for address in addresses):
        raise ValueError("must list email addresses, for example ops@example.com, ceo@example.com")
    return addresses
