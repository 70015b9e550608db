"""Every setting of the service, read once from the environment and checked before anything starts.

Only the standard library is imported here: the supervisor reads its settings with this module
before the other packages are needed.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

Network = IPv4Network | IPv6Network
RetryDelays = tuple[int, int, int]

PLANS = ("free", "team", "business", "enterprise", "unlimited")
SECRET_KEY_MIN = 32
PASSWORD_MIN = 10
# Beginnings of the values that stand in examples everywhere: lower case, letters only.
WELL_KNOWN = ("change", "replace", "insert", "example", "your", "secret", "notasecret")
DISTINCT_MIN = 10  # 32 random characters of base64 or hexadecimal practically always have more
_TRUE = {"1", "on", "true", "yes"}
_FALSE = {"0", "off", "false", "no"}
_FERNET_KEY = re.compile(r"[A-Za-z0-9_-]{43}=")
_LIBPQ = "postgresql://"


class SettingsError(Exception):
    """The environment cannot be used; ``problems`` has one sentence per culprit."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(["The settings are not usable:", *(f"- {p}" for p in problems)]))
        self.problems = problems


def _whole(low: int, high: int) -> Callable[[str], int]:
    def parse(raw: str) -> int:
        # int() alone would take "1_000", signs and foreign digits.
        if not re.fullmatch(r"[0-9]{1,18}", raw) or not low <= int(raw) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(raw)

    return parse


def _switch(raw: str) -> bool:
    if (word := raw.lower()) not in _TRUE | _FALSE:
        raise ValueError("must be on or off (also true/false, yes/no, 1/0)")
    return word in _TRUE


def _one_of(*words: str, fold: Callable[[str], str] = str.lower) -> Callable[[str], str]:
    def parse(raw: str) -> str:
        if fold(raw) not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return fold(raw)

    return parse


def _items(raw: str) -> list[str]:
    return [item.strip() for item in raw.split(",") if item.strip()]


def _host(raw: str) -> str:
    if re.search(r"[\s/@]|://", raw):
        raise ValueError("must be an address or a host name without port or path")
    return raw


def _split(raw: str, *schemes: str) -> SplitResult:
    allowed = ", ".join(f"{scheme}://" for scheme in schemes)
    try:
        parts = urlsplit(raw)
        _ = parts.port
    except ValueError:
        raise ValueError("is not a URL: its address or port cannot be read") from None
    if parts.scheme not in schemes or "://" not in raw:
        raise ValueError(f"must start with {allowed}")
    return parts


def _database_url(raw: str) -> str:
    parts = _split(raw, "postgresql", "postgres", "postgresql+psycopg2")
    if not parts.path.strip("/"):
        raise ValueError("must name a database: postgresql://user:password@host:5432/database")
    return _LIBPQ + raw.split("://", 1)[1]


def _redis_url(raw: str) -> str:
    parts = _split(raw, "redis", "rediss", "unix")
    if parts.scheme != "unix" and not parts.hostname:
        raise ValueError("must name a host: redis://:password@host:6379/0")
    return raw


def _smtp_url(raw: str) -> str:
    if not _split(raw, "smtp", "smtps").hostname:
        raise ValueError("must name a host: smtp://user:password@host:587?starttls=1")
    return raw


def _storage_url(raw: str) -> str:
    if not re.match(r"[a-z][a-z0-9+.-]*://", raw):
        raise ValueError("must be a URL such as file:///srv/files or s3://bucket/prefix")
    if raw.startswith("file://") and not raw.startswith("file:///"):
        raise ValueError("needs an absolute path after file://, so three slashes")
    return raw


def _web_url(raw: str) -> str:
    parts = _split(raw, "http", "https")
    if not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError("must be http(s)://host[:port][/path] and nothing more")
    return raw.rstrip("/")


def _origins(raw: str) -> tuple[str, ...]:
    if raw == "*":
        return ("*",)
    for item in _items(raw):
        parts = _split(item, "http", "https")
        if not parts.hostname or parts.path or parts.query or parts.fragment or parts.username:
            raise ValueError("must list origins such as https://app.example.com, or be * alone")
    return tuple(item.lower() for item in _items(raw))


