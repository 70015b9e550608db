"""Documents on an SFTP server."""

import base64
import hashlib
import socket
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import paramiko
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    load_ssh_private_key,
)

from app.engines.sources import limits
from app.engines.sources.deadlines import Budget, shut_down
from app.engines.sources.failures import (
    describe_missing_folder,
    describe_protocol_error,
    translate_errors,
)
from app.engines.sources.folders import Item, list_entries, list_objects
from app.engines.sources.model import (
    Entry,
    Network,
    ObjectMissing,
    SourceError,
    SourceErrorKind,
    SourceObject,
)
from app.engines.sources.paths import encode_name, is_name, split_path
from app.engines.sources.sftp_session import SftpReader, SftpSession

_KEY_TYPES: Mapping[type, type[paramiko.PKey]] = {
    Ed25519PrivateKey: paramiko.Ed25519Key,
    EllipticCurvePrivateKey: paramiko.ECDSAKey,
    RSAPrivateKey: paramiko.RSAKey,
}
_UNREADABLE = (ValueError, TypeError, KeyError, UnsupportedAlgorithm, paramiko.SSHException)


def open_source(
    settings: Mapping[str, Any], network: Network, local_root: Path | None
) -> "SftpSource":
    """Return the source of a folder of an SFTP server, and sign in."""
    del local_root
    source = SftpSource(settings, network, _load_key(settings))
    source.connect()
    return source


class _Connection(NamedTuple):
    socket: socket.socket
    transport: paramiko.Transport
    session: SftpSession
    root: bytes


class SftpSource:
    """A folder of an SFTP server. A lost connection is opened again at the next operation.

    Links are not followed: they are not listed and cannot be opened.
    """

    def __init__(
        self, settings: Mapping[str, Any], network: Network, key: paramiko.PKey | None
    ) -> None:
        self._settings = settings
        self._network = network
        self._key = key
        self._connection: _Connection | None = None

    def connect(self) -> _Connection:
        """Return the connection, signed in."""
        if self._connection is not None and self._connection.transport.is_active():
            return self._connection
        self.close()
        with translate_errors():
            host, port = self._settings["host"], self._settings.get("port", 22)
            connection = self._network.connect(host, port, limits.CONNECT_SECONDS)
        try:
            budget = Budget(limits.OPERATION_SECONDS, lambda: shut_down(connection))
            with _translate_ssh_errors(), budget.spend():
                self._connection = self._sign_in(connection)
        except BaseException:
            connection.close()
            raise
        return self._connection

    def list_objects(self, after: str | None = None) -> Iterator[SourceObject]:
        """Yield all documents, sorted by the names on their paths."""
        try:
            yield from list_objects(self._read_folder, after)
        except ObjectMissing:
            raise describe_missing_folder() from None

    def browse(self, path: str, limit: int) -> list[Entry]:
        """Return at most `limit` entries of a folder."""
        try:
            return list_entries(self._read_folder, path, limit)
        except ObjectMissing:
            raise describe_missing_folder() from None

    @contextmanager
    def open(self, path: str) -> Iterator[Iterator[bytes]]:
        """Read a document in chunks."""
        connection = self.connect()
        target = _join(connection.root, path)
        budget = Budget(limits.READ_SECONDS, lambda: shut_down(connection.socket))
        with _translate_ssh_errors(), budget.spend():
            if not stat.S_ISREG(connection.session.get_attributes(target).mode):
                raise ObjectMissing
            reader = connection.session.open_file(target)
        try:
            yield self._read_document(reader, budget)
        finally:
            with suppress(SourceError, ObjectMissing), _translate_ssh_errors():
                closing = Budget(limits.IDLE_SECONDS, lambda: shut_down(connection.socket))
                with closing.spend():
                    reader.close()

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.transport.close()
            self._connection.socket.close()
            self._connection = None

    def _read_document(self, reader: SftpReader, budget: Budget) -> Iterator[bytes]:
        try:
            yield from _read_file(reader, budget)
        except SourceError:
            # paramiko notices only later that a connection is lost.
            self.close()
            raise

    def _sign_in(self, connection: socket.socket) -> _Connection:
        transport = paramiko.Transport(connection)
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
            channel.settimeout(limits.IDLE_SECONDS)
            channel.invoke_subsystem("sftp")
            session = SftpSession(channel)
            path = str(self._settings.get("path") or ".").encode("utf-8", "replace")
            return _Connection(connection, transport, session, session.resolve_path(path))
        except BaseException:
            transport.close()
            raise

    def _read_folder(self, path: str) -> Iterator[Item]:
        connection = self.connect()
        budget = Budget(limits.OPERATION_SECONDS, lambda: shut_down(connection.socket))
        with _translate_ssh_errors(), budget.spend():
            for name, attributes in connection.session.read_folder(_join(connection.root, path)):
                is_folder = stat.S_ISDIR(attributes.mode)
                if not is_name(name) or not (is_folder or stat.S_ISREG(attributes.mode)):
                    continue
                if is_folder:
                    yield Item(encode_name(name), is_folder=True)
                else:
                    size, modified = attributes.size, attributes.modified
                    yield Item(encode_name(name), False, f"{size}-{modified}", size, modified)  # noqa: FBT003


