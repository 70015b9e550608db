"""Build the errors that all protocols share, for example for failed connections."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from app.engines.sources.model import HostError, HostErrorKind, ObjectMissing


@contextmanager
def translate_errors() -> Iterator[None]:
    """Translate errors from sockets and TLS to HostError.

    The original errors are dropped, because their messages may contain internal addresses.
    """
    try:
        yield
    except (HostError, ObjectMissing):
        raise
    except (OSError, EOFError) as error:
        raise build_connection_error(error) from None


def build_connection_error(error: BaseException) -> HostError:
    """Build the HostError for an error from a socket or from TLS."""
    match error:
        case ssl.SSLCertVerificationError():
            reason = error.verify_message.rstrip(".")
            message = f"The certificate of the host is not valid: {reason}."
            return HostError(HostErrorKind.PROTOCOL, message)
        case TimeoutError():
            message = "The host did not respond in time."
        case ssl.SSLEOFError() | ssl.SSLZeroReturnError():
            message = "The connection to the host failed or was lost."
        case ssl.SSLError():
            message = "No secure connection could be established; check that the host uses TLS."
            return HostError(HostErrorKind.PROTOCOL, message)
        case ConnectionRefusedError():
            message = "The host refuses connections on this port."
        case socket.gaierror():
            message = "The host name cannot be resolved."
        case _:
            message = "The connection to the host failed or was lost."
    return HostError(HostErrorKind.UNREACHABLE, message)


def build_protocol_error() -> HostError:
    """Build the HostError for a response that does not follow the protocol."""
    message = "The host does not follow the protocol; check the host and the port."
    return HostError(HostErrorKind.PROTOCOL, message)


def build_missing_folder_error() -> HostError:
    """Build the HostError for a folder that does not exist."""
    return HostError(HostErrorKind.NOT_FOUND, "The folder does not exist.")


def build_status_error(
    status: int, *, key: str, container: str, action: str = "list or read"
) -> HostError:
    """Build the HostError for an HTTP error status without a more specific error code.

    Args:
        status: the HTTP status of the response.
        key: the store's term for the credentials, such as `access key`.
        container: the store's term for the container, such as `bucket`.
        action: the action that the credentials need permission for, used in the message.
    """
    if status == HTTPStatus.UNAUTHORIZED:
        message = f"The host rejected the {key}."
        return HostError(HostErrorKind.CREDENTIALS_REFUSED, message)
    if status == HTTPStatus.FORBIDDEN:
        message = f"The {key} is not allowed to {action} this {container}."
        return HostError(HostErrorKind.NOT_ALLOWED, message)
    if status == HTTPStatus.NOT_FOUND:
        return HostError(HostErrorKind.NOT_FOUND, f"The {container} does not exist.")
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        message = f"The host is temporarily unavailable (HTTP status {status})."
        return HostError(HostErrorKind.UNREACHABLE, message)
    message = f"The host does not respond like an object store (HTTP status {status})."
    return HostError(HostErrorKind.PROTOCOL, message)
