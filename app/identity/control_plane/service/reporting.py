"""Telling the operators what needs them."""

from app.identity.control_plane.service.deciding import letters
from app.kit import container
from app.kit.emails import Email
from app.kit.jobs import failures

_LISTED = 20


def report_failures() -> int:
    """Email each address of OPERATOR_EMAIL what was given up; return how many jobs that were.

    Without an address, the error in the log and the metric have to do.
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
        letters.enqueue_many(
            [Email(name="given_up", to=to, locale="en", values=values) for to in addresses]
        )
    return total
