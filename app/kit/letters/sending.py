"""Queueing of emails in the transaction of their cause, and the job that sends them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import orjson
from sqlalchemy import text

from app.kit import container, db, jobs, tenancy
from app.kit.ids import uuid7
from app.kit.jobs import Job
from app.kit.jobs.queues import QUEUES
from app.kit.letters.layout import Rendered, Values, render
from app.kit.letters.wording import DEFAULT_LANGUAGE, Wording, WordingError, Wordings
from app.kit.logging import get_logger
from app.kit.mail import MailFailed, MailRefused

log = get_logger(__name__)

SEND = "letters.send"
ATTEMPTS = 30
"""With the back-off of jobs, this is about four and a half hours."""
_APP = Path(__file__).parents[2]

FOLDERS: dict[str, "Letters"] = {}
"""All folders of email templates by their path in the application, which jobs refer to."""

# Runs with the outcome, so that addresses and tokens are not kept longer than necessary.
_FORGET = text("UPDATE jobs SET args = args - 'sealed' WHERE id = :id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """An email to be queued; its members are the arguments of `Letters.post`."""

    name: str
    to: str
    locale: str
    values: Mapping[str, str | int | None]
    organization_id: UUID | None = None
    message_id: str | None = None


class Letters:
    """The emails of a feature: `Letters(Path(__file__).parent / "letters")`, created at import.

    `folder` is a folder of the application with `en.toml` and a file for each other language. Use
    the queue `bulk_mail` for emails that a user can cause in large numbers, so that emails that a
    person is waiting for are sent first.
    """

    def __init__(self, folder: Path, *, queue: str = "mail") -> None:
        assert queue in QUEUES, f"unknown queue {queue}"
        self.queue = queue
        self.name = folder.resolve().relative_to(_APP).as_posix()
        self.wordings = Wordings(folder)
        FOLDERS[self.name] = self

    def post(
        self,
        name: str,
        *,
        to: str,
        locale: str,
        values: Mapping[str, str | int | None],
        organization_id: UUID | None = None,
        message_id: str | None = None,
    ) -> None:
        """Queue the email `name` in the running transaction; a worker sends it.

        Args:
            name: the name of the template.
            to: the recipient's address.
            locale: the reader's locale; English is used if the template lacks the language.
            values: the values of all placeholders. `link` is a URL, a path that `app.kit.links`
                built, or None if there is no page to open. `token` is shown to users of the API.
            organization_id: the organization of the email; if the organization is erased first,
                the email is not sent.
            message_id: the message id, for emails that have an id of their own.

        Raises:
            WordingError: the template does not exist, or a value is missing (a programming error).
        """
        letter = Letter(
            name=name,
            to=to,
            locale=locale,
            values=values,
            organization_id=organization_id,
            message_id=message_id,
        )
        self.post_many([letter])

    def post_many(self, letters: Sequence[Letter]) -> None:
        """Queue all `letters` in a single statement (see `post`)."""
        work = [(letter.organization_id, self._args(letter)) for letter in letters]
        with tenancy.across_organizations(reason="an email may belong to no organization"):
            jobs.enqueue_many(SEND, work, queue=self.queue)

    def _args(self, letter: Letter) -> dict[str, str]:
        self._check(letter.name, letter.values)
        sealed = {"to": letter.to, "locale": letter.locale, "values": dict(letter.values)}
        return {
            "folder": self.name,
            "name": letter.name,
            "message_id": letter.message_id or f"letter-{uuid7()}",
            "sealed": container.keyring().encrypt(orjson.dumps(sealed)),
        }

    def _check(self, name: str, values: Values) -> Wording:
        wording = self.wordings.find(name, DEFAULT_LANGUAGE)
        missing = wording.names - set(values)
        if missing:
            raise WordingError(f"{name} requires values for {', '.join(sorted(missing))}")
        return wording

    def render(self, name: str, locale: str, values: Values) -> Rendered:
        """Return the rendered email for a reader of `locale`. Raises WordingError like `post`."""
        self._check(name, values)
        settings = container.settings()
        return render(
            self.wordings.find(name, locale),
            values,
            public_url=settings.public_url,
            pages_url=settings.pages_url,
            service=settings.service_name,
        )

    def send(
        self, name: str, *, to: str, locale: str, values: Values, message_id: str | None = None
    ) -> None:
        """Send an email now, without queueing it. Raises MailRefused and MailFailed."""
        letter = self.render(name, locale, values)
        container.current().mailer.send(
            to,
            letter.subject,
            letter.text,
            letter.html,
            message_id=message_id,
            language=letter.language,
        )


def _give_up(job: Job, _error: str) -> None:
    log.error("letter.given_up", letter=_letter_of(job), attempts=job.attempt)
    db.session().execute(_FORGET, {"id": job.id})


def _letter_of(job: Job) -> str:
    return f"{job.args['folder']}/{job.args['name']}"


@jobs.handler(SEND, queue="mail", max_attempts=ATTEMPTS, on_failure=_give_up, retryable=False)
def send(job: Job) -> None:
    """Send a queued email; a repeated run, after a crash, sends the same message id again."""
    letter = orjson.loads(container.keyring().decrypt(job.args["sealed"]))
    job.checkpoint()
    try:
        FOLDERS[job.args["folder"]].send(
            job.args["name"], **letter, message_id=job.args["message_id"]
        )
    except MailRefused as refusal:
        log.warning("letter.refused", letter=_letter_of(job), reason=str(refusal))
    except MailFailed as failure:
        if not failure.permanent:
            log.warning("letter.delayed", letter=_letter_of(job), reason=str(failure))
            raise jobs.Retry(str(failure)) from failure
        log.warning("letter.refused", letter=_letter_of(job), reason=str(failure))
    db.session().execute(_FORGET, {"id": job.id})
