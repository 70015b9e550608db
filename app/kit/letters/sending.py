"""Queueing letters with what causes them, and the worker's job that sends them."""

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
"""With the jobs' back-off this is about four and a half hours of trying."""
_APP = Path(__file__).parents[2]

FOLDERS: dict[str, "Letters"] = {}
"""Every folder of letters by its path inside the application: how a job names one."""

# With the outcome, so that addresses and tokens last no longer than they are needed.
_FORGET = text("UPDATE jobs SET args = args - 'sealed' WHERE id = :id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """One letter to be posted; its members are those of `Letters.post`."""

    name: str
    to: str
    locale: str
    values: Mapping[str, str | int | None]
    organization_id: UUID | None = None
    message_id: str | None = None


class Letters:
    """A feature's letters: `Letters(Path(__file__).parent / "letters")`, made at import.

    :param folder: inside the application; it has `en.toml` and a file for each other language.
    :param queue: `bulk_mail` for emails that somebody can cause in large numbers: those that a
        person waits for go before them.
    """

    def __init__(self, folder: Path, *, queue: str = "mail") -> None:
        assert queue in QUEUES, f"no worker for the queue {queue}"
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
        """Queue the letter `name` in the running transaction; a worker sends it.

        :param locale: of the reader; a language without the letter falls back to English.
        :param values: all that the letter shows. `link` is an address, or a path that
            `app.kit.links` built, None where there is nothing to open; a `token` is shown for
            those who use the API.
        :param organization_id: whose letter it is: it is gone, unsent, once they are erased.
        :param message_id: of the mail, for a letter that is known by an id of its own.
        :raises WordingError: no such letter, or a value is missing; a mistake of the caller's.
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
        """`post` for each of `letters`, in one statement whatever their number."""
        work = [(letter.organization_id, self._args(letter)) for letter in letters]
        with tenancy.across_organizations(reason="a letter to a person may be no organization's"):
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
            raise WordingError(f"{name} needs values for {', '.join(sorted(missing))}")
        return wording

    def render(self, name: str, locale: str, values: Values) -> Rendered:
        """The letter as `locale` reads it. Raises WordingError like `post`."""
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
        """Send at once, outside any transaction. Raises MailRefused and MailFailed."""
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
    """Send a letter. A second run, after a worker that died, sends the same message id again."""
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
