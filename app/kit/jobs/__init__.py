"""Durable work: PostgreSQL is the truth, RQ carries and executes.

A job is a row that says what is due and when. The relay (`relay`) claims what is due and enqueues
only ids; a worker (`worker`) takes the lease, runs the handler, and writes the outcome only if the
lease is still its own. `handlers` is the table of what may run at all.
"""

from app.kit.jobs.handlers import Job, LostLease, Retry, handler, periodic
from app.kit.jobs.model import JobRow, enqueue, enqueue_many

__all__ = ["Job", "JobRow", "LostLease", "Retry", "enqueue", "enqueue_many", "handler", "periodic"]
