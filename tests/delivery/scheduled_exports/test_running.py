"""Runs: when they are due, on request, in full and incrementally."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
import psycopg2
import pytest

from app.delivery.scheduled_exports.models import ScheduledExport
from app.delivery.scheduled_exports.queries import records, runs
from app.delivery.scheduled_exports.service import starting
from app.kit import container, db, tenancy
from app.kit.storage import StorageFull
from devserver.postgres import EmbeddedPostgres
from tests.factories.labels import make_labeled
from tests.factories.queueing import call_in_thread
from tests.plans.explaining import explaining

MISSING = "00000000-0000-7000-8000-000000000000"


def _list_exported_ids(scheduled: Any, run: dict[str, Any]) -> list[tuple[str, str]]:
    rows = [orjson.loads(line) for line in scheduled.download_file(run["job_id"]).splitlines()]
    return [(row["tag_set_id"], row["status"]) for row in rows]


def test_a_run_on_request(scheduled: Any) -> None:
    make_labeled(scheduled.org, 3)
    created = scheduled.schedule()
    started = scheduled.run_now(created["id"])
    assert (started["status"], started["trigger"], started["due_at"]) == ("queued", "manual", None)
    assert started["id"] == started["job_id"]
    scheduled.work()
    (run,) = scheduled.list_runs(created["id"])
    assert (run["status"], run["row_count"]) == ("completed", 3)
    assert run["delivery"]["status"] == "delivered"
    assert run["delivery"]["delivered_to"] == run["download_path"]
    job = scheduled.get(run["job_id"])
    assert job["scheduled_export_id"] == created["id"]
    assert len(scheduled.download_file(run["job_id"]).splitlines()) == 3
    (event,) = scheduled.list_events("export.completed")
    assert (event["job_id"], event["scheduled_export_id"]) == (run["job_id"], created["id"])
    assert scheduled.read(created["id"])["last_run"] == run
    path = f"/exports/scheduled/{MISSING}/run"
    assert scheduled.api.post(path).status_code == 404


def test_one_run_at_a_time(scheduled: Any) -> None:
    created = scheduled.schedule(paused=True)
    started = scheduled.run_now(created["id"])
    error = scheduled.run_now(created["id"], 409)
    assert (error["code"], error["details"]["job_id"]) == ("conflict", started["job_id"])
    scheduled.act(started["job_id"], "cancel", 200)
    scheduled.run_now(created["id"])
    assert [run["status"] for run in scheduled.list_runs(created["id"])] == ["queued", "cancelled"]


def test_runs_do_not_count_towards_the_limit(scheduled: Any) -> None:
    created = scheduled.schedule()
    for _ in range(12):
        run = scheduled.run_now(created["id"])
        scheduled.act(run["job_id"], "cancel", 200)
    scheduled.start()


def test_a_due_run_is_started_once(scheduled: Any) -> None:
    created = scheduled.schedule_due()
    due_at = scheduled.read(created["id"])["next_run_at"]
    scheduled.start_due()
    scheduled.start_due()
    (run,) = scheduled.list_runs(created["id"])
    assert (run["trigger"], run["due_at"]) == ("schedule", due_at)
    assert run["created_by"] == str(scheduled.org.users["admin"])
    assert scheduled.read(created["id"])["next_run_at"] == created["next_run_at"]


def test_a_due_run_is_not_lost_by_an_edit(scheduled: Any) -> None:
    created = scheduled.schedule_due()
    due_at = scheduled.read(created["id"])["next_run_at"]
    unchanged = {"cron": f" {created['cron']}", "time_zone": "UTC", "paused": False}
    for changes in ({"name": "New"}, {"format": "csv"}, unchanged):
        assert scheduled.update(created["id"], **changes)["next_run_at"] == due_at
    scheduled.start_due()
    (run,) = scheduled.list_runs(created["id"])
    assert run["due_at"] == due_at


@pytest.mark.parametrize(
    "changes", [{"cron": "15 * * * *"}, {"time_zone": "Asia/Kathmandu"}, {"paused": True}]
)
def test_another_schedule_replaces_the_due_run(scheduled: Any, changes: dict[str, Any]) -> None:
    created = scheduled.schedule_due()
    scheduled.update(created["id"], **changes)
    scheduled.start_due()
    assert scheduled.list_runs(created["id"]) == []


def test_several_schedulers_start_one_run(scheduled: Any) -> None:
    created = scheduled.schedule_due()
    with ThreadPoolExecutor(4) as schedulers:
        list(schedulers.map(lambda _: scheduled.start_due(), range(8)))
    assert len(scheduled.list_runs(created["id"])) == 1


def test_after_an_outage_the_latest_missed_run_is_made_up(scheduled: Any) -> None:
    created = scheduled.schedule(cron="0 * * * *")
    first = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=3)
    scheduled.update_schedule(created["id"], "next_run_at = :at", at=first)
    scheduled.start_due()
    scheduled.work()
    scheduled.start_due()
    (run,) = scheduled.list_runs(created["id"])
    due_at = datetime.fromisoformat(run["due_at"])
    assert due_at == datetime.fromisoformat(created["next_run_at"]) - timedelta(hours=1)
    assert scheduled.read(created["id"])["next_run_at"] == created["next_run_at"]


def test_a_due_run_waits_for_the_one_before(scheduled: Any) -> None:
    created = scheduled.schedule()
    before = scheduled.run_now(created["id"])
    scheduled.make_due(created["id"])
    scheduled.start_due()
    assert len(scheduled.list_runs(created["id"])) == 1
    scheduled.work()
    scheduled.start_due()
    runs = scheduled.list_runs(created["id"])
    assert [run["trigger"] for run in runs] == ["schedule", "manual"]
    assert runs[1]["job_id"] == before["job_id"]


def test_a_due_run_waits_for_one_that_was_requested_while_it_was_found(
    scheduled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    created = scheduled.schedule_due()
    lock_due_exports = records.lock_due_exports

    def lock_late(limit: int) -> list[ScheduledExport]:
        """Find due exports, and lock them only after a run was requested."""
        export_ids = [export.id for export in lock_due_exports(limit)]
        if export_ids:
            db.session().rollback()
            call_in_thread(scheduled.run_now, created["id"])
        exports = [records.get(export_id, lock=True) for export_id in export_ids]
        return [export for export in exports if export is not None]

    monkeypatch.setattr(records, "lock_due_exports", lock_late)
    scheduled.start_due()
    monkeypatch.undo()
    assert [run["trigger"] for run in scheduled.list_runs(created["id"])] == ["manual"]
    scheduled.work()
    scheduled.start_due()
    assert [run["trigger"] for run in scheduled.list_runs(created["id"])] == ["schedule", "manual"]


def test_paused_and_suspended_ones_do_not_run(scheduled: Any) -> None:
    paused = scheduled.schedule(paused=True)
    scheduled.start_due()
    assert scheduled.list_runs(paused["id"]) == []
    created = scheduled.schedule_due()
    suspend = "UPDATE organizations SET status = :to WHERE id = :org"
    scheduled.sql(suspend, to="suspended", org=scheduled.org.id)
    scheduled.start_due()
    scheduled.sql(suspend, to="active", org=scheduled.org.id)
    assert scheduled.list_runs(created["id"]) == []


def test_a_scheduler_that_dies_starts_nothing_twice(scheduled: Any) -> None:
    created = scheduled.schedule_due()
    everything = tenancy.across_organizations(reason="a test is a scheduler that dies")
    with scheduled.org.app.app_context(), everything:
        starting.start_due_runs()
        db.session().rollback()
    assert scheduled.list_runs(created["id"]) == []
    scheduled.start_due()
    assert len(scheduled.list_runs(created["id"])) == 1


# Copies of the first run, each a minute older than the one before.
OLD_EXPORTS = """
INSERT INTO exports SELECT (jsonb_populate_record(e, jsonb_build_object(
    'id', gen_random_uuid(), 'created_at', e.created_at - i * interval '1 minute'))).*
