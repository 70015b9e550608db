"""The slots of a queue on all machines, and the quota of one organization."""

from collections.abc import Callable
from time import monotonic

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue as RqQueue
from rq import Worker

from app.kit import container
from app.kit.jobs.queues import Queue, compute_quota, count_local_slots

_CACHE_SECONDS = 5.0
_cache: dict[str, tuple[float, int]] = {}


def get_quota(queue: Queue, connect: Callable[[], Redis]) -> int:
    """Return the maximum number of concurrent runs of `queue` for one organization.

    `connect` returns a client with a short timeout. If Redis is unavailable, only the slots of this
    machine count.
    """
    return compute_quota(_count_slots(queue, connect))


def _count_slots(queue: Queue, connect: Callable[[], Redis]) -> int:
    """Return the number of slots of all workers in RQ, but at least those of this machine."""
    counted_at, slots = _cache.get(queue.name, (0.0, 0))
    if not slots or monotonic() - counted_at > _CACHE_SECONDS:
        local = slots = count_local_slots(queue, container.settings().job_workers)
        try:
            workers = Worker.count(queue=RqQueue(queue.group.name, connection=connect()))
        except RedisError:
            workers = 0
        slots = max(slots, workers * (1 if queue.group.forking else local))
        _cache[queue.name] = (monotonic(), slots)
    return slots
