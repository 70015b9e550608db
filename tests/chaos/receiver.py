"""A receiver of webhook deliveries that fails at random."""

import json
import random
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.factories.servers import QuietHandler, serve_receiver
from tests.faults.conftest import ADDRESS

_FAILURE_RATE = 0.02
_SUBJECTS = {
    "artifact.ingested": "artifact_id",
    "tag_set.accepted": "tag_set_id",
    "export.completed": "job_id",
}
EVENTS = tuple(_SUBJECTS)


@dataclass
class Receiver:
    """The deliveries that the receiver acknowledged.

    `received` maps (event, subject) to a mapping from the id of each delivery to the number of
    times that it was acknowledged. `subject` is the id of the event's record.
    """

    url: str = ""
    received: dict[tuple[str, str], dict[str, int]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(int))
    )
    lock: threading.Lock = field(default_factory=threading.Lock)

    def record(self, delivery_id: str, body: bytes) -> None:
        """Record that a delivery is acknowledged."""
        payload = json.loads(body)
        subject = payload["data"][_SUBJECTS[payload["event"]]]
        with self.lock:
            self.received[payload["event"], subject][delivery_id] += 1


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Serve a receiver during the block, on the address to which the service may deliver."""
    receiver = Receiver()

    def receive(request: QuietHandler) -> int:
        body = request.read_body()
        if random.random() < _FAILURE_RATE:
            time.sleep(0.5)
            return 500
        receiver.record(request.headers["X-Service-Delivery"], body)
        return 200

    with serve_receiver(receive, ADDRESS) as url:
        receiver.url = f"{url}/hook"
        yield receiver
