"""Statistics of a schema's documents and tag sets."""

from datetime import timedelta
from typing import Any

from app.documents.artifacts.statuses import ArtifactStatus
from app.kit import db
from app.kit.ids import uuid7
from tests.factories.orgs import get_data
from tests.factories.statements import record_statements
from tests.factories.workspace import Workspace

NOTHING: dict[str, Any] = {
    "tag_sets": {"draft": 0, "submitted": 0, "accepted": 0, "rejected": 0, "total": 0},
    "labeling_seconds": {"mean": None, "median": None, "timed": 0},
    "decided": 0,
    "acceptance_rate": None,
    "rejections": 0,
    "auto_accepted": 0,
}


def _get_stats(workspace: Workspace, schema: Any, query: str = "") -> dict[str, Any]:
    return dict(get_data(workspace.org.api("viewer").get(f"/schemas/{schema}/stats{query}")))


def _create_tag_set(
    workspace: Workspace, schema: Any, sql: str, seconds: int = 0
) -> dict[str, Any]:
    """Create a submitted tag set on a new document, and change it by an assignment in SQL."""
    tag_set = workspace.submitted(workspace.artifact(schema))
    change = f"UPDATE tag_sets SET seconds_spent = :s, {sql} WHERE id = :id"
    workspace.sql(change, s=seconds, id=tag_set["id"])
    return tag_set


def test_a_schema_without_anything(workspace: Workspace) -> None:
    schema = workspace.schema()
    stats = _get_stats(workspace, schema)
    (version,) = stats.pop("versions")
    assert version["number"] == 1
    assert {name: version[name] for name in NOTHING} == NOTHING
    assert {name: stats[name] for name in NOTHING} == NOTHING
    assert stats["artifacts"].pop("by_status").keys() == set(ArtifactStatus)
    assert stats["artifacts"] == {"total": 0, "archived": 0}
    assert (stats["schema_id"], stats["from"], stats["to"]) == (str(schema), None, None)


def test_documents_and_tag_sets_are_counted_by_status(workspace: Workspace) -> None:
    schema = workspace.schema()
    workspace.artifact(workspace.schema())
    for status in ("processing", "ready", "ready", "failed"):
        workspace.artifact(schema, status=status)
    workspace.artifact(schema, archived=True)
    workspace.draft(workspace.artifact(schema))
    workspace.submitted(workspace.artifact(schema))
    stats = _get_stats(workspace, schema)
    assert stats["artifacts"] == {
        "by_status": {
            "processing": 1,
            "ready": 2,
            "in_progress": 1,
            "in_review": 1,
            "done": 0,
            "failed": 1,
        },
        "archived": 1,
        "total": 6,
    }
    api = workspace.org.api("viewer")
    everywhere = api.get(f"/artifacts/stats?schema_id={schema}").json["data"]
    assert {name: everywhere[name] for name in stats["artifacts"]} == stats["artifacts"]
    assert stats["tag_sets"] == {**NOTHING["tag_sets"], "draft": 1, "submitted": 1, "total": 2}


def test_times_and_rates(workspace: Workspace) -> None:
    schema = workspace.schema()
    reviewer = f"reviewer_id = '{workspace.org.users['reviewer']}'"
    _create_tag_set(workspace, schema, f"status = 'accepted', {reviewer}", 10)
    _create_tag_set(workspace, schema, f"status = 'accepted', rejections = 2, {reviewer}", 20)
    _create_tag_set(workspace, schema, "status = 'accepted'", 90)
    _create_tag_set(workspace, schema, f"status = 'rejected', rejections = 1, {reviewer}", 0)
    _create_tag_set(workspace, schema, "source = 'model'", 5000)
    stats = _get_stats(workspace, schema)
    assert stats["labeling_seconds"] == {"mean": 40, "median": 20, "timed": 3}
    assert (stats["decided"], stats["rejections"], stats["auto_accepted"]) == (6, 3, 1)
    assert stats["acceptance_rate"] == 0.5


def test_each_version_has_its_own_statistics(workspace: Workspace) -> None:
    schema = workspace.schema()
    api, path = workspace.org.api("admin"), f"/schemas/{schema}"
    _create_tag_set(workspace, schema, "status = 'accepted'", 10)
    second = api.post(f"{path}/publish", {}).json["data"]["id"]
    _create_tag_set(workspace, schema, "status = 'rejected', rejections = 1", 30)
    _create_tag_set(workspace, schema, "status = 'rejected', rejections = 1", 50)
    api.post(f"{path}/publish", {})
    stats = _get_stats(workspace, schema)
    assert [version["number"] for version in stats["versions"]] == [3, 2, 1]
    third, newer, older = stats["versions"]
    assert third["tag_sets"]["total"] == 0
    assert newer["id"] == second
    assert (newer["labeling_seconds"]["median"], newer["acceptance_rate"]) == (40, 0)
    assert (older["labeling_seconds"]["median"], older["acceptance_rate"]) == (10, 1)
    assert (stats["labeling_seconds"]["median"], stats["decided"]) == (30, 3)


def test_a_period_counts_what_was_created_in_it(workspace: Workspace) -> None:
    schema = workspace.schema()
    now = db.utc_now()
    old = _create_tag_set(workspace, schema, "status = 'accepted'", 10)
    _create_tag_set(workspace, schema, "status = 'accepted'", 30)
    before = now - timedelta(days=10)
    for table, record in (("tag_sets", old["id"]), ("artifacts", old["artifact_id"])):
        moved = f"UPDATE {table} SET created_at = :at WHERE id = :id"
        workspace.sql(moved, at=before, id=record)

    def read_totals(query: str) -> tuple[int, int, Any]:
        stats = _get_stats(workspace, schema, query)
        totals = stats["artifacts"]["total"], stats["tag_sets"]["total"]
        return (*totals, stats["labeling_seconds"]["mean"])

    def format_time(time: Any) -> str:
        return str(time.isoformat().replace("+00:00", "Z"))

    assert read_totals("") == (2, 2, 20)
    assert read_totals(f"?from={format_time(now - timedelta(days=1))}") == (1, 1, 30)
    assert read_totals(f"?to={format_time(now - timedelta(days=1))}") == (1, 1, 10)
    assert read_totals(
        f"?from={format_time(before)}&to={format_time(before + timedelta(seconds=1))}"
    ) == (1, 1, 10)
    assert read_totals(f"?to={format_time(before)}") == (0, 0, None)


def test_an_empty_period_is_refused(workspace: Workspace) -> None:
    path = f"/schemas/{workspace.schema()}/stats"
    api = workspace.org.api("viewer")
    backwards = api.get(f"{path}?from=2026-02-01T00:00:00Z&to=2026-02-01T00:00:00Z")
    assert backwards.status_code == 400
    assert backwards.json["error"]["field"] == "from"
    assert api.get(f"{path}?from=yesterday").status_code == 422
    assert api.get(f"/schemas/{uuid7()}/stats").status_code == 404


def test_two_statements_count_everything(workspace: Workspace) -> None:
    schema = workspace.schema()
    _create_tag_set(workspace, schema, "status = 'accepted'")
    _get_stats(workspace, schema)
    with record_statements(workspace.org.app) as seen:
        _get_stats(workspace, schema)
    counting = [sql for sql in seen if "FROM counts" in sql]
    assert len(counting) == 2
