"""A webhook receiver of the standard library: prints each event once its signature was verified.

    python examples/receiver.py SECRET [PORT] [ADDRESS]

Where the package `standardwebhooks` is installed, it verifies too, unmodified.
"""

import base64
import hashlib
import hmac
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer


def verify(secret: str, body: bytes, header: str) -> bool:
    """Whether `X-Service-Signature` is the HMAC of the raw body under the webhook's secret."""
    digest = hmac.new(secret.encode("ascii"), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(f"sha256={digest}", header)


def verify_standard(secret: str, body: bytes, headers: dict[str, str]) -> str:
    """What the unmodified package says; it takes the key in base64."""
    try:
        from standardwebhooks.webhooks import Webhook
    except ImportError:
        return "not installed"
    Webhook(base64.b64encode(secret.encode("ascii")).decode()).verify(body, headers)
    return "verified"


class Receiver(BaseHTTPRequestHandler):
    """Answers 204 to a delivery that verifies, 401 to any other."""

    secret = ""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        good = verify(self.secret, body, self.headers.get("X-Service-Signature", ""))
        if good:
            event = json.loads(body)
            standard = verify_standard(self.secret, body, dict(self.headers))
            print(f"verified {event['event']} {json.dumps(event['data'])}")
            print(f"standardwebhooks: {standard}", flush=True)
        self.send_response(204 if good else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Only what was verified is printed."""


class Server(ThreadingHTTPServer):
    """Listens at once: the standard library's asks the DNS for its own name before it does."""

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
