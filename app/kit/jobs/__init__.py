"""Durable background jobs: PostgreSQL stores them, and RQ wakes the workers.

A job is a row with a function, arguments and a due time. The relay (`relay`) wakes workers when
their queues have due jobs. A worker (`worker`) claims a job under a lease (`claims`), runs its
handler (`runs`), and writes the outcome only if it still has the lease. `handlers` is the registry
of job functions. `queues` defines the queues and their slots.
"""

from app.kit.jobs.handlers import Job, LostLease, Retry, handler, periodic
from app.kit.jobs.model import (
    JobRow,
    cancel_queued,
    enqueue,
    enqueue_many,
    enqueue_or_restart,
    replace_queued,
)

__all__ = [
    "Job",
    "JobRow",
    "LostLease",
    "Retry",
    "cancel_queued",
    "enqueue",
    "enqueue_many",
    "enqueue_or_restart",
    "handler",
    "periodic",
    "replace_queued",
]
