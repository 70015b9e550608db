"""Running what is due inside a test: the real relay, the real queues, the real worker function."""

from flask import Flask
from rq import Queue, SimpleWorker
from rq.serializers import JSONSerializer

from app.kit import container
from app.kit.jobs import handlers
from app.kit.jobs.relay import Relay

_ROUNDS = 50


def drain(app: Flask) -> None:
    """Relay and work, by turns, until a round moves nothing."""
    connection = container.current().redis(timeout=5)
    relay = Relay(app, lambda: connection)
    names = [*handlers.QUEUES, *(source.queue for source in handlers.SOURCES)]
    queues = [Queue(name, connection=connection, serializer=JSONSerializer) for name in names]
    for _ in range(_ROUNDS):
        moved = relay.round()
        if not moved and not any(queue.count for queue in queues):
            return
        with app.app_context():
            worker = SimpleWorker(queues, connection=connection, serializer=JSONSerializer)
            worker.work(burst=True, logging_level="WARNING")
    raise AssertionError("work did not come to an end")
