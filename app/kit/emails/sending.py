"""The class that queues emails in the caller's transaction, and the job that sends them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from app.kit import container, jobs, tenancy
from app.kit.emails.layout import RenderedEmail, Values, render
from app.kit.emails.templates import DEFAULT_LANGUAGE, TemplateError, TextTemplates
from app.kit.ids import uuid7
from app.kit.jobs import Job, encrypted_args
from app.kit.jobs.queues import QUEUES
from app.kit.logging import get_logger
from app.kit.mail import MailFailed, MailRefused

log = get_logger(__name__)

# Queued jobs contain this name. Workers of the previous release also run new jobs.
SEND_FUNCTION = "letters.send"
MAX_ATTEMPTS = 30
"""The maximum number of attempts to send an email. All of them together take four hours."""
_APP_FOLDER = Path(__file__).parents[2]

EMAILS_BY_NAME: dict[str, "Emails"] = {}
"""The email templates of all features, by the `stored_name` of their folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Email:
    """An email to be queued. `Emails.enqueue` documents the attributes.

    `recipient` is the argument for `find_address` of the `Emails` object. If it is None, the email
    is sent to the address `to` without another check.
    """

    name: str
    to: str
    locale: str
    values: Mapping[str, str | int | None]
    organization_id: UUID | None = None
    message_id: str | None = None
    recipient: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CancelledEmail:
    """The recipient of a cancelled email, and the remaining seconds until its sending time."""

    recipient: Mapping[str, Any]
    delay: float


FindAddress = Callable[[Mapping[str, Any]], str | None]
"""A function that returns the current address of a recipient, or None to cancel the email."""


class Emails:
    """The email templates of a feature in a folder, such as `Path(__file__).parent / "emails"`.

    Create the object at import time. `folder` is a folder in the application with `en.toml` and a
    file for each other language. Use the queue `bulk_mail` for emails that a user can trigger in
    large numbers. They then cannot delay emails that a person is waiting for.

    `find_address` is called before an email with a `recipient` is sent, because hours may have
    passed since it was queued.
    """

    def __init__(
        self, folder: Path, *, queue: str = "mail", find_address: FindAddress | None = None
    ) -> None:
        assert queue in QUEUES, f"unknown queue {queue}"
        self.queue = queue
        self.find_address = find_address
        # Queued jobs contain this name, and workers of the previous release also look it up. In
        # that release, each folder was called `letters`.
        self.stored_name = folder.resolve().relative_to(_APP_FOLDER).with_name("letters").as_posix()
        self.templates = TextTemplates(folder)
        assert self.stored_name not in EMAILS_BY_NAME, f"duplicate emails in {self.stored_name}"
        EMAILS_BY_NAME[self.stored_name] = self

    def enqueue(
        self,
        name: str,
        *,
        to: str,
        locale: str,
        values: Mapping[str, str | int | None],
        organization_id: UUID | None = None,
        message_id: str | None = None,
    ) -> None:
        """Queue an email in the running transaction. A worker sends it later.

        Args:
            name: the name of the template.
            to: the recipient's address.
            locale: the reader's locale; English is used if there is no template in its
                language.
            values: the values of all placeholders. `link` is a URL, a path from `app.kit.links`, or
                None if there is no page to open. `token` is shown to API users. `unsubscribe` is
                the URL for the headers of RFC 8058.
            organization_id: the organization that the email belongs to. If the organization is
                erased first, the email is not sent.
            message_id: the message id; by default, a new one is generated.

        Raises:
            TemplateError: the template does not exist, or a value is missing (a programming error).
        """
        email = Email(
            name=name,
            to=to,
            locale=locale,
            values=values,
            organization_id=organization_id,
            message_id=message_id,
        )
        self.enqueue_many([email])

    def enqueue_many(self, emails: Sequence[Email]) -> None:
        """Queue several emails in a single statement (see `enqueue`)."""
        work = [(email.organization_id, self._build_args(email)) for email in emails]
        with _across_organizations():
            jobs.enqueue_many(SEND_FUNCTION, work, queue=self.queue)

    def enqueue_delayed(self, email: Email, *, delay: float, unique_key: str | None) -> None:
        """Queue an email that is sent in `delay` seconds (see `enqueue`).

        `cancel_queued` finds the email by `unique_key`, unless the key is None or belongs to an
        earlier email that has not been sent.
        """
        args = self._build_args(email)
        options: dict[str, Any] = {
            "organization_id": email.organization_id,
            "queue": self.queue,
            "delay": delay,
        }
        with _across_organizations():
            if not jobs.enqueue(SEND_FUNCTION, args, unique_key=unique_key, **options):
                # The email that has this key is being sent, so it can no longer be cancelled.
                jobs.enqueue(SEND_FUNCTION, args, **options)

    @staticmethod
    def cancel_queued(unique_key: str) -> CancelledEmail | None:
        """Cancel the email that was queued with this key, and return its recipient and delay.

        Runs in the caller's transaction. Returns None if there is no such email, or if a worker is
        sending it.
        """
        with _across_organizations():
            job = jobs.cancel_queued(unique_key)
        if job is None:
            return None
        email = encrypted_args.decrypt(job.args)
        return CancelledEmail(email["recipient"], job.delay)

    def _build_args(self, email: Email) -> dict[str, str]:
        self._check_values(email.name, email.values)
        secret_values = {
            "to": email.to,
            "locale": email.locale,
            "values": dict(email.values),
            "recipient": email.recipient,
        }
        return {
            "folder": self.stored_name,
            "name": email.name,
            "message_id": email.message_id or f"email-{uuid7()}",
            **encrypted_args.encrypt(secret_values),
        }

    def _check_values(self, name: str, values: Values) -> None:
        template = self.templates.find(name, DEFAULT_LANGUAGE)
        missing_names = template.value_names - set(values)
        if missing_names:
            raise TemplateError(f"{name} requires values for {', '.join(sorted(missing_names))}")

    def render(self, name: str, locale: str, values: Values) -> RenderedEmail:
        """Render the template `name` for a reader with this locale.

        Raises TemplateError if the template does not exist or a value is missing.
        """
        self._check_values(name, values)
        settings = container.settings()
        return render(
            self.templates.find(name, locale),
            values,
            public_url=settings.public_url,
            pages_url=settings.pages_url,
            service=settings.service_name,
        )

    def send(
        self, name: str, *, to: str, locale: str, values: Values, message_id: str | None = None
    ) -> None:
        """Send an email immediately, without queueing it.

        Raises TemplateError if the template does not exist or a value is missing, and the errors of
        `Mailer.send`.
        """
        email = self.render(name, locale, values)
        unsubscribe = values.get("unsubscribe")
        container.current().mailer.send(
            to,
            email.subject,
            email.text,
            email.html,
            message_id=message_id,
            language=email.language,
            unsubscribe_url=None if unsubscribe is None else str(unsubscribe),
        )


