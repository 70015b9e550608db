"""Service that reports failed jobs to the operators."""

from app.identity.control_plane.service.changing import emails
from app.kit import container
from app.kit.emails import Email
from app.kit.jobs import failures

_LISTED = 20


def report_failures() -> int:
    """Email the operators the jobs that failed permanently, and return how many there are.

    The email is sent to each address of OPERATOR_EMAIL. Without an address, the operator has only
    the error in the log and the metric.
    """
    failed = failures.mark_reported()
    total = sum(group.number for group in failed)
    addresses = container.settings().operator_email
    if total and addresses:
        functions = ", ".join(f"{group.function} ({group.number})" for group in failed[:_LISTED])
        address = container.settings().public_url
        values: dict[str, str | int | None] = {
            "number": total,
            "functions": functions,
            "address": address,
        }
        emails.enqueue_many(
            [Email(name="given_up", to=to, locale="en", values=values) for to in addresses]
        )
    return total
