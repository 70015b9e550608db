"""The queues: what kind of work each carries, by how many slots it is served, when it is late.

Work that may wait for each other shares a queue; work that must not has a queue of its own. Queues
that are alike share a group, whose processes serve them side by side.
"""

from dataclasses import dataclass

_MINUTE = 60.0
_HOUR = 60 * _MINUTE


@dataclass(frozen=True, slots=True)
class Group:
    """The processes that serve some queues on one machine.

    One process has a thread for each slot of its queues, for jobs that wait for the database or
    for other hosts. A `forking` group has one queue and a process for each slot, which runs jobs in
    a fork of itself: they take memory, or may crash. `nice` lowers the priority of the processes.
    An `outbound` group is for calls of other hosts.
    """

    name: str
    forking: bool = False
    nice: int = 0
    outbound: bool = False


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue of a group. `slots` of its jobs run at once on one machine.

    `late_after`: how many seconds a due job may wait before the queue counts as behind.
    """

    name: str
    group: Group
    slots: int = 1
    late_after: float = _MINUTE


_QUICK = Group("quick")
_OUTSIDE = Group("outside", outbound=True)
_SLOW = Group("slow", nice=5)
_DOCUMENTS = Group("documents", forking=True, nice=5)
_EXPORTS = Group("exports", forking=True, nice=5)
_ALL = (
    Queue("default", _QUICK),
    Queue("fanout", _QUICK),
    Queue("notifications", _QUICK),
    Queue("routing", _QUICK),
    # People wait for what is in `mail`: links to a password, confirmations. No number of
    # invitations and notifications takes its slots.
    Queue("mail", _OUTSIDE, slots=4, late_after=5 * _MINUTE),
    Queue("bulk_mail", _OUTSIDE, slots=3, late_after=30 * _MINUTE),
    Queue("third_party", _OUTSIDE, slots=4, late_after=15 * _MINUTE),
    Queue("bulk", _SLOW, slots=2, late_after=15 * _MINUTE),
    Queue("erasing", _SLOW, late_after=6 * _HOUR),
    Queue("maintenance", _SLOW, late_after=6 * _HOUR),
    Queue("documents", _DOCUMENTS, late_after=10 * _MINUTE),
    Queue("exports", _EXPORTS, slots=2, late_after=15 * _MINUTE),
)
QUEUES: dict[str, Queue] = {queue.name: queue for queue in _ALL}
"""Every queue that handlers may name."""
GROUPS: dict[str, Group] = {queue.group.name: queue.group for queue in _ALL}


def list_served(*, outbound: bool) -> list[Queue]:
    """Return the queues that are worked on; those for other hosts only with `outbound`."""
    return [queue for queue in QUEUES.values() if outbound or not queue.group.outbound]


def list_queues(group: Group) -> list[Queue]:
    """Return the queues of a group."""
    return [queue for queue in QUEUES.values() if queue.group == group]


def local_slots(queue: Queue, job_workers: int) -> int:
    """Return the slots of `queue` on this machine, of which `job_workers` parse documents.

    Documents get one slot more: when one organization fills all others, it is free for another.
    """
    return job_workers + 1 if queue.name == "documents" else queue.slots


def quota_of(slots: int) -> int:
    """Return how many of `slots` one organization may hold: a quarter stays free for others."""
    return max(1, slots - max(1, slots // 4))
