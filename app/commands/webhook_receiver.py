"""The HTTP server of `flask webhooks listen`, which prints deliveries."""

import base64
import binascii
import hmac
import socket
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from threading import Lock, Thread
from typing import Any

from app.commands.running import format_value
from app.delivery.webhooks.sending import sign_body

MAX_BODY_BYTES = 1024 * 1024
TIMEOUT_SECONDS = 10.0
"""The maximum time for which a request may send no data."""
TOLERANCE_SECONDS = 300
"""The maximum difference between a timestamp and the current time."""


class Verification(StrEnum):
    """The result of verifying a signature."""

    VALID = "valid"
    INVALID = "invalid"
    MISSING = "missing"
    EXPIRED = "expired"
    UNVERIFIED = "not verified"


def verify_service_signature(secret: bytes, body: bytes, header: str | None) -> Verification:
    """Verify `X-Service-Signature`."""
    if header is None:
        return Verification.MISSING
    expected = sign_body(secret, body).encode()
    is_valid = hmac.compare_digest(expected, header.encode("utf-8", "replace"))
    return Verification.VALID if is_valid else Verification.INVALID


def verify_standard_signature(
    secret: bytes, body: bytes, headers: Mapping[str, str], now: float
) -> Verification:
    """Verify the headers of Standard Webhooks; at least one signature must be valid."""
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    message_id, timestamp, signatures = (headers.get(name) for name in names)
    if message_id is None or timestamp is None or signatures is None:
        return Verification.MISSING
    signed_content = f"{message_id}.{timestamp}.".encode("utf-8", "replace") + body
    digest = hmac.digest(secret, signed_content, "sha256")
    if not any(_matches_digest(value, digest) for value in signatures.split(" ")):
        return Verification.INVALID
    if not timestamp.isdecimal() or abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        return Verification.EXPIRED
    return Verification.VALID


def _matches_digest(value: str, digest: bytes) -> bool:
    version, _, encoded = value.partition(",")
    try:
        return version == "v1" and hmac.compare_digest(base64.b64decode(encoded), digest)
    except (binascii.Error, ValueError):
        return False


class Receiver:
    """Verifies and prints deliveries.

    `count` is the number of deliveries after which it stops; None means that it never stops.
    """

    def __init__(
        self, secret: bytes | None, status: int, count: int | None, echo: Callable[[str], object]
    ) -> None:
        self.status = status
        self._secret = secret
        self._remaining = count
        self._echo = echo
        self._lock = Lock()

    def receive(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Print a delivery, and return whether it was the last one."""
        service = standard = Verification.UNVERIFIED
        if self._secret is not None:
            signature = headers.get("X-Service-Signature")
            service = verify_service_signature(self._secret, body, signature)
            standard = verify_standard_signature(self._secret, body, headers, time.time())
        name = format_value(headers.get("X-Service-Event"))
        delivery = format_value(headers.get("X-Service-Delivery"))
        attempt = format_value(headers.get("X-Service-Attempt"))
        with self._lock:
            self._echo(f"{name}  delivery {delivery}  attempt {attempt}")
            self._echo(f"  signature: {service}; Standard Webhooks: {standard}")
            self._echo(f"  {format_value(body.decode('utf-8', 'replace'))}")
            if self._remaining is not None:
                self._remaining -= 1
            return self._remaining == 0

    def print_address(self, host: str, port: int) -> None:
        """Print the address on which the server listens."""
        url_host = f"[{host}]" if ":" in host else host
        self._echo(f"Listening on http://{url_host}:{port}/ - press Ctrl+C to stop.")


class _Handler(BaseHTTPRequestHandler):
    """Receives one delivery per request."""

    timeout = TIMEOUT_SECONDS
    server: "_Server"

    def do_POST(self) -> None:
        """Receive a delivery."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            self.send_error(411)
        elif int(length) > MAX_BODY_BYTES:
            self.send_error(413)
        else:
            self._receive(int(length))

    def _receive(self, length: int) -> None:
        body = self.rfile.read(length)
        if len(body) < length:
            self.send_error(400)
            return
        headers: Any = self.headers
        is_last = self.server.receiver.receive(headers, body)
        self.send_response(self.server.receiver.status)
        if self.server.receiver.status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", "0")
        self.end_headers()
        if is_last:
            # In a separate thread, because `shutdown` waits until the server has stopped.
            Thread(target=self.server.shutdown).start()

    def log_message(self, *_: Any) -> None:
        """Log nothing, because deliveries are printed."""


class _Server(ThreadingHTTPServer):
    """A server that does not look up its host name, which can take a long time."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], receiver: Receiver) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, _Handler)
        self.receiver = receiver

    def server_bind(self) -> None:
        """Bind the socket."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]


def run_receiver(receiver: Receiver, host: str, port: int) -> None:
    """Receive deliveries until the last one, or until the user stops the server.

    Raises OSError if the address is not available.
    """
    with _Server((host, port), receiver) as server:
        receiver.print_address(host, server.server_port)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return
