"""`flask webhooks`: commands that replay missed deliveries and receive deliveries for testing."""

import time
from datetime import datetime
from typing import Any
from uuid import UUID

import click
from flask.cli import AppGroup

from app.commands.running import (
    EXIT_FINDINGS,
    as_json,
    bind_organization,
    load_body,
    run_operation,
    show_progress,
    show_record,
)
from app.commands.webhook_receiver import Receiver, run_receiver
from app.delivery.webhooks import service
from app.delivery.webhooks.models import Webhook
from app.delivery.webhooks.schemas import ReplayDeliveries
from app.kit import db, errors, tenancy
from app.kit.errors import ApiError

group = AppGroup("webhooks", help="Replay deliveries, and receive them for testing.")

_POLL_INTERVAL_SECONDS = 0.5
_SECRET_LENGTH = 64
_ANY_PORT = 0
_MAX_PORT = 65_535


@group.command("replay")
@click.argument("webhook_id", type=click.UUID)
@click.option("--org", "slug", required=True, help="Slug of the organization.")
@click.option(
    "--from", "start", help="Only deliveries created at this time or later. Default: no limit."
)
@click.option("--to", "end", help="Only deliveries created before this time. Default: now.")
@click.option(
    "--event", "events", multiple=True, help="Only deliveries of this event; may be repeated."
)
@click.option(
    "--status",
    "statuses",
    multiple=True,
    help="Only deliveries with this status; may be repeated. Default: abandoned and failed.",
)
@click.option("--activate", is_flag=True, help="Activate the webhook if it is deactivated.")
@click.option("--no-wait", is_flag=True, help="Do not wait for the end of the replay.")
@as_json
def replay(
    webhook_id: UUID,
    slug: str,
    start: str | None,
    end: str | None,
    events: tuple[str, ...],
    statuses: tuple[str, ...],
    *,
    activate: bool,
    no_wait: bool,
    as_json: bool,
) -> None:
    """Resend the deliveries that a webhook has missed.

    Times have the form 2026-01-31T09:30:00Z. The service's workers send the deliveries. If the
    command is interrupted, the replay continues.
    """
    body = {
        "from": start,
        "to": end,
        "events": list(events) or None,
        "statuses": list(statuses) or None,
    }
    with run_operation("activate_webhook"), bind_organization(slug) as organization_id:
        request = load_body(ReplayDeliveries, body)
        if not _get_webhook(webhook_id).active and not activate:
            message = "The webhook is deactivated. Use --activate to activate it."
            raise errors.conflict(message, state="deactivated")
        details = service.activate(webhook_id, revision=None, replay=request)
    with tenancy.organization(organization_id):
        record = (
            details["replay"]
            if no_wait
            else _wait_for_replay(webhook_id, details["replay"]["requested_at"])
        )
    show_record({"webhook_id": webhook_id, **_build_replay_record(record)}, as_json=as_json)
    if record["stop_reason"] is not None:
        raise click.exceptions.Exit(EXIT_FINDINGS)


def _get_webhook(webhook_id: UUID) -> Webhook:
    try:
        return service.get(webhook_id)
    except ApiError as error:
        raise errors.invalid("The organization has no such webhook.", "WEBHOOK_ID") from error


def _wait_for_replay(webhook_id: UUID, requested_at: datetime) -> dict[str, Any]:
    """Wait until the replay ends or a newer replay replaces it, and return the latest replay."""
    with show_progress("Replaying") as report_progress:
        while True:
            db.session().rollback()
            db.session().expire_all()
            replay: dict[str, Any] = service.get_details(webhook_id)["replay"]
            progress = replay["progress"]
            report_progress(progress["done"], progress["total"] or progress["done"] + 1)
            has_ended = replay["finished_at"] is not None or replay["stop_reason"] is not None
            if has_ended or replay["requested_at"] != requested_at:
                return replay
            time.sleep(_POLL_INTERVAL_SECONDS)


def _build_replay_record(replay: dict[str, Any]) -> dict[str, Any]:
    """Build a record without nested fields from a replay, so that `show_record` can print it."""
    progress = replay["progress"]
    names = ("statuses", "events", "finished_at", "stop_reason")
    return {
        "from": replay["start"],
        "to": replay["end"],
        "replayed": progress["done"],
        "total": progress["total"],
        **{name: replay[name] for name in names},
    }


@group.command("listen", with_appcontext=False)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(_ANY_PORT, _MAX_PORT),
    default=9000,
    show_default=True,
    help="Port to listen on; 0 chooses a free port.",
)
@click.option(
    "--secret",
    envvar="WEBHOOK_SECRET",
    help="Signing secret of the webhook; may also be set as WEBHOOK_SECRET. Without a secret,"
    " signatures are not verified.",
)
@click.option(
    "--status",
    type=click.IntRange(200, 599),
    default=204,
    show_default=True,
    help="Status code to respond with, to test failures.",
)
@click.option("--count", type=click.IntRange(1), help="Stop after this number of deliveries.")
def listen(host: str, port: int, secret: str | None, status: int, count: int | None) -> None:
    """Receive deliveries, verify their signatures and print them.

    Use this command to test webhooks; it stores nothing. The service sends to this machine only if
    WEBHOOK_ALLOW_HTTP is set and EGRESS_ALLOWED_NETWORKS contains the machine's address.
    """
    if secret is not None and (len(secret) != _SECRET_LENGTH or not secret.isascii()):
        raise click.UsageError(f"The secret of a webhook must have {_SECRET_LENGTH} characters.")
    receiver = Receiver(secret.encode() if secret else None, status, count, click.echo)
    try:
        run_receiver(receiver, host, port)
    except OSError as error:
        raise click.ClickException(f"Cannot listen on {host}:{port}: {error.strerror}.") from error
