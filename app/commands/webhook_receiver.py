"""The HTTP server of `flask webhooks listen`, which prints deliveries."""

import base64
import hmac
import socket
import time
from collections.abc import Callable
from enum import StrEnum
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from threading import Lock, Thread
from typing import Protocol

from app.commands.running import format_value
from app.delivery.webhooks.sending import sign_body

MAX_BODY_BYTES = 1024 * 1024
TIMEOUT_SECONDS = 10.0
"""The time in seconds after which the server closes a connection that sends no data."""
TOLERANCE_SECONDS = 300
"""The maximum difference in seconds between a signed timestamp and the current time."""


class Headers(Protocol):
    """The headers of a request; names are case-insensitive."""

    def get(self, name: str, /) -> str | None:
        """Return the value of a header, or None if it is missing."""


class SignatureStatus(StrEnum):
    """The result of verifying a delivery's signature. The receiver prints the value."""

    VALID = "valid"
    INVALID = "invalid"
    MISSING = "missing"
    EXPIRED = "expired"
    UNVERIFIED = "not verified"


def verify_service_signature(secret: bytes, body: bytes, header: str | None) -> SignatureStatus:
    """Verify the value of the `X-Service-Signature` header, which signs the body."""
    if header is None:
        return SignatureStatus.MISSING
    expected = sign_body(secret, body).encode()
    is_valid = hmac.compare_digest(expected, header.encode("utf-8", "replace"))
    return SignatureStatus.VALID if is_valid else SignatureStatus.INVALID


def verify_standard_signature(
    secret: bytes, body: bytes, headers: Headers, now: float
) -> SignatureStatus:
    """Verify the Standard Webhooks headers at the Unix time `now`; one valid signature suffices."""
    header_names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    message_id, timestamp, signatures = (headers.get(name) for name in header_names)
    if message_id is None or timestamp is None or signatures is None:
        return SignatureStatus.MISSING
    signed_content = f"{message_id}.{timestamp}.".encode("utf-8", "replace") + body
    expected = b"v1," + base64.b64encode(hmac.digest(secret, signed_content, "sha256"))
    values = signatures.encode("utf-8", "replace").split(b" ")
    if not any(hmac.compare_digest(value, expected) for value in values):
        return SignatureStatus.INVALID
    if not timestamp.isdecimal() or abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        return SignatureStatus.EXPIRED
    return SignatureStatus.VALID


class Receiver:
    """Verifies and prints deliveries.

    `status` is the status code of the responses. `max_count` is the number of deliveries after
    which the server stops; None means no maximum. If `secret` is None, signatures are not verified.
    """

    def __init__(
        self,
        secret: bytes | None,
        status: int,
        max_count: int | None,
        echo: Callable[[str], object],
    ) -> None:
        self.status = status
        self._secret = secret
        self._remaining_count = max_count
        self._echo = echo
        self._lock = Lock()

    def receive(self, headers: Headers, body: bytes) -> bool:
        """Receive, verify and print a delivery; return whether it was the last delivery."""
        service_result = standard_result = SignatureStatus.UNVERIFIED
        if self._secret is not None:
            signature = headers.get("X-Service-Signature")
            service_result = verify_service_signature(self._secret, body, signature)
            standard_result = verify_standard_signature(self._secret, body, headers, time.time())
        event = format_value(headers.get("X-Service-Event"))
        delivery_id = format_value(headers.get("X-Service-Delivery"))
        attempt = format_value(headers.get("X-Service-Attempt"))
        with self._lock:
            self._echo(f"{event}  delivery {delivery_id}  attempt {attempt}")
            self._echo(f"  signature: {service_result}; Standard Webhooks: {standard_result}")
            self._echo(f"  {format_value(body.decode('utf-8', 'replace'))}")
            if self._remaining_count is not None:
                self._remaining_count -= 1
            return self._remaining_count == 0

    def print_address(self, host: str, port: int) -> None:
        """Print the URL at which the server listens."""
        url_host = f"[{host}]" if ":" in host else host
        self._echo(f"Listening on http://{url_host}:{port}/ - press Ctrl+C to stop.")


class _Handler(BaseHTTPRequestHandler):
    """Passes each POST request to the receiver as one delivery."""

    timeout = TIMEOUT_SECONDS
    server: "_Server"

    def do_POST(self) -> None:
        """Read the request body and pass the delivery to the receiver."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            self.send_error(411)
        elif int(length) > MAX_BODY_BYTES:
            self.send_error(413)
        else:
            self._receive_delivery(int(length))

    def _receive_delivery(self, length: int) -> None:
        body = self.rfile.read(length)
        if len(body) < length:
            self.send_error(400)
            return
        is_last = self.server.receiver.receive(self.headers, body)
        self.send_response(self.server.receiver.status)
        if self.server.receiver.status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", "0")
        self.end_headers()
        if is_last:
            # In a separate thread, because `shutdown` waits until the server has stopped.
            Thread(target=self.server.shutdown).start()

    def log_message(self, *_: object) -> None:
        """Log nothing, because the receiver prints each delivery."""


class _Server(ThreadingHTTPServer):
    """An HTTP server that does not look up its host name, because the lookup can be slow."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], receiver: Receiver) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, _Handler)
        self.receiver = receiver

    def server_bind(self) -> None:
        """Bind the socket without looking up the host name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]


def run_receiver(receiver: Receiver, host: str, port: int) -> None:
    """Serve until the receiver has received its last delivery, or until the user presses Ctrl+C.

    Raises OSError if the address is not available.
    """
    with _Server((host, port), receiver) as server:
        receiver.print_address(host, server.server_port)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return
