"""A webhook receiver based on the standard library. It prints each event with a valid signature.

    python examples/receiver.py SECRET [PORT] [ADDRESS]

If the package `standardwebhooks` is installed, this package also verifies each delivery.
"""

import base64
import hashlib
import hmac
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer


def verify(secret: str, body: bytes, header: str) -> bool:
    """Return whether `header`, the value of `X-Service-Signature`, is valid for the raw body."""
    digest = hmac.new(secret.encode("ascii"), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(f"sha256={digest}", header)


def verify_standard(secret: str, body: bytes, headers: dict[str, str]) -> str:
    """Verify a delivery with `standardwebhooks`; return "verified" or "not installed".

    Raises the package's error if the delivery is invalid.
    """
    try:
        from standardwebhooks.webhooks import Webhook
    except ImportError:
        return "not installed"
    Webhook(base64.b64encode(secret.encode("ascii")).decode()).verify(body, headers)
    return "verified"


class Receiver(BaseHTTPRequestHandler):
    """Responds with 204 to a delivery with a valid signature, and with 401 to other requests."""

    secret = ""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_valid = verify(self.secret, body, self.headers.get("X-Service-Signature", ""))
        if is_valid:
            event = json.loads(body)
            standard = verify_standard(self.secret, body, dict(self.headers))
            print(f"verified {event['event']} {json.dumps(event['data'])}")
            print(f"standardwebhooks: {standard}", flush=True)
        self.send_response(204 if is_valid else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing, because this program only prints verified events."""


class Server(ThreadingHTTPServer):
    """An HTTP server that, unlike its base class, does not look up its own name in the DNS."""

    def server_bind(self) -> None:
        TCPServer.server_bind(self)
        self.server_name, self.server_port = host, port


if __name__ == "__main__":
    Receiver.secret = sys.argv[1]
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 9000
    host = sys.argv[3] if len(sys.argv) > 3 else "127.0.0.1"
    server = Server((host, port), Receiver)
    print(f"listening on {host}:{port}", flush=True)
    server.serve_forever()
