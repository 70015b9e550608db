"""`flask jobs`: commands that list background jobs, and retry or discard failed jobs."""

from collections.abc import Callable
from typing import TypedDict, Unpack
from uuid import UUID

import click
from flask.cli import AppGroup

from app.commands.running import as_json, run_operation, show_list, show_progress, show_record
from app.engines.plurals import format_count
from app.identity.control_plane import service as control_plane
from app.kit import db, tenancy
from app.kit.jobs import failures
from app.kit.jobs.failures import JobFilter
from app.kit.jobs.queues import QUEUES

group = AppGroup("jobs", help="List, retry and discard background jobs.")

_STATUSES = ("failed", "queued", "running", "completed", "discarded")
_COLUMNS = ("id", "function", "status", "attempts", "faults", "created_at", "error")
_TENANCY_REASON = "the operator manages the jobs of every organization"


def _add_selection_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options --org, --queue and --function, which select jobs, to a command."""
    for option in (
        click.option("--org", "slug", help="Only jobs of the organization with this slug."),
        click.option("--queue", type=click.Choice(list(QUEUES)), help="Only jobs of this queue."),
        click.option("--function", help="Only jobs of this function, such as artifacts.parse."),
    ):
        command = option(command)
    return command


def _build_selection(
    slug: str | None, queue: str | None, function: str | None, status: str = "failed"
) -> JobFilter:
    organization_id = None if slug is None else control_plane.get_organization(slug)["id"]
    return JobFilter(status=status, queue=queue, function=function, organization_id=organization_id)


@group.command("list")
@_add_selection_options
@click.option("--status", type=click.Choice(_STATUSES), default="failed", show_default=True)
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@as_json
def list_jobs(
    slug: str | None,
    queue: str | None,
    function: str | None,
    status: str,
    limit: int,
    *,
    as_json: bool,
) -> None:
    """List jobs, newest first; without --status, only jobs that failed permanently."""
    with run_operation("list_jobs"), tenancy.across_organizations(reason=_TENANCY_REASON):
        selection = _build_selection(slug, queue, function, status)
        rows = failures.list_jobs(selection, limit=limit)
    show_list([row._asdict() for row in rows], _COLUMNS, as_json=as_json)


class JobOptions(TypedDict):
    """The arguments and options that `_add_job_options` adds to a command, except --json."""

    job_ids: tuple[UUID, ...]
    slug: str | None
    queue: str | None
    function: str | None
    select_all: bool


def _add_job_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the arguments JOB_IDS, the selection options, --all and --json to a command."""
    for option in (
        as_json,
        click.option("--all", "select_all", is_flag=True, help="All jobs that the options select."),
        _add_selection_options,
        click.argument("job_ids", nargs=-1, type=click.UUID),
    ):
        command = option(command)
    return command


@group.command("retry")
@_add_job_options
def retry(*, as_json: bool, **options: Unpack[JobOptions]) -> None:
    """Run failed jobs again: the jobs JOB_IDS or, with --all, all jobs that the options select.

    Also undoes the effects of the failure. For example, a failed document becomes pending again.
    With --all, jobs that cannot be retried are skipped, such as emails.
    """
    queued_count = _change_jobs(
        "retry_jobs", "Retrying", failures.retry, options, find=_find_retryable_ids
    )
    show_record({"queued": queued_count}, as_json=as_json)


@group.command("discard")
@_add_job_options
def discard(*, as_json: bool, **options: Unpack[JobOptions]) -> None:
    """Discard failed jobs: the jobs JOB_IDS or, with --all, all jobs that the options select."""
    discarded_count = _change_jobs("discard_jobs", "Discarding", failures.discard, options)
    show_record({"discarded": discarded_count}, as_json=as_json)


def _find_retryable_ids(selection: JobFilter) -> list[UUID]:
    ids, skipped_counts = failures.find_retryable_ids(selection)
    for function, count in skipped_counts.items():
        jobs_text = format_count(count, "job", "jobs")
        click.echo(f"Skipped {jobs_text} of {function}, which cannot be retried.", err=True)
    return ids


def _change_jobs(
    operation: str,
    label: str,
    change: Callable[[list[str]], int],
    options: JobOptions,
    find: Callable[[JobFilter], list[UUID]] = failures.find_ids,
) -> int:
    """Retry or discard the selected jobs with a progress bar, and return how many were changed.

    `change` retries or discards a batch of jobs. `find` returns the ids of the failed jobs that the
    options select, and is called only with --all.
    """
    if bool(options["job_ids"]) == options["select_all"]:
        raise click.UsageError("Pass either job ids or --all.")
    with (
        run_operation(operation),
        tenancy.across_organizations(reason=_TENANCY_REASON),
        show_progress(label) as report_progress,
    ):
        ids = list(options["job_ids"]) or find(
            _build_selection(options["slug"], options["queue"], options["function"])
        )
        return failures.change_in_batches(ids, change, db.checkpoint, report_progress)
