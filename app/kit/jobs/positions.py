"""The position that a resumable job stores, so that its next run continues there.

The position is part of the job's arguments, so that a job needs no table of its own for it. An
instance of a release that does not know the position starts from the beginning.
"""

from typing import Any

from sqlalchemy import text

from app.kit import db
from app.kit.jobs.claims import Lease

_NAME = "position"
_STORE = text(
    f"""
    UPDATE jobs SET args = jsonb_set(args, '{{{_NAME}}}', to_jsonb(CAST(:position AS text)))
    WHERE id = ANY(CAST(:ids AS uuid[])) AND lease_token = :token
    """  # noqa: S608 - constants of this module
)


def find(args: dict[str, Any]) -> str | None:
    """Return the position in the arguments of a job, or None if no run has stored one."""
    position = args.get(_NAME)
    return None if position is None else str(position)


def store(lease: Lease, position: str) -> None:
    """Store the position of a job. Do nothing if this run has lost its lease."""
    ids = [str(job_id) for job_id in lease.ids]
    db.session().execute(_STORE, {"position": position, "ids": ids, "token": lease.token})
