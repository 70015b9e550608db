"""Jobs with encrypted arguments: the jobs table must not contain readable email addresses."""

import orjson
from sqlalchemy import text

from app.kit import container, db, jobs, tenancy
from app.kit.jobs import Job

_DELETE_ARGS = text("UPDATE jobs SET args = args - 'sealed' WHERE id = :id")


def enqueue(function: str, **args: str) -> None:
    """Enqueue a job with encrypted arguments in the running transaction."""
    encrypted = container.keyring().encrypt(orjson.dumps(args))
    with tenancy.across_organizations(reason="accounts belong to no organization"):
        jobs.enqueue(function, {"sealed": encrypted}, organization_id=None)


def read_args(job: Job) -> dict[str, str]:
    """Return the decrypted arguments of a job, and delete them in the job's transaction."""
    args: dict[str, str] = orjson.loads(container.keyring().decrypt(job.args["sealed"]))
    db.session().execute(_DELETE_ARGS, {"id": job.id})
    return args
