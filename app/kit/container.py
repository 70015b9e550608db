"""The services that all code of a process shares. Each is built once from the settings."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.driver_info import DriverInfo
from redis.retry import Retry

from app.kit.egress import Egress, Policy
from app.kit.mail import Mailer
from app.kit.secrets import Keyring
from app.kit.settings import Settings
from app.kit.settings_values import Network
from app.kit.storage import DiskReserve, Storage

REDIS_TIMEOUT_SECONDS = 0.25


@dataclass
class Container:
    """The shared services. Each service is built from the settings on first use, and then kept."""

    settings: Settings

    @cached_property
    def keyring(self) -> Keyring:
        """Return the keys that encrypt, sign and hash."""
        return Keyring(self.settings.secret_key, self.settings.encryption_keys)

    @cached_property
    def storage(self) -> Storage:
        """Return the file storage."""
        return Storage(self.settings.storage_url, self.reserve)

    @cached_property
    def reserve(self) -> DiskReserve:
        """Return the reserve: the disk space that uploads and exports must leave free."""
        folders = {"data": self.settings.data_dir}
        if self.settings.storage_url.startswith("file://"):
            folders["files"] = Path(self.settings.storage_url.removeprefix("file://"))
        return DiskReserve(self.settings.storage_reserve_bytes, folders)

    @cached_property
    def egress(self) -> Egress:
        """Return the client for requests to webhook receivers and identity providers."""
        return self._build_egress(
            self.settings.egress_allowed_networks, allow_http=self.settings.webhook_allow_http
        )

    @cached_property
    def connector_egress(self) -> Egress:
        """Return the client for connections to document sources and export destinations."""
        return self._build_egress(
            self.settings.connector_allowed_networks,
            allow_http=self.settings.connector_allow_unencrypted,
        )

    @cached_property
    def model_egress(self) -> Egress:
        """Return the client for requests to organizations' model servers."""
        return self._build_egress(
            self.settings.model_server_allowed_networks,
            allow_http=self.settings.model_server_allow_http,
        )

    def _build_egress(self, allowed_networks: tuple[Network, ...], *, allow_http: bool) -> Egress:
        closed = not self.settings.outbound
        return Egress(Policy(allowed_networks, allow_http=allow_http, closed=closed))

    @cached_property
    def mailer(self) -> Mailer:
        """Return the client that sends emails."""
        folder = self.settings.data_dir / "mail"
        settings = self.settings
        return Mailer(settings.smtp_url, folder, settings.mail_from, closed=not settings.outbound)

    def redis(self, timeout: float | None = REDIS_TIMEOUT_SECONDS) -> redis.Redis:
        """Return a new Redis client.

        `timeout` is in seconds, and None means no timeout for responses. The default is short, so
        that no request waits long.
        """
        return redis.Redis.from_url(
            self.settings.redis_url,
            socket_timeout=timeout,
            socket_connect_timeout=REDIS_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
            health_check_interval=0,
            driver_info=_DRIVER_INFO,
        )


# By default, each connection would read the library's version from the package metadata.
_DRIVER_INFO = DriverInfo()
_current: Container | None = None


def configure(settings: Settings) -> Container:
    """Create the container for this process from the settings. A later call replaces it."""
    global _current  # noqa: PLW0603 - one per process, set by the factory
    _current = Container(settings)
    return _current


def current() -> Container:
    """Return the container that `configure` created for this process."""
    assert _current is not None, "the application has not been configured"
    return _current


def settings() -> Settings:
    """Return the settings of the process."""
    return current().settings


def keyring() -> Keyring:
    """Return the keyring of the process."""
    return current().keyring
