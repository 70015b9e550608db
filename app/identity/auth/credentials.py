"""Password resets, password changes and email address changes."""

from typing import NamedTuple
from uuid import UUID

from app.identity.auth import attempts, links, password_policy, ports, service
from app.identity.auth.responses import LoginResponse
from app.identity.auth.service import Client
from app.identity.users import addresses, passwords
from app.identity.users import queries as user_queries
from app.identity.users import service as users
from app.identity.users.models import User
from app.kit import audit, db, errors, jobs, secrets, tenancy
from app.kit.errors import ApiError
from app.kit.jobs import Job, encrypted_args
from app.kit.principal import Caller

RESET_JOB = "auth.mail_reset"
CONFIRMATION_JOB = "auth.mail_confirmation"


class ConfirmedEmail(NamedTuple):
    """The confirmed email address of an account."""

    email: str
    email_verified: bool


def request_reset(email: str) -> dict[str, int]:
    """Enqueue a job that emails a reset link if the address has an account.

    Only the job looks up the account, so neither the response nor the response time reveals whether
    the account exists. Returns the link's lifetime in seconds.
    """
    with tenancy.across_organizations(reason="accounts belong to no organization"):
        jobs.enqueue(RESET_JOB, encrypted_args.encrypt({"email": email}), organization_id=None)
    return {"expires_in": int(links.LIFETIME.total_seconds())}


def send_reset_link(email: str) -> None:
    """Email a password reset link if the address has an account; called by a worker.

    The link is sent to the stored address, even if the request spells the address differently. No
    link is sent if the account is disabled, may not use a password, or must wait (see
    `links.must_wait`).
    """
    account = user_queries.find_by_email(email)
    user = user_queries.lock(account.id) if account is not None else None
    if (
        user is None
        or user.disabled_at is not None
        or links.must_wait(user.id, links.PASSWORD_RESET)
        or ports.single_sign_on.get().find_account_error(user) is not None
    ):
        return
    links.send_link(user, links.PASSWORD_RESET, user.email)


def confirm_reset(*, token: str, password: str, client: Client) -> LoginResponse:
    """Set a new password with an emailed token, and return the login response.

    The token proves that the user can read the account's email. Therefore, this function deletes
    the record of failed logins, ends all sessions, invalidates other links, emails a notice and
    marks the address as verified (see `mark_verified`). Raises 400 `validation_error` if the token
    is not valid or the new password is rejected, 403 `permission_denied` if the account may not use
    a password, and 503 under overload. The token stays valid if the password is rejected, because
    the transaction is rolled back.
    """
    user, _ = links.consume(token, links.PASSWORD_RESET)
    audit.set_actor("user", user.id, user.email)
    with secrets.hashing_slots.reserve():
        _replace_password(user, password, field="password")
    attempts.clear_account_failures(user.id, user.email)
    if user.email_verified_at is None:
        mark_verified(user)
    return service.open_session(user, client)


def change_password(
    caller: Caller, *, current_password: str, new_password: str, client: Client
) -> LoginResponse:
    """Change the caller's password, and return a login response with a new access token.

    Ends all earlier sessions, invalidates emailed links, and emails a notice. Raises the errors of
    `verify_password`, 400 `validation_error` on `new_password` if the new password is rejected, and
    503 under overload.
    """
    with secrets.hashing_slots.reserve():
        user = verify_password(caller, current_password)
        if current_password == new_password:
            message = "This is the current password. Choose a different one."
            raise errors.invalid(message, "new_password")
        _replace_password(user, new_password, field="new_password")
    return service.open_session(user, client)


def verify_password(caller: Caller, password: str) -> User:
    """Verify the caller's password, and return the caller's account with its row locked.

    Raises 401 if the password is wrong or the account has no password, 429 after repeated failures,
    409 if a concurrent request has changed the password, and 403 if the account is disabled or may
    not use a password.
    """
    subject = attempts.get_user_subject(caller.user_id)
    has_failures = attempts.check_wait(subject)
    user = errors.require_found(user_queries.get(caller.user_id))
    stored_hash = user.password_hash
    if (
        not secrets.verify_password(stored_hash or secrets.build_dummy_hash(), password)
        or stored_hash is None
    ):
        attempts.record_failure(subject)
        raise ApiError("invalid_credentials", "The password is wrong.")
    if has_failures:
        attempts.clear_failures(subject)
    locked_user = user_queries.lock(user.id)
    if locked_user is None or locked_user.password_hash != stored_hash:
        raise errors.conflict("The password was changed by another request. Try again.")
    if locked_user.disabled_at is not None:
        raise errors.denied("This account is disabled.")
    # If passwords are disabled for the account, even a correct password must not allow changes,
    # such as a change of the address for which passwords are disabled.
    password_policy.check(locked_user)
    return locked_user


def set_password(user: User, password: str) -> None:
    """Set a user's password without verifying the old password; used by the operator.

    The caller must have locked the user. Like every password change, this function ends all
    sessions, invalidates all links and emails a notice. Raises 400 `validation_error` if the
    password is rejected, and 403 `permission_denied` if the account may not use a password.
    """
    with secrets.hashing_slots.reserve():
        _replace_password(user, password, field="password")
    attempts.clear_account_failures(user.id, user.email)