def _networks(raw: str) -> tuple[Network, ...]:
    found = []
    for item in _items(raw):
        try:
            found.append(ip_network(item))
        except ValueError as error:
            raise ValueError(f"must list networks such as 10.1.0.0/16: {error}") from None
    return tuple(found)


def _delays(raw: str) -> RetryDelays:
    try:
        first, second, third = map(_whole(1, 86_400), _items(raw))
    except ValueError:
        raise ValueError(
            "must be exactly three whole numbers of seconds from 1 to 86400, such as 30,120,300"
        ) from None
    return first, second, third


def _guessable(raw: str) -> bool:
    simple = re.sub(r"[^a-z0-9]", "", raw.lower())
    return len(set(raw)) < DISTINCT_MIN or simple.startswith(WELL_KNOWN)


def _fernet_keys(raw: str) -> tuple[str, ...]:
    keys = tuple(_items(raw))
    for position, key in enumerate(keys, start=1):
        if not _FERNET_KEY.fullmatch(key):
            raise ValueError(
                f"key {position} of {len(keys)} is not a Fernet key"
                " (32 random bytes in URL-safe base64, 44 characters)"
            )
        if len(set(key)) < DISTINCT_MIN:
            raise ValueError(f"key {position} of {len(keys)} is not random")
    return keys


def _demo_password(raw: str) -> str:
    if len(raw) < PASSWORD_MIN:
        raise ValueError(f"must have at least {PASSWORD_MIN} characters")
    return raw


def _operator_token(raw: str) -> str:
    if len(raw) < SECRET_KEY_MIN or _guessable(raw):
        raise ValueError(f"must have at least {SECRET_KEY_MIN} random characters")
    return raw


def _sender(raw: str) -> str:
    address = r"[^\s<>@,;]+@[^\s<>@,;]+"
    if not re.fullmatch(rf"{address}|[^\x00-\x1f\x7f<>@,;]*<{address}>", raw):
        raise ValueError("must be an address such as Labeling <no-reply@example.com>")
    return raw


