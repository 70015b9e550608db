"""`flask sso`: the command that verifies a domain for single sign-on."""

import click
from flask.cli import AppGroup

from app.commands.running import (
    EXIT_FINDINGS,
    as_json,
    bind_organization,
    override_not_found_message,
    run_operation,
    show_record,
)
from app.identity.sso import service

group = AppGroup("sso", help="Verify domains for single sign-on.")


@group.command("verify-domain")
@click.argument("slug")
@click.argument("domain")
@click.option("--vouch", is_flag=True, help="Skip the DNS lookup and mark the domain as verified.")
@as_json
def verify_domain(slug: str, domain: str, *, vouch: bool, as_json: bool) -> None:
    """Verify with a DNS lookup that the organization SLUG owns DOMAIN.

    The exit status is 3 if the domain is not verified.
    """
    message_override = override_not_found_message("The organization has no such domain.")
    with run_operation("verify_sso_domain"), bind_organization(slug), message_override:
        is_verified = service.verify_domain(domain, vouch=vouch)
    show_record({"domain": domain, "proven": is_verified}, as_json=as_json)
    if not is_verified:
        raise click.exceptions.Exit(EXIT_FINDINGS)
