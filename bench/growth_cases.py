"""List the requests that are compared in a small and in a large organization."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from app.kit import db
from bench.growth_filling import BenchmarkOrganization

Case = tuple[str, str, str]
"""The name of a case, the user who sends the request, and the path."""


def list_cases(benchmark: BenchmarkOrganization) -> list[Case]:
    """Return the requests for a benchmark organization, in the same order for each organization."""
    return [
        *_list_document_cases(benchmark),
        *_list_tag_set_cases(benchmark),
        *_list_review_cases(benchmark),
        *_list_work_cases(benchmark),
        *_list_log_cases(benchmark),
        *_list_intake_cases(benchmark),
        *_list_run_cases(benchmark),
        *list_notification_cases(),
    ]


def list_notification_cases() -> Iterator[Case]:
    """Yield the requests for the notifications of the user `viewer`."""
    filters = {
        "": "",
        "unread": "unread=true",
        "read": "unread=false",
        "by kind": "kind=export_ready",
        "by kind, unread": "kind=export_ready&unread=true",
        "of a period": _format_period(),
        "oldest first": "sort=created_at",
    }
    yield from _list_filtered("notifications", "viewer", "/notifications", filters)
    yield "number of unread notifications", "viewer", "/notifications/unread-count"


def _list_filtered(title: str, user: str, path: str, filters: dict[str, str]) -> Iterator[Case]:
    """Yield a request for the first page of a list for each query in `filters`, by its name."""
    for name, query in filters.items():
        yield f"{title} {name}".strip(), user, f"{path}?page_size=100&{query}"


def _format_period() -> str:
    return f"created_after={_format_days_ago(100)}&created_before={_format_days_ago(20)}"


def _format_days_ago(days: int) -> str:
    now: datetime = db.utc_now()
    return (now - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _list_document_cases(benchmark: BenchmarkOrganization) -> Iterator[Case]:
    person, period = benchmark.org.users["labeler0"], f"created_after={_format_days_ago(100)}"
    filters = {
        "": "",
        "by status": "status=in_review",
        "by a rare status": "status=failed",
        "by two statuses": "status=ready&status=in_progress",
        "by schema": f"schema_id={benchmark.schema_id}",
        "by schema and status": f"schema_id={benchmark.schema_id}&status=failed",
        "by assigned team": f"assignee={benchmark.team_id}",
        "by assigned user": f"assignee={person}",
        "by assigned team, status and schema": (
            f"assignee={benchmark.team_id}&status=ready&schema_id={benchmark.schema_id}"
        ),
        "unassigned": "assigned=false&status=ready",
        "archived": "archived=true",
        "archived or not": "archived=any",
        "gold": "gold=true",
        "by media type": "media_type=image/png",
        "by language": "language=de",
        "by text recognition": "ocr=done",
        "by external id": "external_id=ext-777",
        "by name": "sort=name",
        "by priority": "sort=-priority",
        "by change": "sort=-updated_at",
        "of a period": _format_period(),
        "overdue": f"status=ready&due_before={_format_days_ago(0)}",
        "search, a rare word": "q=middlings",
        "search, some words": "q=word7+or+word8+or+word9+or+word10+or+word11+or+word12",
        "search, a common word": "q=common",
    }
    for name, query in filters.items():
        user = "reviewer0" if name == "gold" else "viewer"  # Only reviewers see gold.
        yield f"documents {name}".strip(), user, f"/artifacts?page_size=100&{query}"
    yield "statistics", "viewer", "/artifacts/stats"
    yield "statistics of a schema", "viewer", f"/artifacts/stats?schema_id={benchmark.schema_id}"
    yield "statistics of a period", "viewer", f"/artifacts/stats?{period}"
    yield "schema statistics", "viewer", f"/schemas/{benchmark.schema_id}/stats"


def _list_tag_set_cases(benchmark: BenchmarkOrganization) -> Iterator[Case]:
    users = benchmark.org.users
    for name, user, query in (
        ("", "viewer", ""),
        ("by status", "viewer", "status=submitted"),
        ("by schema", "viewer", f"schema_id={benchmark.schema_id}"),
        ("by labeler", "viewer", f"labeler_id={users['labeler0']}"),
        ("by labeler and status", "viewer", f"labeler_id={users['labeler0']}&status=submitted"),
        ("by reviewer", "viewer", f"reviewer_id={users['reviewer0']}"),
        ("by change", "viewer", "sort=-updated_at"),
        ("as a labeler", "labeler0", ""),
        ("as a labeler who labels blind", "labeler7", ""),
    ):
        yield f"tag sets {name}".strip(), user, f"/tag-sets?page_size=100&{query}"


def _list_review_cases(benchmark: BenchmarkOrganization) -> Iterator[Case]:
    users = benchmark.org.users
    filters = {
        "": "",
        "by schema": f"schema_id={benchmark.schema_id}",
        "by assigned user": f"assignee_id={users['reviewer0']}",
        "by assigned team": f"team_id={benchmark.review_team_id}",
        "by labeler": f"labeler_id={users['labeler0']}",
        "of the caller": "mine=true",
        "by flag": "flag=disagreement",
        "escalated": "escalated=true",
        "claimed": "claimed=true",
    }
    yield from _list_filtered("review queue", "reviewer0", "/review-queue", filters)
    yield "review queue statistics", "reviewer0", "/review-queue/stats"


def _list_work_cases(benchmark: BenchmarkOrganization) -> Iterator[Case]:
    path = "/users/me/assignments?page_size=100"
    yield "work list behind a team's backlog", "labeler0", path
    yield "work list of a member of no team", "labeler11", path
    yield "work list, overdue", "labeler0", f"{path}&due_before={_format_days_ago(0)}"
    yield "work list of a schema", "labeler0", f"{path}&schema_id={benchmark.schema_id}"
    yield "work list of a reviewer", "reviewer0", path
    yield "workload of a team", "viewer", f"/teams/{benchmark.team_id}/workload"
    yield "workload of reviewers", "viewer", f"/teams/{benchmark.review_team_id}/workload"
    yield "the caller's activity", "labeler0", "/users/me/activity"


def _list_log_cases(benchmark: BenchmarkOrganization) -> Iterator[Case]:
    organization_path = f"/organizations/{benchmark.org.slug}"
    filters = {
        "": "",
        "by action": "action=teams.create",
        "by actor": f"actor_id={benchmark.org.users['labeler0']}",
        "by kind of actor": "actor_kind=system",
        "by type of target": "target_type=teams",
    }
    yield from _list_filtered("audit log", "owner", f"{organization_path}/audit-log", filters)
    webhook_path = f"/webhooks/{benchmark.webhook_id}"
    filters = {"": "", "by status": "status=abandoned", "by event": "event=tag_set.accepted"}
    yield from _list_filtered("deliveries", "owner", f"{webhook_path}/deliveries", filters)
    yield "webhooks with statistics", "owner", "/webhooks"
    yield "webhook with missed deliveries", "owner", webhook_path
    yield "members", "viewer", f"{organization_path}/members"


def _list_intake_cases(benchmark: BenchmarkOrganization) -> Iterator[Case]:
    filters = {
        "": "",
        "by status": "status=failed",
        "by kind": "kind=import",
        "of a period": _format_period(),
    }
    yield from _list_filtered("ingestion jobs", "viewer", "/ingestion-jobs", filters)
    items_path = f"/ingestion-jobs/{benchmark.job_id}/items?page_size=100"
    yield "ingestion items", "viewer", items_path
    yield "ingestion items by status", "viewer", f"{items_path}&status=failed"


def _list_run_cases(benchmark: BenchmarkOrganization) -> Iterator[Case]:
    period = _format_period()
    filters = {
        "": "",
        "by status": "status=failed",
        "by format": "format=csv",
        "by status and format": "status=failed&format=csv",
        "of a period": period,
        "by format, of a period": f"format=csv&{period}",
    }
    yield from _list_filtered("exports", "viewer", "/exports", filters)
    runs_path = f"/exports/scheduled/{benchmark.scheduled_export_id}/runs?page_size=100"
    yield "runs of a scheduled export", "viewer", runs_path
    yield "runs of a scheduled export, of a period", "viewer", f"{runs_path}&{period}"
    filters = {
        "": "",
        "by status": "status=failed",
        "by schema": f"schema_id={benchmark.schema_id}",
        "of a period": period,
    }
    yield from _list_filtered("quality runs", "viewer", "/quality/runs", filters)
