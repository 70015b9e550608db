"""`flask mail`: the command that sends a test email."""

import secrets
from pathlib import Path

import click
from flask.cli import AppGroup

from app.commands.running import run_operation
from app.kit import container
from app.kit.emails import Emails
from app.kit.locales import check_locale
from app.kit.mail import MailFailed, MailRefused, parse_envelope_address

group = AppGroup("mail", help="Send a test email.")
emails = Emails(Path(__file__).parent / "emails")


@group.command("test")
@click.argument("address")
@click.option("--locale", default="en", show_default=True, help="Language of the email.")
@click.option("--queue", is_flag=True, help="Queue the email for a worker, like all other emails.")
def send_test_email(address: str, locale: str, *, queue: bool) -> None:
    """Send a test email to ADDRESS and print the result."""
    settings = container.settings()
    values = {"address": settings.public_url}
    message_id = f"test-{secrets.token_hex(16)}"
    try:
        parse_envelope_address(address)
        if queue:
            with run_operation("test_mail"):
                check_locale(locale, "locale")
                emails.enqueue(
                    "test", to=address, locale=locale, values=values, message_id=message_id
                )
            click.echo(f"Queued as {message_id}. A worker will send it.")
            return
        emails.send("test", to=address, locale=locale, values=values, message_id=message_id)
    except (MailRefused, MailFailed) as failure:
        raise click.ClickException(f"The email was not sent: {failure}.") from failure
    if settings.smtp_url:
        click.echo(f"The mail server accepted the email: {message_id}.")
    else:
        path = settings.data_dir / "mail" / f"{message_id}.eml"
        click.echo(f"SMTP_URL is not set. The email was written to {path}")
