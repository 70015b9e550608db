"""Jobs that issue the invoices of a closed period and render their files."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError

from app.billing.invoices import emitted_events
from app.billing.invoices.service import documents, issuing
from app.billing.periods.service import ISSUE_MONTH
from app.billing.profiles.emitted_events import CHANGED
from app.billing.seller.configuration import BillingFileError
from app.kit import db, db_errors, jobs, tenancy
from app.kit.jobs import Job, Retry
from app.kit.logging import get_logger

log = get_logger(__name__)
MAX_ATTEMPTS = 20
_NIL_ID = UUID(int=0)
_BATCH_ERRORS = (LookupError, ValueError, ArithmeticError, AssertionError, SQLAlchemyError)
"""Errors that the data of one organization can cause."""


@jobs.handler(ISSUE_MONTH, queue="invoices", max_attempts=MAX_ATTEMPTS)
def issue_month(job: Job) -> None:
    """Issue the invoices of a closed month for a batch of organizations; enqueue the next batch.

    If the batch fails, for example because a statement times out, a separate job is enqueued for
    each of its organizations, so that one organization does not block the others. If only some
    invoices cannot be rendered, a separate job is enqueued for each of their organizations. If the
    billing file cannot be used or the database is not available, the job is retried instead.
    """
    start, end = _get_period(job)
    organization_ids = issuing.list_billed_organization_ids(
        end, after=UUID(job.args.get("after", str(_NIL_ID)))
    )
    if not organization_ids:
        return
    with tenancy.across_organizations(reason="the jobs belong to no organization"):
        _issue_batch(organization_ids, start, end, {"from": job.args["from"], "to": job.args["to"]})


def _issue_batch(
    organization_ids: list[UUID], start: datetime, end: datetime, period: dict[str, str]
) -> None:
    try:
        invoices = issuing.issue_many(organization_ids, start, end)
        unissued_organization_ids = list(documents.find_problems(invoices))
    except BillingFileError as error:
        raise Retry(f"BILLING_FILE {error}") from None
    except _BATCH_ERRORS as error:
        if db_errors.is_outage(error):
            raise
        # The job runner treats a statement timeout as a platform fault: without this clause, the
        # runner would retry the batch forever and never enqueue the next batch.
        log.exception("invoices.batch_failed", period=period["from"])
        db.session().rollback()
        unissued_organization_ids = organization_ids
    # If an invoice cannot be issued, the organization's job fails, so that operators see the error.
    jobs.enqueue_many("invoices.issue", [(id_, period) for id_ in unissued_organization_ids])
    jobs.enqueue(ISSUE_MONTH, {**period, "after": str(organization_ids[-1])}, organization_id=None)


@jobs.handler("invoices.issue", queue="invoices", max_attempts=MAX_ATTEMPTS)
def issue_invoices(job: Job) -> None:
    """Issue the invoices of a single organization for a closed period."""
    assert job.organization_id is not None
    try:
        invoices = issuing.issue_period(job.organization_id, *_get_period(job))
    except BillingFileError as error:
        raise Retry(f"BILLING_FILE {error}") from None
    _retry_if_failed(job, list(documents.find_problems(invoices).values()))


@jobs.handler("invoices.issue_drafts", queue="invoices", events=(CHANGED,))
def issue_drafts(job: Job) -> None:
    """Issue the draft invoices of an organization after its billing profile was set."""
    assert job.organization_id is not None
    try:
        invoices = issuing.issue_drafts(job.organization_id)
    except BillingFileError as error:
        raise Retry(f"BILLING_FILE {error}") from None
    _retry_if_failed(job, list(documents.find_problems(invoices).values()))


@jobs.handler(
    "invoices.render",
    queue="invoice_files",
    events=(emitted_events.ISSUED,),
    max_attempts=MAX_ATTEMPTS,
)
def render_files(job: Job) -> None:
    """Render and store the missing files of the issued invoices of an organization."""
    _retry_if_failed(job, documents.render_missing_files(job))


def _retry_if_failed(job: Job, problems: Sequence[str]) -> None:
    """Commit the work so far and raise Retry if there are problems; otherwise, do nothing.

    The job stores the problems, so that operators see them.
    """
    if problems:
        job.checkpoint()
        raise Retry("; ".join(problems))


def _get_period(job: Job) -> tuple[datetime, datetime]:
    return datetime.fromisoformat(job.args["from"]), datetime.fromisoformat(job.args["to"])
