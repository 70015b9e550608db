"""Job that reports failed jobs to the operators."""

from app.identity.control_plane.service import emails
from app.kit import container, jobs, tenancy
from app.kit.emails import Email
from app.kit.jobs import Job, failures

_MAX_LISTED_FUNCTIONS = 20


def report_failures() -> int:
    """Email the operators a list of permanently failed jobs, and return the number of these jobs.

    The email is sent to each address in OPERATOR_EMAIL. If there is no address, failures appear
    only in the log and in the metric.
    """
    failed = failures.mark_reported()
    total = sum(group.number for group in failed)
    addresses = container.settings().operator_email
    if total and addresses:
        functions = ", ".join(
            f"{group.function} ({group.number})" for group in failed[:_MAX_LISTED_FUNCTIONS]
        )
        public_url = container.settings().public_url
        values: dict[str, str | int | None] = {
            "number": total,
            "functions": functions,
            "address": public_url,
        }
        emails.enqueue_many(
            [Email(name="given_up", to=to, locale="en", values=values) for to in addresses]
        )
    return total


@jobs.handler("control_plane.report_failures")
def run_report(_job: Job) -> None:
    """Report the jobs that failed permanently since the last report."""
    with tenancy.across_organizations(reason="the report covers the jobs of every organization"):
        report_failures()


jobs.periodic("control_plane.report_failures", every=300)
