"""A receiver of webhooks that now and then fails."""

import json
import random
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.factories.servers import serving
from tests.faults.conftest import ADDRESS

_FAILURES = 0.02
_SUBJECTS = {
    "artifact.ingested": "artifact_id",
    "tag_set.accepted": "tag_set_id",
    "export.completed": "job_id",
}
EVENTS = tuple(_SUBJECTS)


@dataclass
class Receiver:
    """`received` maps event and subject to how often each of its deliveries was acknowledged."""

    url: str = ""
    received: dict[tuple[str, str], dict[str, int]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(int))
    )
    lock: threading.Lock = field(default_factory=threading.Lock)

    def accept(self, delivery: str, body: bytes) -> None:
        """Enter a delivery."""
        payload = json.loads(body)
        subject = payload["data"][_SUBJECTS[payload["event"]]]
        with self.lock:
            self.received[payload["event"], subject][delivery] += 1


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Serve a receiver on the address that the service may reach."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            fails = random.random() < _FAILURES
            if fails:
                time.sleep(0.5)
            else:
                receiver.accept(self.headers["X-Service-Delivery"], body)
            self.send_response(500 if fails else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with serving(Handler, ADDRESS) as port:
        receiver.url = f"http://{ADDRESS}:{port}/hook"
        yield receiver
