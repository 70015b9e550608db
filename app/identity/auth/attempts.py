"""Forced waits after failed password checks: each additional failure doubles the wait.

Failed logins are counted per email address, even if the address has no account. Wrong passwords
in the requests of a signed-in user are counted per user. A rate limit per client IP address also
applies. The counts are stored in the database, so they survive the loss of Redis. A failure is
committed immediately, because the failed request is rolled back.

Nobody is locked out permanently: the wait has a maximum, and a password reset by email ends it. The
failed logins of a client that sends a token for the account, even an expired token, are counted
separately.
"""

from uuid import UUID

from sqlalchemy import text

from app.identity.users import addresses
from app.kit import container, db, purging
from app.kit.db import Checkpoint
from app.kit.errors import ApiError

FAILURES_BEFORE_WAIT = 5
"""The number of consecutive failures that causes the first wait."""
MIN_WAIT_SECONDS = 30
"""The length of the first wait. Each additional failure doubles it, up to `MAX_WAIT_SECONDS`."""
MAX_WAIT_SECONDS = 15 * 60

_READ = text(
    "SELECT failures, ceil(extract(epoch FROM blocked_until - now()))::int AS wait"
    " FROM login_failures WHERE subject = :subject"
)
_RECORD_FAILURE = text(
    f"""
    INSERT INTO login_failures AS f (subject, failures, last_failed_at, blocked_until)
    VALUES (:subject, 1, now(), now())
    ON CONFLICT (subject) DO UPDATE SET
        last_failed_at = now(),
        failures = CASE WHEN f.last_failed_at < now() - interval '1 day' THEN 1
                        ELSE least(f.failures + 1, 1000) END,
        blocked_until = now() + make_interval(secs =>
            CASE WHEN f.last_failed_at < now() - interval '1 day' THEN 0
                 WHEN f.failures + 1 < {FAILURES_BEFORE_WAIT} THEN 0
                 ELSE least({MAX_WAIT_SECONDS},
                            {MIN_WAIT_SECONDS}
                            * 2 ^ least(f.failures + 1 - {FAILURES_BEFORE_WAIT}, 20))
            END)
    """  # noqa: S608 - inserts only constants of this module
)
_CLEAR = text("DELETE FROM login_failures WHERE subject = ANY(CAST(:subjects AS text[]))")


def get_address_subject(email: str, session_id: UUID | None = None) -> str:
    """Return the subject, a keyed hash, under which login failures for an address are counted.

    `session_id` is the id of a session of the account, or None if the client has no token for the
    account. Each session has a separate subject.
    """
    identity = f"{addresses.get_mailbox_key(email)}\n{session_id or ''}"
    return container.keyring().fingerprint("login", identity)


def get_user_subject(user_id: UUID) -> str:
    """Return the subject, a keyed hash, under which a signed-in user's failures are counted."""
    return container.keyring().fingerprint("login", f"user\n{user_id}")


def check_wait(subject: str) -> bool:
    """Raise 429 `rate_limited` if the subject must wait before its next attempt.

    Otherwise, returns whether the subject has recorded failures. If so, the caller must clear them
    after a successful attempt.
    """
    row = db.session().execute(_READ, {"subject": subject}).first()
    if row is None:
        return False
    if row.wait > 0:
        raise ApiError(
            "rate_limited",
            f"Too many failed attempts. Try again in {row.wait} s.",
            details={"retry_after": row.wait},
            headers={"Retry-After": str(row.wait)},
        )
    return True


def record_failure(subject: str) -> None:
    """Record a failure in a separate transaction, so that it survives the request's rollback."""
    with db.open_autocommit_connection() as connection:
        connection.execute(_RECORD_FAILURE, {"subject": subject})


def clear_failures(*subjects: str) -> None:
    """Delete the recorded failures of the subjects, in the caller's transaction."""
    db.session().execute(_CLEAR, {"subjects": sorted(subjects)})


def clear_account_failures(user_id: UUID, email: str) -> None:
    """Delete the failures of an account whose password was replaced without the old password."""
    clear_failures(get_address_subject(email), get_user_subject(user_id))


def purge(checkpoint: Checkpoint) -> None:
    """Delete the failures of subjects that last failed more than a day ago, in batches.

    `checkpoint` commits each batch.
    """
    condition = "last_failed_at < now() - interval '1 day'"
    purging.purge("login_failures", condition, checkpoint)
