"""Running exports: progress, one moment, one result, bounded memory."""

import hashlib
import re
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from itertools import count, pairwise
from typing import Any
from uuid import UUID

import orjson
import psycopg2
import pytest

from app.delivery.exports import jobs
from app.delivery.exports.queries import rows, statements
from app.engines.formats import xlsx
from app.kit import db, tenancy
from devserver.postgres import EmbeddedPostgres
from tests.factories.labels import make_labeled
from tests.factories.progress import OnProgress


def test_an_export_from_begin_to_end(exports: Any) -> None:
    labeled = make_labeled(exports.org, 250)
    export_id = exports.start(filter={"schema_id": str(labeled.schema_id)})
    exports.work()
    export = exports.get(export_id)
    content = exports.download_file(export_id)
    assert export["status"] == "completed"
    assert export["row_count"] == len(content.splitlines()) == 250
    assert export["size_bytes"] == len(content)
    assert export["sha256"] == hashlib.sha256(content).hexdigest()
    assert export["progress"]["done"] == export["progress"]["total"] == 250
    assert export["progress"]["rate_per_second"] > 0
    assert export["progress"]["eta_seconds"] == 0
    assert export["download_path"] == f"/api/v1/exports/{export_id}/download"
    assert export["started_at"] <= export["finished_at"] < export["expires_at"]
    assert export["error"] is None
    assert exports.list_events("export.completed") == [
        {
            "job_id": export_id,
            "format": "jsonl",
            "row_count": 250,
            "size_bytes": len(content),
            "sha256": export["sha256"],
            "scheduled_export_id": None,
            "download_path": export["download_path"],
        }
    ]
    assert exports.list_staged_files() == []