def _join(root: bytes, path: str) -> bytes:
    names = split_path(path)
    if names is None:
        raise ObjectMissing
    return b"/".join([root.rstrip(b"/"), *names]) or b"/"


def _read_file(reader: SftpReader, budget: Budget) -> Iterator[bytes]:
    received = 0
    with _translate_ssh_errors(), budget.spend():
        before = reader.get_attributes()
    while True:
        with _translate_ssh_errors(), budget.spend():
            chunk = reader.read(limits.CHUNK_BYTES)
            if not chunk:
                after = reader.get_attributes()
        if not chunk:
            break
        received += len(chunk)
        yield chunk
    # Times often have whole seconds only, so that the size may be the one thing that has changed.
    if after.size not in (None, received) or after != before:
        raise ObjectMissing


@contextmanager
def _translate_ssh_errors() -> Iterator[None]:
    """Raise SourceError or ObjectMissing instead of the errors of paramiko."""
    try:
        with translate_errors():
            try:
                yield
            except (FileNotFoundError, PermissionError) as error:
                raise _describe_refusal(error) from None
    except paramiko.AuthenticationException:
        message = "The host answers, but refuses the user name and the password or key."
        raise SourceError(SourceErrorKind.CREDENTIALS_REFUSED, message) from None
    except paramiko.SSHException as error:
        raise _describe_ssh_error(error) from None
    except (ValueError, paramiko.SFTPError):
        raise describe_protocol_error() from None


def _describe_refusal(error: OSError) -> Exception:
    if isinstance(error, FileNotFoundError):
        return ObjectMissing()
    message = "The user is not allowed to read a folder or document of this source."
    return SourceError(SourceErrorKind.NOT_ALLOWED, message)


def _describe_ssh_error(error: paramiko.SSHException) -> SourceError:
    if isinstance(error, paramiko.ssh_exception.IncompatiblePeer):
        message = "The host offers no host key or encryption that this service supports."
        return SourceError(SourceErrorKind.PROTOCOL, message)
    message = "The host broke the connection, or it is not an SSH server."
    return SourceError(SourceErrorKind.UNREACHABLE, message)


def _load_key(settings: Mapping[str, Any]) -> paramiko.PKey | None:
    text = settings.get("private_key")
    if not text:
        return None
    with suppress(*_UNREADABLE):
        return _parse_key(text.encode(), settings.get("passphrase"))
    message = "The private key cannot be read; check that it is complete, and its passphrase."
    raise SourceError(SourceErrorKind.CREDENTIALS_REFUSED, message)


def _parse_key(text: bytes, passphrase: str | None) -> paramiko.PKey:
    """Return the key of a text in OpenSSH or PEM format.

    paramiko does not read PKCS #8, so the key is written again in OpenSSH format.
    """
    load = load_ssh_private_key if b"BEGIN OPENSSH" in text else load_pem_private_key
    key = load(text, None if passphrase is None else passphrase.encode())
    for kind, key_type in _KEY_TYPES.items():
        if isinstance(key, kind):
            own = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
            return key_type.from_private_key(StringIO(own.decode()))
    raise UnsupportedAlgorithm("a key of another type")


def _prefer_key_type(transport: paramiko.Transport, host_key: str) -> None:
    """Ask the host for a key of the configured type; a host may have one of each."""
    name = host_key.split(" ", maxsplit=1)[0]
    options = transport.get_security_options()
    if name == "ssh-rsa":
        options.key_types = [kind for kind in options.key_types if kind.startswith("rsa-sha2-")]
    elif name in options.key_types:
        options.key_types = [name]


def _check_host_key(key: paramiko.PKey, host_key: str) -> None:
    digest = hashlib.sha256(key.asbytes()).digest()
    fingerprint = "SHA256:" + base64.b64encode(digest).decode().rstrip("=")
    shown = f"{key.get_name()} {key.get_base64()}"
    if host_key.rstrip("=") != fingerprint and " ".join(host_key.split()[:2]) != shown:
        message = (
            f"The host has the {key.get_name()} key {fingerprint}, not the configured one. Ask its "
            "operator whether this key is right before you change `host_key`."
        )
        raise SourceError(SourceErrorKind.NOT_ALLOWED, message)
