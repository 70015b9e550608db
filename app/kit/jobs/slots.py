"""The quota of a queue for each organization, which depends on the slots of all machines."""

from collections.abc import Callable
from threading import Lock

from cachetools import TTLCache, cached
from redis import Redis
from redis.exceptions import RedisError
from rq import Queue as RqQueue
from rq import Worker

from app.kit import container
from app.kit.jobs.queues import QUEUES, Queue, compute_quota, count_local_slots


@cached(TTLCache(len(QUEUES), ttl=5.0), key=lambda queue, _: queue.name, lock=Lock())
def get_quota(queue: Queue, connect: Callable[[], Redis]) -> int:
    """Return the maximum number of concurrent runs in `queue` for one organization.

    The result is cached for five seconds. `connect` returns a Redis client with a short timeout.
    If Redis is unavailable, only the slots of this machine are counted.
    """
    local_slots = count_local_slots(queue, container.settings().job_workers)
    try:
        worker_count = Worker.count(queue=RqQueue(queue.group.name, connection=connect()))
    except RedisError:
        worker_count = 0
    slots_per_worker = 1 if queue.group.forking else local_slots
    return compute_quota(max(local_slots, worker_count * slots_per_worker))
