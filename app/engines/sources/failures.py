"""Build the errors that all protocols share, for example for failed connections."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from app.engines.sources.model import ObjectMissing, SourceError, SourceErrorKind


@contextmanager
def translate_errors() -> Iterator[None]:
    """Translate errors from sockets and TLS to SourceError.

    The original errors are dropped, because their messages may contain internal addresses.
    """
    try:
        yield
    except (SourceError, ObjectMissing):
        raise
    except (OSError, EOFError) as error:
        raise build_connection_error(error) from None


def build_connection_error(error: BaseException) -> SourceError:
    """Build the SourceError for an error from a socket or from TLS."""
    match error:
        case ssl.SSLCertVerificationError():
            reason = error.verify_message.rstrip(".")
            message = f"The certificate of the host is not valid: {reason}."
            return SourceError(SourceErrorKind.PROTOCOL, message)
        case TimeoutError():
            message = "The host did not respond in time."
        case ssl.SSLEOFError() | ssl.SSLZeroReturnError():
            message = "The connection to the host failed or was lost."
        case ssl.SSLError():
            message = "No secure connection could be established; check that the host uses TLS."
            return SourceError(SourceErrorKind.PROTOCOL, message)
        case ConnectionRefusedError():
            message = "The host refuses connections on this port."
        case socket.gaierror():
            message = "The host name cannot be resolved."
        case _:
            message = "The connection to the host failed or was lost."
    return SourceError(SourceErrorKind.UNREACHABLE, message)


def build_protocol_error() -> SourceError:
    """Build the SourceError for a response that does not follow the protocol."""
    message = "The host does not follow the protocol; check the host and the port."
    return SourceError(SourceErrorKind.PROTOCOL, message)


def build_missing_folder_error() -> SourceError:
    """Build the SourceError for a folder that does not exist."""
    return SourceError(SourceErrorKind.NOT_FOUND, "The folder does not exist.")
