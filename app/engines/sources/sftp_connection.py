"""Connect to SFTP servers: verify host keys, sign in, and translate errors."""

import base64
import hashlib
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import StringIO
from typing import Any, NamedTuple

import paramiko
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from app.engines.sources import limits
from app.engines.sources.deadlines import TimeBudget, shut_down
from app.engines.sources.failures import (
    build_connection_error,
    build_missing_folder_error,
    build_protocol_error,
    translate_errors,
)
from app.engines.sources.model import HostError, HostErrorKind, Network, ObjectMissing
from app.engines.sources.private_keys import KEY_ERRORS, UNREADABLE_KEY_MESSAGE, load_key
from app.engines.sources.sftp_session import SftpSession, SftpStatusError
from app.engines.sources.ssh_packets import LimitedPacketizer, limit_unread_data

_KEY_TYPES: Mapping[type, type[paramiko.PKey]] = {
    Ed25519PrivateKey: paramiko.Ed25519Key,
    EllipticCurvePrivateKey: paramiko.ECDSAKey,
    RSAPrivateKey: paramiko.RSAKey,
}


class SftpConnection(NamedTuple):
    """An authenticated connection. `root` is the absolute path of the configured folder."""

    socket: socket.socket
    transport: paramiko.Transport
    session: SftpSession
    root: bytes

    def build_budget(self, seconds: float) -> TimeBudget:
        """Build a time budget that shuts down the connection when the time is used up."""
        return TimeBudget(seconds, lambda: shut_down(self.socket))


class SftpConnector:
    """Connects to the configured SFTP server. Raises HostError if the private key is invalid."""

    def __init__(self, settings: Mapping[str, Any], network: Network) -> None:
        self._settings = settings
        self._network = network
        self._key = _load_paramiko_key(settings)
        self._connection: SftpConnection | None = None

    def connect(self) -> SftpConnection:
        """Connect and sign in, unless the connection is still open, and return the connection."""
        if self._connection is not None and self._connection.transport.is_active():
            return self._connection
        self.close()
        with translate_errors():
            host, port = self._settings["host"], self._settings.get("port", 22)
            connection = self._network.connect(host, port, limits.CONNECT_SECONDS)
        try:
            budget = TimeBudget(limits.OPERATION_SECONDS, lambda: shut_down(connection))
            with _translate_sign_in_errors(), budget.spend():
                self._connection = self._sign_in(connection)
        except BaseException:
            connection.close()
            raise
        return self._connection

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.transport.close()
            self._connection.socket.close()
            self._connection = None

    def _sign_in(self, connection: socket.socket) -> SftpConnection:
        transport = paramiko.Transport(connection, packetizer_class=LimitedPacketizer)
        try:
            transport.banner_timeout = limits.IDLE_SECONDS
            transport.auth_timeout = limits.IDLE_SECONDS
            host_key = str(self._settings["host_key"]).strip()
            _prefer_key_type(transport, host_key)
            transport.start_client(timeout=limits.IDLE_SECONDS)
            _check_host_key(transport.get_remote_server_key(), host_key)
            username = self._settings["username"]
            if self._key is not None:
                transport.auth_publickey(username, self._key)
            else:
                transport.auth_password(username, self._settings.get("password", ""))
            channel = transport.open_session(timeout=limits.IDLE_SECONDS)
            limit_unread_data(channel)
            channel.settimeout(limits.IDLE_SECONDS)
            channel.invoke_subsystem("sftp")
            session = SftpSession(channel)
            path = str(self._settings.get("path") or ".").encode("utf-8", "replace")
            return SftpConnection(connection, transport, session, session.resolve_path(path))
        except BaseException:
            transport.close()
            raise


@contextmanager
def translate_ssh_errors() -> Iterator[None]:
    """Translate errors from paramiko to HostError or ObjectMissing."""
    try:
        with translate_errors():
            try:
                yield
            except (FileNotFoundError, PermissionError, SftpStatusError) as error:
                raise _build_refusal_error(error) from None
    except paramiko.AuthenticationException as error:
        # paramiko has no separate class for this error.
        if str(error) == "Authentication timeout.":
            raise build_connection_error(TimeoutError()) from None
        message = "The host rejected the user name, password or key."
        raise HostError(HostErrorKind.CREDENTIALS_REFUSED, message) from None
    except paramiko.SSHException as error:
        raise _build_ssh_error(error) from None
    except (ValueError, struct.error, paramiko.SFTPError):
        raise build_protocol_error() from None


@contextmanager
def _translate_sign_in_errors() -> Iterator[None]:
    """Translate sign-in errors to HostError.

    paramiko also raises the errors of its thread, which may be of any type if the host is faulty.
    """
    try:
        with translate_ssh_errors():
            yield
    except HostError:
        raise
    except ObjectMissing:
        raise build_missing_folder_error() from None
    except Exception:  # noqa: BLE001 - see above
        raise build_protocol_error() from None


def _build_refusal_error(error: OSError) -> Exception:
    if isinstance(error, FileNotFoundError):
        return ObjectMissing()
    if isinstance(error, SftpStatusError):
        message = (
            "The host reports an error for a folder or document of this source; the cause may be in"
            " the log of the SFTP server."
        )
        return HostError(HostErrorKind.PROTOCOL, message)
    message = "The user is not allowed to read a folder or document of this source."
    return HostError(HostErrorKind.NOT_ALLOWED, message)


def _build_ssh_error(error: paramiko.SSHException) -> HostError:
    if isinstance(error, paramiko.ssh_exception.IncompatiblePeer):
        message = "The host offers no host key or encryption that this service supports."
        return HostError(HostErrorKind.PROTOCOL, message)
    message = "The host closed the connection, or it is not an SSH server."
    return HostError(HostErrorKind.UNREACHABLE, message)


def _load_paramiko_key(settings: Mapping[str, Any]) -> paramiko.PKey | None:
    text = settings.get("private_key")
    if not text:
        return None
    try:
        key = load_key(text, settings.get("passphrase"))
        # paramiko does not read PKCS #8.
        openssh_key = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
        paramiko_class = next(_KEY_TYPES[type_] for type_ in _KEY_TYPES if isinstance(key, type_))
        return paramiko_class.from_private_key(StringIO(openssh_key.decode()))
    except (*KEY_ERRORS, paramiko.SSHException):
        message = f"{UNREADABLE_KEY_MESSAGE[:-1]}, and check its passphrase."
        raise HostError(HostErrorKind.CREDENTIALS_REFUSED, message) from None


def _prefer_key_type(transport: paramiko.Transport, host_key: str) -> None:
    """Request a host key of the configured type, because a host may have different keys."""
    name = host_key.split(" ", maxsplit=1)[0]
    options = transport.get_security_options()
    if name == "ssh-rsa":
        options.key_types = [
            key_type for key_type in options.key_types if key_type.startswith("rsa-sha2-")
        ]
    elif name in options.key_types:
        options.key_types = [name]


def _check_host_key(key: paramiko.PKey, host_key: str) -> None:
    digest = hashlib.sha256(key.asbytes()).digest()
    fingerprint = "SHA256:" + base64.b64encode(digest).decode().rstrip("=")
    public_key = f"{key.get_name()} {key.get_base64()}"
    if host_key.rstrip("=") != fingerprint and " ".join(host_key.split()[:2]) != public_key:
        message = (
            f"The {key.get_name()} key of the host is {fingerprint}, which differs from the "
            "configured key. Before you change `host_key`, ask the host's operator whether this "
            "key is correct."
        )
        raise HostError(HostErrorKind.NOT_ALLOWED, message)
