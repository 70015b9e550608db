"""Jobs that email password reset and confirmation links, and delete expired records."""

from uuid import UUID

from app.identity.auth import attempts, credentials, links, queries
from app.kit.jobs import Job, handler


@handler(credentials.RESET_JOB, queue="mail")
def send_password_reset(job: Job) -> None:
    """Email a password reset link if the address in the job's arguments has an account."""
    credentials.send_reset_link(**credentials.read_encrypted_args(job))


@handler(credentials.CONFIRMATION_JOB, queue="mail")
def send_email_confirmation(job: Job) -> None:
    """Email a confirmation link to the address in the job's arguments."""
    args = credentials.read_encrypted_args(job)
    credentials.send_email_confirmation(UUID(args["user_id"]), args["email"], int(args["version"]))


@handler("auth.purge", queue="maintenance", resumable=True, every=3600)
def purge(job: Job) -> None:
    """Delete old sessions, expired links and old login failures; runs every hour."""
    queries.purge_sessions(job.checkpoint)
    links.purge(job.checkpoint)
    attempts.purge(job.checkpoint)
