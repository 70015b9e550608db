"""Set up TLS for protocols other than HTTP."""

import socket
import ssl
from collections.abc import Callable, Mapping
from typing import Any

import certifi

from app.engines.sources.model import HostError, HostErrorKind


def build_context(settings: Mapping[str, Any]) -> ssl.SSLContext | None:
    """Build the TLS context of a source, which verifies certificates and host names.

    Returns None if `tls` is false. The PEM certificates in `ca_certificate` are trusted in addition
    to the public certificate authorities. Raises HostError if `ca_certificate` is invalid.
    """
    if not settings.get("tls", True):
        return None
    context = ssl.create_default_context(cafile=certifi.where())
    if ca_certificate := settings.get("ca_certificate"):
        try:
            context.load_verify_locations(cadata=ca_certificate)
        except (ssl.SSLError, ValueError):
            message = "`ca_certificate` is not a certificate in PEM format."
            raise HostError(HostErrorKind.PROTOCOL, message) from None
    return context


def wrap_socket(
    context: ssl.SSLContext,
    connection: socket.socket,
    host: str,
    set_socket: Callable[[socket.socket], None],
    session: ssl.SSLSession | None = None,
) -> ssl.SSLSocket:
    """Start TLS on a connection, and return the new socket after the handshake.

    Args:
        context: verifies the certificate.
        connection: the connection, which becomes unusable.
        host: the name in the certificate.
        set_socket: receives the new socket before the handshake, so that a deadline can stop the
            handshake.
        session: an earlier TLS session to resume.
    """
    tls_socket = context.wrap_socket(
        connection, server_hostname=host, do_handshake_on_connect=False, session=session
    )
    try:
        set_socket(tls_socket)
        tls_socket.do_handshake()
    except BaseException:
        tls_socket.close()
        raise
    return tls_socket
