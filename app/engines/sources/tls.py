"""TLS for the protocols that are not HTTP."""

import socket
import ssl
from collections.abc import Callable

import certifi

from app.engines.sources.model import SourceError, SourceErrorKind


def build_context(ca_certificate: str | None) -> ssl.SSLContext:
    """Return a context that verifies certificates and names.

    Args:
        ca_certificate: certificates in PEM that are trusted besides the public authorities.
    """
    context = ssl.create_default_context(cafile=certifi.where())
    if ca_certificate:
        try:
            context.load_verify_locations(cadata=ca_certificate)
        except (ssl.SSLError, ValueError):
            message = "`ca_certificate` is no certificate in PEM format."
            raise SourceError(SourceErrorKind.PROTOCOL, message) from None
    return context


def wrap(
    context: ssl.SSLContext,
    connection: socket.socket,
    host: str,
    use: Callable[[socket.socket], None],
    session: ssl.SSLSession | None = None,
) -> ssl.SSLSocket:
    """Return a connection with TLS after its handshake.

    Args:
        context: verifies the certificate.
        connection: the connection, which becomes unusable.
        host: the name in the certificate.
        use: takes the new socket before the handshake, so that a deadline can end it.
        session: an earlier session to continue.
    """
    wrapped = context.wrap_socket(
        connection, server_hostname=host, do_handshake_on_connect=False, session=session
    )
    try:
        use(wrapped)
        wrapped.do_handshake()
    except BaseException:
        wrapped.close()
        raise
    return wrapped
