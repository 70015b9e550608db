"""How many slots serve a queue on all machines together, and one organization's quota of them."""

from collections.abc import Callable
from time import monotonic

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue as RqQueue
from rq import Worker

from app.kit import container
from app.kit.jobs.queues import Queue, local_slots, quota_of

_KEPT_SECONDS = 5.0
_counted: dict[str, tuple[float, int]] = {}


def get_quota(queue: Queue, connect: Callable[[], Redis]) -> int:
    """Return how many runs of `queue` one organization may have under way.

    `connect` returns a client that gives up soon; without an answer, the slots of this machine
    count.
    """
    return quota_of(_count_slots(queue, connect))


def _count_slots(queue: Queue, connect: Callable[[], Redis]) -> int:
    """Count the slots by RQ's registry of workers, but no fewer than this machine has."""
    counted_at, slots = _counted.get(queue.name, (0.0, 0))
    if not slots or monotonic() - counted_at > _KEPT_SECONDS:
        slots = local_slots(queue, container.settings().job_workers)
        try:
            workers = Worker.count(queue=RqQueue(queue.group.name, connection=connect()))
        except RedisError:
            workers = 0
        slots = max(slots, workers * (1 if queue.group.forking else queue.slots))
        _counted[queue.name] = (monotonic(), slots)
    return slots
