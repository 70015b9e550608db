"""`flask audit`: the audit log."""

import time
from collections import deque
from dataclasses import asdict
from typing import Any

import click
from flask.cli import AppGroup

from app.commands.running import (
    FOUND,
    as_json,
    printed,
    progress,
    running,
    show_json,
    show_line,
    show_list,
)
from app.identity.audit import service

group = AppGroup("audit", help="The audit log.")
_organization = click.argument("organization", required=False)
_FOLLOWED = 500
_PAUSE_SECONDS = 1.0


@group.command("verify")
@_organization
@as_json
def verify(organization: str | None, *, as_json: bool) -> None:
    """Check that no entry was edited, removed or cut off: of every chain, or ORGANIZATION's.

    Exit status 3: something is not as it was sealed.
    """
    with running("verify_audit_log"), progress("Verifying") as report:
        found = service.verify(organization, report)
    if as_json:
        show_json({**asdict(found), "ok": found.ok})
    else:
        _tell(found)
    if not found.ok:
        raise click.exceptions.Exit(FOUND)


def _tell(report: service.Report) -> None:
    if report.findings:
        columns = ("organization", "kind", "position", "entry_id", "message")
        show_list([asdict(finding) for finding in report.findings], columns, as_json=False)
    click.echo(
        f"{report.chains} chains, {report.entries} entries, {report.unsealed} not sealed yet,"
        f" {report.faults} faults."
    )


@group.command("tail")
@_organization
@click.option("-n", "--number", default=20, show_default=True, type=click.IntRange(1, 10_000))
@click.option("-f", "--follow", is_flag=True, help="Go on with what comes, until interrupted.")
@as_json
def tail(organization: str | None, number: int, *, follow: bool, as_json: bool) -> None:
    """Show the latest entries: ORGANIZATION's, or those that belong to none, as of accounts.

    With --json each is a line.
    """
    entries = _latest(organization, number)
    for entry in entries:
        _show(entry, as_json=as_json)
    shown = deque((entry["id"] for entry in entries), maxlen=2 * _FOLLOWED)
    since = entries[0]["at"] if entries else None
    while follow:
        time.sleep(_PAUSE_SECONDS)
        for entry in _latest(organization, _FOLLOWED):
            # Whoever commits last may have begun first: the latest time is no mark.
            if entry["id"] not in shown and (since is None or entry["at"] >= since):
                shown.append(entry["id"])
                _show(entry, as_json=as_json)


def _latest(organization: str | None, number: int) -> list[dict[str, Any]]:
    with running("tail_audit_log"):
        return service.list_latest(organization, limit=number)


def _show(entry: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        show_line(entry)
        return
    target = entry["target_label"] or entry["target_id"]
    actor = f"{entry['actor_kind']} {entry['actor_label']}"
    cells = (entry["at"], actor, entry["action"], target, entry["changes"])
    click.echo("  ".join(printed(cell) for cell in cells))
