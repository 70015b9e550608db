"""Jobs that send links by email and delete expired records."""

from uuid import UUID

from app.identity.auth import attempts, email_change, encrypted_jobs, links, queries, recovery
from app.kit.jobs import Job, handler, periodic


@handler(recovery.REQUESTED, queue="mail")
def send_password_reset(job: Job) -> None:
    """Send a password reset link, if the address has an account."""
    recovery.send_reset_link(**encrypted_jobs.read_args(job))


@handler(email_change.REQUESTED, queue="mail")
def send_email_confirmation(job: Job) -> None:
    """Send a link that confirms an email address."""
    args = encrypted_jobs.read_args(job)
    email_change.send_confirmation(UUID(args["user_id"]), args["email"], int(args["version"]))


@handler("auth.purge", queue="maintenance", resumable=True)
def purge(job: Job) -> None:
    """Delete old sessions, expired links and old login failures."""
    queries.purge_sessions(job.checkpoint)
    links.purge(job.checkpoint)
    attempts.purge(job.checkpoint)


periodic("auth.purge", every=3600)
