"""The queues: what kind of work each carries, by how many slots it is served, when it is late.

Work that may wait for each other shares a queue; work that must not has a queue of its own.
"""

from dataclasses import dataclass

_MINUTE = 60.0
_HOUR = 60 * _MINUTE


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue and the slots that serve it on one machine: so many of its jobs run at once.

    A slot of a `forking` queue is a process that runs its jobs in a fork of itself, for jobs that
    take memory or may crash. The slots of the others are threads of one process, for jobs that
    wait for the database or for other hosts. `late_after`: how many seconds a due job may wait
    before the queue counts as behind. `nice` lowers the priority of the processes. An `outbound`
    queue is for calls of other hosts.
    """

    name: str
    slots: int = 1
    forking: bool = False
    late_after: float = _MINUTE
    nice: int = 0
    outbound: bool = False


_ALL = (
    Queue("default"),
    Queue("fanout"),
    Queue("notifications"),
    Queue("routing"),
    Queue("mail", slots=4, late_after=5 * _MINUTE, outbound=True),
    Queue("third_party", slots=4, late_after=15 * _MINUTE, outbound=True),
    Queue("documents", forking=True, late_after=10 * _MINUTE, nice=5),
    Queue("exports", slots=2, forking=True, late_after=15 * _MINUTE, nice=5),
    Queue("bulk", slots=2, late_after=15 * _MINUTE, nice=5),
    Queue("erasing", late_after=6 * _HOUR, nice=10),
    Queue("maintenance", late_after=6 * _HOUR, nice=10),
)
QUEUES: dict[str, Queue] = {queue.name: queue for queue in _ALL}
"""Every queue that handlers may name."""


def list_served(*, outbound: bool) -> list[Queue]:
    """Return the queues that are worked on; those for other hosts only with `outbound`."""
    return [queue for queue in QUEUES.values() if outbound or not queue.outbound]


def local_slots(queue: Queue, job_workers: int) -> int:
    """Return the slots of `queue` on this machine, of which `job_workers` parse documents.

    Documents get one slot more: when one organization fills all others, it is free for another.
    """
    return job_workers + 1 if queue.name == "documents" else queue.slots


def quota_of(slots: int) -> int:
    """Return how many of `slots` one organization may hold: a quarter stays free for others."""
    return max(1, slots - max(1, slots // 4))
