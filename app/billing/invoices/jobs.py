"""Jobs of invoices: issue those of a closed period, and render their files."""

from datetime import datetime
from uuid import UUID

from app.billing.invoices import emitted_events
from app.billing.invoices.service import documents, issuing
from app.billing.periods.service import CLOSED
from app.billing.profiles.emitted_events import CHANGED
from app.billing.seller.configuration import BillingFileError
from app.kit import jobs
from app.kit.jobs import Job, Retry

MAX_ATTEMPTS = 20


@jobs.handler("invoices.issue", queue="invoices", listens=(CLOSED,), max_attempts=MAX_ATTEMPTS)
def issue_invoices(job: Job) -> None:
    """Issue the invoices of an organization for a closed period."""
    data = job.args["data"]
    start, end = datetime.fromisoformat(data["from"]), datetime.fromisoformat(data["to"])
    assert job.organization_id is not None
    try:
        issuing.issue_period(job.organization_id, start, end)
    except BillingFileError as error:
        raise Retry(f"BILLING_FILE {error}") from None


@jobs.handler("invoices.issue_drafts", queue="invoices", listens=(CHANGED,))
def issue_drafts(job: Job) -> None:
    """Issue the drafts of an organization whose billing profile was set."""
    assert job.organization_id is not None
    try:
        issuing.issue_drafts(job.organization_id)
    except BillingFileError as error:
        raise Retry(f"BILLING_FILE {error}") from None


@jobs.handler(
    "invoices.render",
    queue="invoice_files",
    listens=(emitted_events.ISSUED,),
    max_attempts=MAX_ATTEMPTS,
)
def render_files(job: Job) -> None:
    """Render and store the files of an issued invoice."""
    documents.render(job, UUID(job.args["data"]["invoice_id"]))
