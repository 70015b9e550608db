"""SQL that stores the progress of a running job in its args, and restarts unfinished jobs."""

from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import CursorResult, text

from app.kit import db
from app.kit.jobs.claims import JOB_LEASES
from app.kit.leases import Lease

PROGRESS = "progress"
"""The key of the progress in a job's args."""
RESTART_ID = "restart_id"
"""The key in a job's args that changes when the job is restarted."""

# If the restart id differs, a restart has replaced the args, which must then stay unchanged.
_STORE = JOB_LEASES.build_update(
    f"""
    args = CASE WHEN args ->> '{RESTART_ID}' IS NOT DISTINCT FROM CAST(:restart_id AS text)
                THEN jsonb_set(args, '{{{PROGRESS}}}', CAST(:progress AS jsonb)) ELSE args END
    """,
    "RETURNING args",
)
_RESTART = text(
    "UPDATE jobs SET args = CAST(:args AS jsonb), request_id = :request_id,"
    " due_at = least(due_at, now()) WHERE unique_key = :unique_key"
)


def store(
    job_id: UUID, lease_token: UUID, restart_id: str | None, progress: dict[str, Any]
) -> dict[str, Any] | None:
    """Store the progress of a job unless it was restarted, and return its current args.

    Returns None if the lease is lost. The row stays locked until the transaction ends.
    """
    values = {
        **JOB_LEASES.build_parameters([Lease(lease_token, (job_id,))]),
        "restart_id": restart_id,
        "progress": orjson.dumps(progress).decode(),
    }
    args: dict[str, Any] | None = db.session().execute(_STORE, values).scalar_one_or_none()
    return args


def restart(unique_key: str, args: dict[str, Any], request_id: str | None) -> bool:
    """Replace the args and request id of the unfinished job with this key, and make it due now.

    Returns whether there is such a job.
    """
    values = {
        "unique_key": unique_key,
        "args": orjson.dumps(args).decode(),
        "request_id": request_id,
    }
    result = db.session().execute(_RESTART, values)
    assert isinstance(result, CursorResult)
    return bool(result.rowcount)
