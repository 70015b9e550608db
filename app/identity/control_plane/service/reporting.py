"""Service that reports failed jobs to the operators."""

from app.identity.control_plane.service.deciding import letters
from app.kit import container
from app.kit.jobs import failures
from app.kit.letters import Letter

_LISTED = 20


def report_failures() -> int:
    """Email the operators the jobs that failed permanently, and return how many there are.

    The email is sent to each address of OPERATOR_EMAIL. Without an address, the operator has only
    the error in the log and the metric.
    """
    given_up = failures.take_unreported()
    total = sum(one.number for one in given_up)
    addresses = container.settings().operator_email
    if total and addresses:
        named = ", ".join(f"{one.function} ({one.number})" for one in given_up[:_LISTED])
        address = container.settings().public_url
        values: dict[str, str | int | None] = {
            "number": total,
            "functions": named,
            "address": address,
        }
        letters.post_many(
            [Letter(name="given_up", to=to, locale="en", values=values) for to in addresses]
        )
    return total