def _across_organizations() -> AbstractContextManager[None]:
    return tenancy.across_organizations(reason="an email may belong to no organization")


def _handle_failure(job: Job, _error: str) -> None:
    log.error("email.given_up", email=_get_email_name(job), attempts=job.attempt)
    encrypted_args.delete(job.id)


def _get_email_name(job: Job) -> str:
    return f"{job.args['folder']}/{job.args['name']}"


@jobs.handler(
    SEND_FUNCTION,
    queue="mail",
    max_attempts=MAX_ATTEMPTS,
    on_failure=_handle_failure,
    retryable=False,
)
def send(job: Job) -> None:
    """Send a queued email, or drop it if its recipient must no longer get it.

    A permanent refusal is only logged. A temporary failure raises Retry; otherwise, the encrypted
    values of the job are deleted. If the job runs again, it uses the same message id.
    """
    email = encrypted_args.decrypt(job.args)
    emails = EMAILS_BY_NAME[job.args["folder"]]
    recipient = email.pop("recipient")
    if recipient is not None and emails.find_address is not None:
        email["to"] = emails.find_address(recipient)
    if email["to"] is None:
        log.info("email.dropped", email=_get_email_name(job))
        encrypted_args.delete(job.id)
        return
    job.checkpoint()
    try:
        emails.send(job.args["name"], **email, message_id=job.args["message_id"])
    except MailRefused as refusal:
        log.warning("email.refused", email=_get_email_name(job), reason=str(refusal))
    except MailFailed as failure:
        if not failure.permanent:
            log.warning("email.delayed", email=_get_email_name(job), reason=str(failure))
            raise jobs.Retry(str(failure)) from failure
        log.warning("email.refused", email=_get_email_name(job), reason=str(failure))
    encrypted_args.delete(job.id)