def _setting(parse: Callable[[str], Any], default: Any, *, secret: bool = False) -> Any:
    """A field of Settings; a ``secret`` one appears in no message and no repr."""
    return field(default=default, repr=not secret, metadata={"parse": parse, "secret": secret})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings, checked. An empty string stands for "not set" throughout.

    ``docs/operators/settings.md`` says what each one means.
    """

    host: str = _setting(_host, "127.0.0.1")
    port: int = _setting(_whole(1, 65_535), 8000)
    public_url: str = _setting(_web_url, "")
    data_dir: Path = _setting(Path, Path("data"))  # noqa: RUF009 - immutable
    database_url: str = _setting(_database_url, "", secret=True)
    redis_url: str = _setting(_redis_url, "", secret=True)
    storage_url: str = _setting(_storage_url, "", secret=True)
    secret_key: str = _setting(str, "", secret=True)
    encryption_keys: tuple[str, ...] = _setting(_fernet_keys, (), secret=True)
    access_token_hours: int = _setting(_whole(1, 8_760), 8)
    cors_origins: tuple[str, ...] = _setting(_origins, ())
    trusted_proxies: int = _setting(_whole(0, 16), 0)
    rate_limits: bool = _setting(_switch, default=True)
    max_upload_bytes: int = _setting(_whole(1, 1 << 40), 100 * 1024 * 1024)
    egress_allowed_networks: tuple[Network, ...] = _setting(_networks, ())
    webhook_allow_http: bool = _setting(_switch, default=False)
    webhook_retry_delays: RetryDelays = _setting(_delays, (30, 120, 300))  # noqa: RUF009 - immutable
    web_workers: int = _setting(_whole(1, 256), 2)
    web_threads: int = _setting(_whole(1, 256), 4)
    web_connections: int = _setting(_whole(16, 65_536), 2_000)
    web_spool_bytes: int = _setting(_whole(1 << 20, 1 << 50), 1 << 30)
    job_workers: int = _setting(_whole(1, 256), 2)
    smtp_url: str = _setting(_smtp_url, "", secret=True)
    mail_from: str = _setting(_sender, "Labeling Service <no-reply@localhost>")
    notification_window_seconds: int = _setting(_whole(0, 86_400), 300)
    control_plane_token: str = _setting(_operator_token, "", secret=True)
    registration: str = _setting(_one_of("open", "invite"), "invite")
    default_plan: str = _setting(_one_of(*PLANS), "unlimited")
    erase_after_days: int = _setting(_whole(0, 3_650), 30)
    demo: bool = _setting(_switch, default=False)
    demo_password: str = _setting(_demo_password, "", secret=True)
    log_level: str = _setting(
        _one_of("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", fold=str.upper), "INFO"
    )
    log_format: str = _setting(_one_of("json", "text"), "json")

    def __post_init__(self) -> None:
        object.__setattr__(self, "data_dir", self.data_dir.absolute())
        if not self.storage_url:
            object.__setattr__(self, "storage_url", f"file://{self.data_dir / 'files'}")
        if not self.public_url:
            object.__setattr__(self, "public_url", f"http://{self._reachable_host}:{self.port}")

    @property
    def _reachable_host(self) -> str:
        host = {"0.0.0.0": "localhost", "::": "localhost"}.get(self.host, self.host)  # noqa: S104
        return f"[{host}]" if ":" in host else host

    @property
    def sqlalchemy_url(self) -> str:
        """``database_url`` for SQLAlchemy, which would take plain postgresql:// for psycopg 3."""
        return self.database_url.replace(_LIBPQ, "postgresql+psycopg2://", 1)

    @classmethod
    def from_env(cls, environ: Mapping[str, str], *, require_servers: bool = True) -> "Settings":
        """Read and check the whole environment.

        :param environ: names and values; an empty or blank value counts as absent.
        :param require_servers: True for the application, which needs both servers' addresses and
            its keys; False for the supervisor, which starts servers (and, in demo mode, makes
            keys) for what is missing.
        :raises SettingsError: with every problem found, not just the first.
        """
        problems: list[str] = []
        values: dict[str, Any] = {}
        for entry in fields(cls):
            name = entry.name.upper()
            if not (raw := environ.get(name, "").strip()):
                continue
            try:
                values[entry.name] = entry.metadata["parse"](raw)
            except ValueError as error:
                shown = "" if entry.metadata["secret"] else f" (it is {raw[:200]!r})"
                problems.append(f"{name} {error}{shown}")
        given = {name for name in environ if environ[name].strip()}
        problems += _missing(given, values, require_servers=require_servers)
        problems += _weak_secret_key(values)
        if problems:
            raise SettingsError(problems)
        return cls(**values)


def _missing(given: set[str], values: Mapping[str, Any], *, require_servers: bool) -> list[str]:
    needed = {}
    if require_servers:
        needed["DATABASE_URL"] = "for example postgresql://user:password@host:5432/database"
        needed["REDIS_URL"] = "for example redis://:password@host:6379/0"
    if require_servers or not values.get("demo", False):
        needed["SECRET_KEY"] = f"at least {SECRET_KEY_MIN} random characters"
        needed["ENCRYPTION_KEYS"] = "one or more Fernet keys, separated by commas"
    return [f"{name} must be set: {what}" for name, what in needed.items() if name not in given]


def _weak_secret_key(values: Mapping[str, Any]) -> list[str]:
    key = values.get("secret_key", "")
    if not key or values.get("demo", False):
        return []
    if len(key) < SECRET_KEY_MIN:
        return [f"SECRET_KEY is too short: at least {SECRET_KEY_MIN} characters are needed"]
    if _guessable(key):
        return ["SECRET_KEY is a well-known or guessable value: use random characters"]
    return []
