"""Running what is due inside a test: the real relay, the real queues, the real worker function."""

from threading import Event

from flask import Flask
from rq import Queue
from rq.serializers import JSONSerializer

from app.kit import container
from app.kit.jobs import handlers
from app.kit.jobs.relay import RUN, Relay
from app.kit.jobs.rq_workers import InProcess, make

_ROUNDS = 500
"""More than what other tests left takes: of some queues a round hands out four jobs."""
_SETTLE_SECONDS = 30.0


def drain(app: Flask) -> None:
    """Relay and work, by turns, until a round moves nothing; deliveries are sent and written."""
    connection = container.current().redis(timeout=5)
    relay = Relay(app, lambda: connection)
    names = [*handlers.QUEUES, *(source.queue for source in handlers.SOURCES)]
    queues = [Queue(name, connection=connection, serializer=JSONSerializer) for name in names]
    functions = frozenset({RUN, *(source.function for source in handlers.SOURCES)})
    for _ in range(_ROUNDS):
        moved = relay.round()
        if not moved and not any(queue.count for queue in queues):
            return
        worker = make(InProcess, app, names, functions, connection, Event())
        worker.work(burst=True, logging_level="WARNING")
        assert all(source.settle(_SETTLE_SECONDS) for source in handlers.SOURCES)
    raise AssertionError("work did not come to an end")