FROM exports e, generate_series(1, 3000) AS i
WHERE e.organization_id = :org
"""
OLD_RUNS = """
INSERT INTO scheduled_export_runs
    (organization_id, job_id, scheduled_export_id, trigger, delivery_status, sent_bytes, created_at)
SELECT organization_id, id, scheduled_export_id, 'manual', 'delivered', 0, created_at
FROM exports e
WHERE organization_id = :org AND NOT EXISTS (
    SELECT FROM scheduled_export_runs r WHERE r.organization_id = :org AND r.job_id = e.id)
"""


def test_the_latest_runs_are_found_by_an_index(scheduled: Any, postgres: EmbeddedPostgres) -> None:
    never_run = scheduled.schedule()["id"]
    latest_job_ids = {}
    for _ in range(2):
        created = scheduled.schedule()
        latest_job_ids[UUID(created["id"])] = scheduled.run(created["id"])["job_id"]
    for insert in (OLD_EXPORTS, OLD_RUNS):
        scheduled.sql(insert, org=scheduled.org.id)
    with closing(psycopg2.connect(postgres.url)) as owner, owner, owner.cursor() as cursor:
        cursor.execute("ANALYZE exports, scheduled_exports, scheduled_export_runs")
    app, organization = scheduled.org.app, tenancy.organization(scheduled.org.id)
    with app.app_context(), organization, explaining(app) as explained:
        latest_runs = runs.get_latest_runs([UUID(never_run), *latest_job_ids])
    assert {export_id: str(row[1].id) for export_id, row in latest_runs.items()} == latest_job_ids
    (statement,) = explained
    assert statement.rows_by_index["ix_scheduled_export_runs_list"] == 2
    # Other tests determine whether their few scheduled exports are read as a whole, too.
    assert statement.rows - statement.rows_by_index.get("scheduled_exports", 0) < 20
    listed = scheduled.api.get("/exports/scheduled").json["data"]
    last_job_ids = {UUID(item["id"]): item["last_run"]["job_id"] for item in listed[:2]}
    assert last_job_ids == latest_job_ids
    assert listed[2]["last_run"] is None


def test_incremental_runs_hold_each_change_once(scheduled: Any, schema_id: UUID) -> None:
    created = scheduled.schedule(mode="incremental")
    one, two = scheduled.label(schema_id, []), scheduled.label(schema_id, [])
    first = scheduled.run(created["id"])
    assert _list_exported_ids(scheduled, first) == [(one, "accepted"), (two, "accepted")]
    assert first["covers_from"] is None
    three = scheduled.label(schema_id, [])
    scheduled.reopen(one)
    second = scheduled.run(created["id"])
    assert _list_exported_ids(scheduled, second) == [(three, "accepted"), (one, "removed")]
    assert second["covers_from"] == first["covers_until"]
    third = scheduled.run(created["id"])
    assert (_list_exported_ids(scheduled, third), third["row_count"]) == ([], 0)
    assert scheduled.read(created["id"])["exported_until"] == third["covers_until"]


def test_a_full_export_keeps_its_choice_of_removed_rows(scheduled: Any, schema_id: UUID) -> None:
    since = {"decided_after": "2020-01-01T00:00:00Z"}
    created = scheduled.schedule(filter=since, include={"removed": True})
    plain = scheduled.schedule(filter=since)
    one, two = scheduled.label(schema_id, []), scheduled.label(schema_id, [])
    scheduled.reopen(one)
    for _ in range(2):
        run = scheduled.run(created["id"])
        assert _list_exported_ids(scheduled, run) == [(two, "accepted"), (one, "removed")]
        assert (run["covers_from"], run["covers_until"]) == (None, None)
    assert _list_exported_ids(scheduled, scheduled.run(plain["id"])) == [(two, "accepted")]


def test_a_run_that_failed_is_covered_by_the_next(scheduled: Any, schema_id: UUID) -> None:
    created = scheduled.schedule(mode="incremental")
    first = scheduled.run(created["id"])
    tag_set = scheduled.label(schema_id, [])
    cancelled = scheduled.run_now(created["id"])
    scheduled.act(cancelled["job_id"], "cancel", 200)
    second = scheduled.run(created["id"])
    assert second["covers_from"] == first["covers_until"]
    assert _list_exported_ids(scheduled, second) == [(tag_set, "accepted")]


def test_a_schema_that_is_gone_leaves_an_empty_export(scheduled: Any, schema_id: UUID) -> None:
    created = scheduled.schedule(filter={"schema_id": str(schema_id)})
    change = "filter = jsonb_set(filter, '{schema_id}', :schema)"
    scheduled.update_schedule(created["id"], change, schema=f'"{MISSING}"')
    assert scheduled.run(created["id"])["row_count"] == 0


def _is_planned(scheduled: Any, export_id: str) -> bool | None:
    """Return whether the next run is in the future, or None if there is no next run."""
    sql = "SELECT next_run_at > now() AS is_planned FROM scheduled_exports WHERE id = :id"
    is_planned: bool | None = scheduled.sql(sql, id=export_id)[0].is_planned
    return is_planned


def test_one_that_cannot_start_does_not_delay_another(scheduled: Any) -> None:
    broken, whole = scheduled.schedule(), scheduled.schedule()
    scheduled.update_schedule(
        broken["id"], "format = 'gone', next_run_at = now() - interval '1 hour'"
    )
    scheduled.make_due(whole["id"])
    scheduled.start_due()
    assert scheduled.list_runs(broken["id"]) == []
    assert len(scheduled.list_runs(whole["id"])) == 1
    assert _is_planned(scheduled, broken["id"]) is True


@pytest.mark.parametrize(
    ("change", "is_planned"),
    [("next_run_at = (SELECT due_at FROM scheduled_export_runs WHERE scheduled_export_id = :id)",
      True),
     ("next_run_at = now() - interval '1 hour', time_zone = 'Mars/Olympus_Mons'", None)],
    ids=["a due time that was used", "a time zone that is gone"],
)  # fmt: skip
def test_what_no_service_expects_does_not_delay_another(
    scheduled: Any, change: str, is_planned: bool | None
) -> None:
    broken, whole = scheduled.schedule(), scheduled.schedule()
    scheduled.make_due(broken["id"])
    scheduled.start_due()
    scheduled.work()
    scheduled.update_schedule(broken["id"], change)
    scheduled.make_due(whole["id"])
    scheduled.start_due()
    assert [len(scheduled.list_runs(export["id"])) for export in (broken, whole)] == [1, 1]
    assert _is_planned(scheduled, broken["id"]) is is_planned


def test_after_a_wrong_clock_everything_is_exported(scheduled: Any, schema_id: UUID) -> None:
    created = scheduled.schedule(mode="incremental")
    one = scheduled.label(schema_id, [])
    scheduled.run(created["id"])
    scheduled.update_schedule(created["id"], "exported_until = now() + interval '1 day'")
    two = scheduled.label(schema_id, [])
    run = scheduled.run(created["id"])
    assert _list_exported_ids(scheduled, run) == [(one, "accepted"), (two, "accepted")]
    assert run["covers_from"] is None
    assert scheduled.read(created["id"])["exported_until"] == run["covers_until"]
    assert scheduled.run(created["id"])["row_count"] == 0


def test_on_a_full_disk_runs_stay_due(scheduled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    created = scheduled.schedule_due()

    def refuse() -> None:
        raise StorageFull

    monkeypatch.setattr(container.current().reserve, "check", refuse)
    scheduled.start_due()
    assert scheduled.list_runs(created["id"]) == []
    monkeypatch.undo()
    scheduled.start_due()
    assert len(scheduled.list_runs(created["id"])) == 1


def test_the_clock_of_a_worker_starts_nothing(
    scheduled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    due_soon, due = scheduled.schedule(cron="*/15 * * * *"), scheduled.schedule()
    scheduled.make_due(due["id"])
    for hours in (1, -1):
        now = datetime.now(UTC) + timedelta(hours=hours)
        monkeypatch.setattr(db, "utc_now", lambda now=now: now)
        scheduled.start_due()
    monkeypatch.undo()
    assert scheduled.list_runs(due_soon["id"]) == []
    assert len(scheduled.list_runs(due["id"])) == 1
    assert scheduled.read(due["id"])["next_run_at"] == due["next_run_at"]
