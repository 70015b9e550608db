"""`flask audit`: commands that verify and show the audit log."""

import time
from collections.abc import Iterable
from dataclasses import asdict

import click
from flask.cli import AppGroup

from app.commands.running import (
    EXIT_FINDINGS,
    as_json,
    format_value,
    run_operation,
    show_json,
    show_json_line,
    show_list,
    show_progress,
)
from app.identity.audit import service
from app.identity.audit.following import AuditFollower
from app.identity.audit.reading import LogEntry
from app.identity.audit.verifying import VerificationReport

group = AppGroup("audit", help="Verify and show the audit log.")
_organization_argument = click.argument("organization", required=False)
_POLL_INTERVAL_SECONDS = 1.0


@group.command("verify")
@_organization_argument
@as_json
def verify(organization: str | None, *, as_json: bool) -> None:
    """Verify that no entry of the audit log was edited, removed or inserted.

    Verifies the hash chains of all organizations, or only the chain of ORGANIZATION.
    The exit status is 3 if the log does not match its hash chains.
    """
    with run_operation("verify_audit_log"), show_progress("Verifying") as report_progress:
        report = service.verify(organization, report_progress)
    if as_json:
        show_json({**asdict(report), "ok": report.ok})
    else:
        _print_report(report)
    if not report.ok:
        raise click.exceptions.Exit(EXIT_FINDINGS)


def _print_report(report: VerificationReport) -> None:
    if report.findings:
        columns = ("organization", "kind", "position", "entry_id", "message")
        show_list([asdict(finding) for finding in report.findings], columns, as_json=False)
    click.echo(
        f"{report.chains} chains, {report.entries} entries, {report.unsealed} not in a chain yet,"
        f" {report.faults} faults."
    )


@group.command("tail")
@_organization_argument
@click.option(
    "-n", "--number", "limit", default=20, show_default=True, type=click.IntRange(1, 10_000)
)
@click.option("-f", "--follow", is_flag=True, help="Show new entries until interrupted.")
@as_json
def tail(organization: str | None, limit: int, *, follow: bool, as_json: bool) -> None:
    """Show the latest audit log entries of ORGANIZATION.

    Without ORGANIZATION, shows the entries that belong to no organization, such as changes to
    accounts. With --json, each entry is one line.
    """
    follower = AuditFollower(organization)
    with run_operation("tail_audit_log"):
        entries = follower.start(limit)
    _print_entries(entries, as_json=as_json)
    while follow:
        time.sleep(_POLL_INTERVAL_SECONDS)
        with run_operation("tail_audit_log"):
            entries = follower.read_new()
        _print_entries(entries, as_json=as_json)


def _print_entries(entries: Iterable[LogEntry], *, as_json: bool) -> None:
    for entry in entries:
        if as_json:
            show_json_line(entry._asdict())
            continue
        target = entry.target_label or entry.target_id
        actor = f"{entry.actor_kind} {entry.actor_label}"
        cells = (entry.at, actor, entry.action, target, entry.changes)
        click.echo("  ".join(format_value(cell) for cell in cells))
