"""The job that, every 5 minutes, reports permanently failed jobs to the operators by email."""

from app.identity.control_plane.service import emails
from app.kit import container, jobs, tenancy
from app.kit.emails import Email
from app.kit.jobs import Job, failures

_MAX_LISTED_FUNCTIONS = 20


def report_failures() -> int:
    """Mark newly failed jobs as reported, email the operators, and return the number of these jobs.

    The email lists how many jobs of each function failed permanently, for the functions with the
    most failures. It is sent to each address in OPERATOR_EMAIL. If there is no address, failures
    appear only in the log and the metrics.
    """
    failure_counts = failures.mark_reported()
    total = sum(count.job_count for count in failure_counts)
    operator_emails = container.settings().operator_email
    if total and operator_emails:
        functions = ", ".join(
            f"{count.function} ({count.job_count})"
            for count in failure_counts[:_MAX_LISTED_FUNCTIONS]
        )
        public_url = container.settings().public_url
        values: dict[str, str | int | None] = {
            "number": total,
            "functions": functions,
            "address": public_url,
        }
        emails.enqueue_many(
            [Email(name="given_up", to=to, locale="en", values=values) for to in operator_emails]
        )
    return total


@jobs.handler("control_plane.report_failures", every=300)
def report_failed_jobs(_job: Job) -> None:
    """Report the jobs that failed permanently since the last report."""
    with tenancy.across_organizations(reason="the report covers the jobs of every organization"):
        report_failures()