def test_a_workbook_with_too_many_columns_fails_at_once(
    exports: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_labeled(exports.org, 1)
    monkeypatch.setattr(xlsx, "MAX_COLUMNS", 20)
    export_id = exports.start(format="xlsx")
    exports.work()
    failed = exports.get(export_id)
    assert (failed["status"], failed["error"]["code"]) == ("failed", "validation_error")
    assert "more columns than its format allows" in failed["error"]["message"]
    (event,) = exports.list_events("export.failed")
    assert (event["job_id"], event["error"]) == (export_id, failed["error"])
    assert exports.list_staged_files() == []


def test_progress_is_seen_while_it_runs(exports: Any, on_progress: OnProgress) -> None:
    export_id = exports.start_labeled(5)
    seen: list[dict[str, Any]] = []
    on_progress(lambda _: seen.append(exports.get(export_id)))
    exports.work()
    assert {export["status"] for export in seen} == {"running"}
    assert all(export["started_at"] and not export["finished_at"] for export in seen)
    progress = [export["progress"] for export in seen]
    assert [report["done"] for report in progress] == [0, 1, 2, 3, 4, 5]
    assert {report["total"] for report in progress} == {5}
    assert progress[0]["rate_per_second"] is None
    assert all(report["rate_per_second"] > 0 for report in progress[1:])
    assert progress[-1]["eta_seconds"] == 0
    assert exports.get(export_id)["status"] == "completed"


def test_progress_is_written_once_a_second_at_most(
    exports: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_labeled(exports.org, 300)
    clock = count()
    written: list[int] = []
    report = jobs._report_progress

    def reported(job: Any, export_id: UUID, done: int, total: int) -> None:
        if job.organization_id == exports.org.id:
            written.append(done)
        report(job, export_id, done, total)

    # A hundred rows a second, by a clock that only the export looks at.
    monkeypatch.setattr(jobs, "monotonic", lambda: next(clock) / 100)
    monkeypatch.setattr(jobs, "_report_progress", reported)
    exports.make()
    assert written[0] == 0
    assert 2 <= len(written) <= 4
    assert all(b - a >= 99 for a, b in pairwise(written))


def test_it_contains_the_state_of_one_moment(exports: Any, on_progress: OnProgress) -> None:
    labeled = make_labeled(exports.org, 3)

    def change_tag_sets(done: int) -> None:
        if done < 2:
            exports.label(labeled.schema_id, [])
            sql = "UPDATE tag_sets SET status = 'rejected' WHERE organization_id = :org"
            exports.sql(sql, org=exports.org.id)

    export_id = exports.start()
    on_progress(change_tag_sets)
    exports.work()
    lines = exports.download_file(export_id).splitlines()
    assert [orjson.loads(line)["status"] for line in lines] == ["accepted"] * 3
    assert exports.get(export_id)["row_count"] == 3


def test_a_second_run_of_a_completed_export_does_nothing(exports: Any) -> None:
    labeled = make_labeled(exports.org, 3)
    export = exports.make()
    exports.label(labeled.schema_id, [])
    exports.rerun()
    assert exports.get_run_job().status == "completed"
    assert exports.get(export["id"]) == export
    assert len(exports.download_file(export["id"]).splitlines()) == 3
    assert len(exports.list_events("export.completed")) == 1


def test_an_export_that_somebody_ended_stops(exports: Any, on_progress: OnProgress) -> None:
    export_id = exports.start_labeled(5)

    def end(done: int) -> None:
        assert done < 3
        if done == 2:
            exports.update_export(export_id, "status = 'cancelled'")

    on_progress(end)
    exports.work()
    assert exports.get(export_id)["status"] == "cancelled"
    assert exports.get_run_job().status == "completed"
    assert exports.list_events("export.completed") == []
    assert exports.list_staged_files() == []


def test_a_connection_that_was_broken_off_is_not_used_again(exports: Any) -> None:
    make_labeled(exports.org, 3)
    include = {"tags": "all", "evidence": True, "text": False, "history": False}

    def stop(*_: Any, **__: Any) -> None:
        raise RuntimeError("enough")

    with exports.org.app.app_context(), tenancy.organization(exports.org.id):
        for _ in range(10):
            with (
                pytest.raises(RuntimeError, match="enough"),
                rows.open_snapshot({}, include) as snapshot,
            ):
                snapshot.copy_rows(stop)
    assert len(exports.export_rows()) == 3


def test_the_plan_is_right_for_an_organization_that_nobody_has_counted(
    exports: Any, other_org: Any, postgres: EmbeddedPostgres
) -> None:
    make_labeled(other_org, 3000)
    with closing(psycopg2.connect(postgres.url)) as owner, owner, owner.cursor() as cursor:
        cursor.execute("ANALYZE artifacts, artifact_texts, tag_sets, tag_set_revisions")
    make_labeled(exports.org, 1000, revisions=True)
    include = {"tags": "all", "evidence": True, "text": True, "history": True}
    export_statements = statements.Statements.build(
        exports.org.id, {"statuses": ["accepted"]}, include
    )
    with (
        exports.org.app.app_context(),
        tenancy.organization(exports.org.id),
        db.engine().connect() as connection,
    ):
        sql = f"EXPLAIN (FORMAT JSON) {export_statements.rows}"
        plan = connection.exec_driver_sql(sql, export_statements.values).scalar_one()
    nodes = list(iterate_plan_nodes(plan[0]["Plan"]))
    for table in ("artifacts", "artifact_texts", "tag_set_revisions"):
        (scan,) = [node for node in nodes if node.get("Relation Name") == table]
        assert scan["Index Name"] == f"pk_{table}"
        # By the row's own columns, whatever alias the plan calls it by.
        assert re.search(r"organization_id = [st]\.organization_id", scan["Index Cond"])
        assert re.search(r"= [st]\.", scan["Index Cond"].partition("AND")[2])


def iterate_plan_nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from iterate_plan_nodes(part)


def test_memory_does_not_grow_with_the_rows(exports: Any) -> None:
    few, many = (make_labeled(exports.org, n, texts=False) for n in (500, 8000))

    def measure_peak_memory(schema_id: UUID) -> int:
        exports.start(filter={"schema_id": str(schema_id)})
        tracemalloc.start()
        exports.work()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    measure_peak_memory(few.schema_id)  # what is loaded at the first use stays
    small, large = measure_peak_memory(few.schema_id), measure_peak_memory(many.schema_id)
    assert exports.api.get("/exports").json["data"][0]["row_count"] == 8000
    assert large - small < 2_000_000
