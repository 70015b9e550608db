"""Durable work: PostgreSQL is the truth, RQ carries and executes.

A job is a row that says what is due and when. The relay (`relay`) wakes the workers of a queue that
has something due; a worker (`worker`) claims a job under a lease (`claims`), runs its handler, and
writes the outcome only if the lease is still its own. `handlers` is the table of what may run at
all, `queues` says what keeps apart.
"""

from app.kit.jobs.handlers import Job, LostLease, Retry, handler, periodic
from app.kit.jobs.model import JobRow, enqueue, enqueue_many

__all__ = ["Job", "JobRow", "LostLease", "Retry", "enqueue", "enqueue_many", "handler", "periodic"]