def mark_verified(user: User) -> None:
    """Mark the account's address as verified, because the user has read an email sent to it.

    If the address was not verified before, also unlinks the account's identities: until then,
    somebody else may have owned the account, and may have linked an identity to it.
    """
    user_queries.lock(user.id)
    was_verified = user.email_verified_at is not None
    user_queries.update_account(user, email_verified_at=db.utc_now())
    if not was_verified:
        ports.single_sign_on.get().unlink_identities(user.id)


def remove_credentials(user: User) -> None:
    """Remove an account's password, sessions and links.

    Call this function before an account with an unverified address is trusted: somebody else may
    have created the account and may know the password.
    """
    user_queries.lock(user.id)
    user_queries.update_account(user, password_hash=None)
    service.end_all_sessions(user)
    links.invalidate_all(user.id)


def _replace_password(user: User, password: str, *, field: str) -> None:
    password_policy.check(user)
    passwords.check(password, email=user.email, name=user.name, field=field)
    user_queries.update_account(user, password_hash=secrets.hash_password(password))
    service.end_all_sessions(user)
    links.invalidate_all(user.id)
    links.send_notice(user, "password_changed", to=user.email)


def request_email_change(caller: Caller, *, email: str, password: str) -> dict[str, int]:
    """Enqueue a job that emails a confirmation link to a new or unverified address.

    The response is the same whether or not another account has the address. It contains the link's
    lifetime in seconds. Within 30 seconds of the previous link, the email is delayed, and a new
    request replaces the delayed email. Raises 400 `validation_error` if the address is invalid or
    is already the verified address, 503 under overload or while another request verifies the
    caller's password, and the errors of `verify_password`.
    """
    address = addresses.parse(email)
    # Unlike all other operations that verify a password, this one has no separate rate limit.
    with secrets.hashing_slots.reserve_for_user(caller.user_id):
        user = verify_password(caller, password)
    if address == user.email and user.email_verified_at is not None:
        raise errors.invalid("This is already your email address, and it is verified.", "email")
    _enqueue_confirmation(user, address)
    return {"expires_in": int(links.LIFETIME.total_seconds())}


def _enqueue_confirmation(user: User, email: str) -> None:
    """Enqueue the job that emails a confirmation link, replacing the user's queued job.

    The job does not run before `links.get_next_send_time`.
    """
    with tenancy.across_organizations(reason="accounts belong to no organization"):
        jobs.replace_queued(
            CONFIRMATION_JOB,
            encrypted_args.encrypt(
                {"user_id": str(user.id), "email": email, "version": str(user.token_version)}
            ),
            organization_id=None,
            unique_key=f"{CONFIRMATION_JOB}/{user.id}",
            due_at=links.get_next_send_time(user.id, links.EMAIL_CONFIRMATION),
        )


def send_email_confirmation(user_id: UUID, email: str, token_version: int) -> None:
    """Email the link that confirms a user's new or unverified address; called by a worker.

    If another account has the address, the link is created but not sent: the user must then wait
    before the next request as usual, so the wait does not reveal the other account. No link is
    created if the account is disabled, or if the user's token version is no longer `token_version`,
    because all links were then invalidated. If the user must still wait, the job is enqueued again.
    """
    user = user_queries.lock(user_id)
    if user is None or user.disabled_at is not None or user.token_version != token_version:
        return
    if links.must_wait(user.id, links.EMAIL_CONFIRMATION):
        _enqueue_confirmation(user, email)
        return
    address_owner = user_queries.find_by_email(email)
    if address_owner is None or address_owner.id == user.id:
        links.send_link(user, links.EMAIL_CONFIRMATION, email)
    else:
        links.issue(user, links.EMAIL_CONFIRMATION, email)


def confirm_email_change(token: str) -> ConfirmedEmail:
    """Set the account's verified address to the address that the token was sent to.

    Returns the address. If it differs from the old address, all sessions end, all emailed links
    become invalid, and a notice is sent to the old address. See also `mark_verified`. Raises 400
    `validation_error` on `token` if it is not valid, 409 `conflict` if another account now has the
    address, and 403 if the address changes but the account may no longer use a password.
    """
    user, email = links.consume(token, links.EMAIL_CONFIRMATION)
    audit.set_actor("user", user.id, user.email)
    if email != user.email:
        address_owner = user_queries.find_by_email(email)
        if address_owner is not None and address_owner.id != user.id:
            raise users.build_address_taken_error()
        password_policy.check(user)
        old_email, user.email = user.email, email
        db.session().flush()
        service.end_all_sessions(user)
        links.invalidate_all(user.id)
        links.send_notice(user, "email_changed", to=old_email)
        mark_verified(user)
    elif user.email_verified_at is None:
        mark_verified(user)
    return ConfirmedEmail(user.email, email_verified=True)


def read_encrypted_args(job: Job) -> dict[str, str]:
    """Decrypt a job's arguments, delete them from the job's row and return them.

    Runs in the job's transaction.
    """
    args = encrypted_args.decrypt(job.args)
    encrypted_args.delete(job.id)
    return args
