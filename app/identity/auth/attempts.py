"""Delays after failed logins: each further failure in a row doubles the wait.

Failures are counted per account, in addition to the rate limit per client address. Addresses
without an account are counted in the same way. The counts are in the database, so they survive the
loss of Redis. A failure is committed at once, because the failed request is rolled back.

Nobody is locked out permanently: the wait has a maximum, a password reset by email ends it, and a
client that sends a token of the account, expired or not, has a count of its own.
"""

from collections.abc import Callable
from uuid import UUID

from sqlalchemy import text

from app.identity.users import addresses
from app.kit import container, db, purging
from app.kit.errors import ApiError

DELAY_AFTER = 5
"""Number of failures in a row before the first wait."""
FIRST_WAIT = 30
LONGEST_WAIT = 15 * 60
"""In seconds. Each failure doubles the wait, from `FIRST_WAIT` up to `LONGEST_WAIT`."""

_READ = text(
    "SELECT failures, ceil(extract(epoch FROM blocked_until - now()))::int AS wait"
    " FROM login_failures WHERE subject = :subject"
)
_COUNT = text(
    f"""
    INSERT INTO login_failures AS f (subject, failures, last_failed_at, blocked_until)
    VALUES (:subject, 1, now(), now())
    ON CONFLICT (subject) DO UPDATE SET
        last_failed_at = now(),
        failures = CASE WHEN f.last_failed_at < now() - interval '1 day' THEN 1
                        ELSE least(f.failures + 1, 1000) END,
        blocked_until = now() + make_interval(secs =>
            CASE WHEN f.last_failed_at < now() - interval '1 day' THEN 0
                 WHEN f.failures + 1 < {DELAY_AFTER} THEN 0
                 ELSE least({LONGEST_WAIT},
                            {FIRST_WAIT} * 2 ^ least(f.failures + 1 - {DELAY_AFTER}, 20))
            END)
    """  # noqa: S608 - numbers of this module
)
_CLEAR = text("DELETE FROM login_failures WHERE subject = :subject")


def get_address_subject(email: str, session_id: UUID | None = None) -> str:
    """Return the subject under which login failures of an address are counted.

    A client that has proven a session of the account has a subject of its own.
    """
    identity = f"{addresses.get_mailbox_key(email)}\n{session_id or ''}"
    return container.keyring().fingerprint("login", identity)


def get_user_subject(user_id: UUID) -> str:
    """Return the subject for the password checks of a user who is already signed in."""
    return container.keyring().fingerprint("login", f"user\n{user_id}")


def check(subject: str) -> bool:
    """Return true if there are failures to clear. Raises 429 `rate_limited` during a wait."""
    row = db.session().execute(_READ, {"subject": subject}).first()
    if row is None:
        return False
    if row.wait > 0:
        raise ApiError(
            "rate_limited",
            f"Too many failed attempts. Try again in {row.wait} seconds.",
            details={"retry_after": row.wait},
            headers={"Retry-After": str(row.wait)},
        )
    return True


def count(subject: str) -> None:
    """Count a failure, and commit it at once, although the request is rolled back."""
    with db.open_autocommit() as connection:
        connection.execute(_COUNT, {"subject": subject})


def clear(subject: str) -> None:
    """Delete the failures of a subject in the running transaction."""
    db.session().execute(_CLEAR, {"subject": subject})


def purge(checkpoint: Callable[[], None]) -> None:
    """Delete the failures that are more than a day old, one batch per transaction."""
    condition = "last_failed_at < now() - interval '1 day'"
    purging.purge("login_failures", condition, checkpoint)
