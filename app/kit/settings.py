"""All settings of the service, read from the environment and validated before anything starts.

This module imports only the standard library, because the supervisor uses it to read its settings
before other packages are needed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from email.utils import parseaddr
from pathlib import Path
from typing import Any, TypeVar

from app.kit import settings_values as values
from app.kit.settings_values import (
    DATABASE_ROLE,
    DATABASE_URL_PREFIX,
    MIN_SECRET_LENGTH,
    Network,
    RetryDelays,
)

_Value = TypeVar("_Value")
PLANS = ("free", "team", "business", "enterprise", "unlimited")


class SettingsError(Exception):
    """The settings are invalid. `problems` contains one sentence for each problem."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(["The settings are invalid:", *(f"- {p}" for p in problems)]))
        self.problems = problems


def _setting(parse: Callable[[str], _Value], default: _Value, *, secret: bool = False) -> _Value:
    """Return a dataclass field for one setting.

    `parse` converts the text of the environment variable. Messages and reprs never show the
    value of a `secret` setting.
    """
    return field(default=default, repr=not secret, metadata={"parse": parse, "secret": secret})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings, validated. An empty string always means "not set".

    `docs/operators/settings.md` explains each setting.
    """

    host: str = _setting(values.parse_host, "127.0.0.1")
    port: int = _setting(values.build_whole_number_parser(1, 65_535), 8000)
    public_url: str = _setting(values.parse_web_url, "")
    frontend_url: str = _setting(values.parse_web_url, "")
    data_dir: Path = _setting(Path, Path("data"))  # noqa: RUF009 - immutable
    database_url: str = _setting(values.parse_database_url, "", secret=True)
    database_role: str = _setting(values.parse_database_role, DATABASE_ROLE)
    redis_url: str = _setting(values.parse_redis_url, "", secret=True)
    storage_url: str = _setting(values.parse_storage_url, "", secret=True)
    secret_key: str = _setting(str, "", secret=True)
    encryption_keys: tuple[str, ...] = _setting(values.parse_fernet_keys, (), secret=True)
    access_token_hours: int = _setting(values.build_whole_number_parser(1, 8_760), 8)
    workbench: bool = _setting(values.parse_switch, default=True)
    cors_origins: tuple[str, ...] = _setting(values.parse_origins, ())
    trusted_proxies: int = _setting(values.build_whole_number_parser(0, 16), 0)
    rate_limits: bool = _setting(values.parse_switch, default=True)
    max_upload_bytes: int = _setting(
        values.build_whole_number_parser(1, 1 << 40), 100 * 1024 * 1024
    )
    storage_reserve_bytes: int = _setting(
        values.build_whole_number_parser(0, 1 << 50), 1024 * 1024 * 1024
    )
    download_links: bool = _setting(values.parse_switch, default=False)
    outbound: bool = _setting(values.parse_switch, default=True)
    egress_allowed_networks: tuple[Network, ...] = _setting(values.parse_networks, ())
    connector_allowed_networks: tuple[Network, ...] = _setting(values.parse_networks, ())
    connector_allow_unencrypted: bool = _setting(values.parse_switch, default=False)
    model_server_allowed_networks: tuple[Network, ...] = _setting(values.parse_networks, ())
    model_server_allow_http: bool = _setting(values.parse_switch, default=False)
    connector_local_root: str = _setting(values.parse_folder, "")
    webhook_allow_http: bool = _setting(values.parse_switch, default=False)
    webhook_retry_delays: RetryDelays = _setting(values.parse_retry_delays, (30, 120, 300))  # noqa: RUF009 - immutable
    web_workers: int = _setting(values.build_whole_number_parser(1, 256), 2)
    web_threads: int = _setting(values.build_whole_number_parser(1, 256), 4)
    web_connections: int = _setting(values.build_whole_number_parser(16, 65_536), 2_000)
    web_spool_bytes: int = _setting(values.build_whole_number_parser(1 << 20, 1 << 50), 1 << 30)
    job_workers: int = _setting(values.build_whole_number_parser(1, 256), 2)
    job_idle_seconds: int = _setting(values.build_whole_number_parser(1, 86_400), 120)
    ocr: bool = _setting(values.parse_switch, default=True)
    smtp_url: str = _setting(values.parse_smtp_url, "", secret=True)
    mail_from: str = _setting(values.parse_sender, "Labeling Service <no-reply@localhost>")
    operator_email: tuple[str, ...] = _setting(values.parse_email_addresses, ())
    notification_window_seconds: int = _setting(values.build_whole_number_parser(0, 86_400), 300)
    notification_retention_days: int = _setting(values.build_whole_number_parser(1, 3_650), 365)
    control_plane_token: str = _setting(values.parse_operator_token, "", secret=True)
    metrics_token: str = _setting(values.parse_operator_token, "", secret=True)
    invitations_per_day: int = _setting(values.build_whole_number_parser(1, 1_000_000), 500)
    registration: str = _setting(values.build_choice_parser("open", "invite"), "invite")
    default_plan: str = _setting(values.build_choice_parser(*PLANS), "unlimited")
    plans_file: str = _setting(values.parse_file, "")
    billing_file: str = _setting(values.parse_file, "")
    erase_after_days: int = _setting(values.build_whole_number_parser(0, 3_650), 30)
    demo: bool = _setting(values.parse_switch, default=False)
    demo_password: str = _setting(values.parse_demo_password, "", secret=True)
    log_level: str = _setting(
        values.build_choice_parser(
            "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", normalize=str.upper
        ),
        "INFO",
    )
    log_format: str = _setting(values.build_choice_parser("auto", "json", "text"), "auto")

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
    def pages_url(self) -> str:
        """Return the base URL for links in emails: FRONTEND_URL if it is set, else PUBLIC_URL."""
        return self.frontend_url or self.public_url

    @property
    def service_name(self) -> str:
        """Return this installation's display name: the name in MAIL_FROM, or else the address."""
        name, address = parseaddr(self.mail_from)
        return name or address

    @property
    def sqlalchemy_url(self) -> str:
        """Return `database_url` with psycopg2 as the driver.

        SQLAlchemy would use psycopg 3 for plain postgresql://.
        """
        return self.database_url.replace(DATABASE_URL_PREFIX, "postgresql+psycopg2://", 1)

    @classmethod
    def from_env(cls, environ: Mapping[str, str], *, require_servers: bool = True) -> "Settings":
        """Read and validate all settings from the environment.

        Args:
            environ: names and values. An empty or blank value counts as not set.
            require_servers: True for the application, which needs its keys and the addresses of
                PostgreSQL and Redis. False for the supervisor, which starts missing servers and, in
                demo mode, creates missing keys.

        Raises:
            SettingsError: one or more settings are invalid. The error lists every problem.
        """
        problems: list[str] = []
        parsed: dict[str, Any] = {}
        for entry in fields(cls):
            name = entry.name.upper()
            if not (raw := environ.get(name, "").strip()):
                continue
            try:
                parsed[entry.name] = entry.metadata["parse"](raw)
            except ValueError as error:
                value_note = "" if entry.metadata["secret"] else f" (it is {raw[:200]!r})"
                problems.append(f"{name} {error}{value_note}")
        configured_names = {name for name in environ if environ[name].strip()}
        problems += _find_missing_settings(
            configured_names, parsed, require_servers=require_servers
        )
        problems += _check_secret_key(parsed)
        if problems:
            raise SettingsError(problems)
        return cls(**parsed)


def _find_missing_settings(
    configured_names: set[str], parsed: Mapping[str, Any], *, require_servers: bool
) -> list[str]:
    required = {}
    if require_servers:
        required["DATABASE_URL"] = "for example postgresql://user:password@host:5432/database"
        required["REDIS_URL"] = "for example redis://:password@host:6379/0"
    if require_servers or not parsed.get("demo", False):
        required["SECRET_KEY"] = f"at least {MIN_SECRET_LENGTH} random characters"
        required["ENCRYPTION_KEYS"] = "one or more Fernet keys, separated by commas"
    return [
        f"{name} must be set: {hint}"
        for name, hint in required.items()
        if name not in configured_names
    ]


def _check_secret_key(parsed: Mapping[str, Any]) -> list[str]:
    key = parsed.get("secret_key", "")
    if not key or parsed.get("demo", False):
        return []
    if len(key) < MIN_SECRET_LENGTH:
        return [f"SECRET_KEY is too short: at least {MIN_SECRET_LENGTH} characters are needed"]
    if values.is_guessable(key):
        return ["SECRET_KEY is a well-known or guessable value: use random characters"]
    return []
