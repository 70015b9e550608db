"""Failed log-ins slow down: the more of them in a row, the longer the next one has to wait.

Counted by whose password was meant, beside the limit by client address, and for addresses that
nobody here has just as for others. Kept in the database: emptying Redis forgets none. A failure is
written at once, for the request that failed is rolled back.

Nobody is locked out for good: the wait has an end; a reset by mail clears it; and who still holds a
token of the account, expired or not, is counted apart from the rest of the world.
"""

from collections.abc import Callable
from uuid import UUID

from sqlalchemy import text

from app.identity.users import addresses
from app.kit import container, db, purging
from app.kit.errors import ApiError

FREE = 5
"""Failures in a row before the first wait."""
FIRST_WAIT = 30
LONGEST_WAIT = 15 * 60
"""Seconds. Each failure doubles the wait, from the first to the longest."""

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
            CASE WHEN f.last_failed_at < now() - interval '1 day' OR f.failures + 1 < {FREE} THEN 0
                 ELSE least({LONGEST_WAIT}, {FIRST_WAIT} * 2 ^ least(f.failures + 1 - {FREE}, 20))
            END)
    """  # noqa: S608 - numbers of this module
)
_CLEAR = text("DELETE FROM login_failures WHERE subject = :subject")


def of_address(email: str, session_id: UUID | None = None) -> str:
    """The subject of logging in with an address; apart for who proved a session of the account."""
    who = f"{addresses.canonical(email)}\n{session_id or ''}"
    return container.keyring().fingerprint("login", who)


def of_user(user_id: UUID) -> str:
    """The subject of asking a signed-in user for the password once more."""
    return container.keyring().fingerprint("login", f"user\n{user_id}")


def check(subject: str) -> bool:
    """Whether there are failures to clear. Raises 429 `rate_limited` while the next has to wait."""
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
    """Note a failure; it stands although the request is refused."""
    with db.open_autocommit() as connection:
        connection.execute(_COUNT, {"subject": subject})


def clear(subject: str) -> None:
    """Forget the failures, with the running transaction."""
    db.session().execute(_CLEAR, {"subject": subject})


def purge(checkpoint: Callable[[], None]) -> None:
    """Delete the failures of more than a day ago, a batch in a transaction."""
    condition = "last_failed_at < now() - interval '1 day'"
    purging.purge("login_failures", condition, checkpoint)
