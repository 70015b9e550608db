"""The queues for background jobs, with their slots and the delay after which they are late.

Jobs that may delay each other share a queue. Jobs that must not delay each other have separate
queues. Similar queues form a group, and the processes of the group serve them concurrently.
"""

from dataclasses import dataclass

_MINUTE = 60.0
_HOUR = 60 * _MINUTE


@dataclass(frozen=True, slots=True)
class QueueGroup:
    """A group of queues that share processes on a machine.

    By default, one process has a thread for each slot of the queues. This suits jobs that mostly
    wait for the database or other hosts. A `forking` group has one queue, and a process for each
    slot. The process runs jobs in forked children, because the jobs need much memory or may crash.
    `nice` lowers the priority of the processes. Jobs of an `outbound` group call other hosts.
    """

    name: str
    forking: bool = False
    nice: int = 0
    outbound: bool = False


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue for background jobs, which the processes of its group serve.

    `slots` is the maximum number of its jobs that run concurrently on one machine. A job that has
    run for `worker.SLOW_SECONDS` uses one of the `spare_slots` instead, if there are any. The queue
    is late when a due job has waited for more than `late_after` seconds.
    """

    name: str
    group: QueueGroup
    slots: int = 1
    spare_slots: int = 0
    late_after: float = _MINUTE


_QUICK = QueueGroup("quick")
_OUTBOUND = QueueGroup("outside", outbound=True)
_SLOW = QueueGroup("slow", nice=5)
_DOCUMENTS = QueueGroup("documents", forking=True, nice=5)
_EXPORTS = QueueGroup("exports", forking=True, nice=5)
_IMPORTS = QueueGroup("imports", forking=True, nice=5)
# Rendering loads fonts into its process, which must not fork afterwards.
_INVOICES = QueueGroup("invoices", nice=10)
_QUALITY = QueueGroup("quality", forking=True, nice=10)
_CRAWLS = QueueGroup("crawls", nice=5, outbound=True)
# A child of the process trains the model, at the lowest priority of all.
_TRAINING = QueueGroup("training", nice=19)
_ALL_QUEUES = (
    Queue("default", _QUICK),
    Queue("fanout", _QUICK),
    Queue("notifications", _QUICK),
    # With two slots, the rules of one organization can use only one of them.
    Queue("routing", _QUICK, slots=2),
    # Users wait for the emails in `mail`, such as password links. Invitations and notifications
    # have a separate queue, so that they cannot delay these emails.
    Queue("mail", _OUTBOUND, slots=4, late_after=5 * _MINUTE),
    Queue("bulk_mail", _OUTBOUND, slots=3, late_after=30 * _MINUTE),
    Queue("third_party", _OUTBOUND, slots=4, late_after=15 * _MINUTE),
    Queue("bulk", _SLOW, slots=2, late_after=15 * _MINUTE),
    Queue("erasing", _SLOW, late_after=6 * _HOUR),
    Queue("maintenance", _SLOW, late_after=6 * _HOUR),
    Queue("quality_counts", _SLOW, late_after=15 * _MINUTE),
    Queue("invoices", _SLOW, late_after=_HOUR),
    # A separate process compares the samples, and the job's thread waits for it.
    Queue("drift", _SLOW, late_after=6 * _HOUR),
    Queue("documents", _DOCUMENTS, late_after=10 * _MINUTE),
    # A separate process renders and recognizes the page, and the job's thread waits for it.
    Queue("ocr", _SLOW, late_after=6 * _HOUR),
    Queue("predictions", _SLOW, late_after=15 * _MINUTE),
    Queue("exports", _EXPORTS, slots=2, late_after=15 * _MINUTE),
    # One process is enough, because imports of several organizations alternate every few seconds.
    Queue("imports", _IMPORTS, late_after=15 * _MINUTE),
    # Statistics import numpy and scipy, so they run in forked children that exit after the job.
    Queue("quality", _QUALITY, late_after=_HOUR),
    # While one thread renders an invoice, the other threads wait for the disk. A busy disk takes
    # longer to store an invoice than the processor takes to render it.
    Queue("invoice_files", _INVOICES, slots=4, late_after=_HOUR),
    # These jobs mostly wait for hosts that organizations choose. One organization can use three
    # slots, so the slow hosts of three organizations leave slots for the jobs of others.
    Queue("crawls", _CRAWLS, slots=4, spare_slots=8, late_after=15 * _MINUTE),
    Queue("export_deliveries", _CRAWLS, slots=4, spare_slots=8, late_after=15 * _MINUTE),
    Queue("model_servers", _CRAWLS, slots=4, spare_slots=8, late_after=_HOUR),
    Queue("training", _TRAINING, late_after=6 * _HOUR),
)
QUEUES: dict[str, Queue] = {queue.name: queue for queue in _ALL_QUEUES}
"""All queues by name."""
GROUPS: dict[str, QueueGroup] = {queue.group.name: queue.group for queue in _ALL_QUEUES}
"""All queue groups by name."""


def list_served_queues(*, outbound: bool) -> list[Queue]:
    """Return the queues that this deployment serves.

    Queues of outbound groups are included only if `outbound` is true.
    """
    return [queue for queue in QUEUES.values() if outbound or not queue.group.outbound]


def list_queues(group: QueueGroup) -> list[Queue]:
    """Return the queues that belong to `group`."""
    return [queue for queue in QUEUES.values() if queue.group == group]


def count_local_slots(queue: Queue, job_workers: int) -> int:
    """Return the number of slots of `queue` on this machine.

    The queue `documents` has one slot more than `job_workers`, because the quota always leaves a
    slot for other organizations. The queue `ocr` has `job_workers // 2` slots, but at least one.
    """
    if queue.name == "documents":
        return job_workers + 1
    return max(1, job_workers // 2) if queue.name == "ocr" else queue.slots


def compute_quota(slots: int) -> int:
    """Return how many of `slots` one organization may use.

    A quarter of the slots, but at least one slot, stays free for other organizations. If there is
    only one slot, an organization may use it.
    """
    return max(1, slots - max(1, slots // 4))
