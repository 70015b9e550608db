"""The aggregates equal those of a recount from scratch, regardless of earlier events."""

import random
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from sqlalchemy import text

from app.insight.quality.queries import cells
from app.insight.quality.service import updating
from app.kit import db
from tests.factories import run_jobs_of
from tests.factories.orgs import get_data, transaction_across_organizations
from tests.factories.quality import QualityWorkspace
from tests.factories.queueing import run_concurrently
from tests.factories.work import claim_jobs_of
from tests.factories.workspace import tag

_STEPS = 70
_MAX_STEPS = 700
_REQUIRED = {"submit", "accept", "reject", "reopen", "change"}


class _Player:
    """A simulated user who performs random actions on tag sets; refused actions change nothing."""

    def __init__(self, quality: QualityWorkspace, seed: int) -> None:
        self.quality, self.random = quality, random.Random(seed)
        schemas = [
            quality.schema(labels_per_artifact=3),
            quality.schema(labels_per_artifact=2, sample_rate=0.5),
        ]
        self.artifacts = [
            quality.artifact(schemas[number % 2], gold=number % 3 == 0) for number in range(5)
        ]
        self.done: dict[str, int] = {}

    def play(self) -> None:
        actions = (self.submit, self.accept, self.reject, self.reopen, self.merge, self.change)
        weights = (6, 4, 3, 2, 1, 1)
        (action,) = self.random.choices(actions, weights)
        status = action()
        if status < 300:
            name = action.__name__
            self.done[name] = self.done.get(name, 0) + 1

    def _pick(self, status: str) -> str:
        rows = self.quality.sql("SELECT id FROM tag_sets WHERE status = :status", status=status)
        ids = sorted(str(row.id) for row in rows)
        return self.random.choice(ids) if ids else str(self.artifacts[0])

    def _post(self, path: str, by: str = "reviewer", **body: Any) -> int:
        return int(self.quality.org.api(by).post(path, json=body).status_code)

    def _tags(self) -> list[dict[str, Any]]:
        number = tag("number", self.random.choice("AB"))
        notes = [tag("note", note) for note in ("x", "y") if self.random.random() < 0.5]
        return [number, *notes]

    def submit(self) -> int:
        by = self.random.choice(["labeler", "second", "third"])
        api = self.quality.org.api(by)
        artifact = self.random.choice(self.artifacts)
        created = api.post(f"/artifacts/{artifact}/tag-sets", json={})
        tag_set = created.json.get("data")
        if tag_set is None:
            tag_set_id = created.json["error"].get("details", {}).get("tag_set_id")
            response = api.get(f"/tag-sets/{tag_set_id}") if tag_set_id else created
            if response.status_code != 200:
                return int(created.status_code)
            tag_set = response.json["data"]
        seconds = self.random.randint(1, 99)
        self.quality.save(tag_set, self._tags(), by=by, seconds_spent=seconds)
        return self._post(f"/tag-sets/{tag_set['id']}/submit", by)

    def accept(self) -> int:
        body = {"tags": self._tags()} if self.random.random() < 0.5 else {}
        by = self.random.choice(["reviewer", "senior"])
        return self._post(f"/tag-sets/{self._pick('submitted')}/accept", by, **body)

    def reject(self) -> int:
        to = self.random.choice(["labeler", "pool", str(self.quality.org.users["third"])])
        path = f"/tag-sets/{self._pick('submitted')}/reject"
        return self._post(path, reason="x", send_to=to)

    def reopen(self) -> int:
        status = self.random.choice(["accepted", "rejected"])
        to = self.random.choice(["review", "labeler"])
        return self._post(f"/tag-sets/{self._pick(status)}/reopen", "senior", reason="x", to=to)

    def merge(self) -> int:
        artifact = self.random.choice(self.artifacts)
        rows = self.quality.sql(
            "SELECT id FROM tag_sets WHERE artifact_id = :id AND source = 'human'"
            " AND status IN ('submitted', 'accepted')",
            id=artifact,
        )
        ids = [str(row.id) for row in rows]
        return self._post("/tag-sets/merge", tag_set_ids=ids)

    def change(self) -> int:
        api = self.quality.org.api("admin")
        artifact = self.random.choice(self.artifacts)
        if self.random.random() < 0.3:
            self.artifacts.remove(artifact)
            self.artifacts.append(self.quality.artifact(self.quality.schema()))
            return int(api.delete(f"/artifacts/{artifact}").status_code)
        body = {"gold": self.random.random() < 0.5}
        return int(api.patch(f"/artifacts/{artifact}", json=body).status_code)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_random_series_of_actions(quality: QualityWorkspace, seed: int) -> None:
    player = _Player(quality, seed)
    for step in range(_MAX_STEPS):
        if step >= _STEPS and player.done.keys() >= _REQUIRED:
            break
        player.play()
        if player.random.random() < 0.2:
            quality.update_metrics()
    quality.update_metrics()
    counted, contributions = quality.list_cells(), quality.list_documents()
    sums = quality.list_sums()
    assert counted
    assert sums
    assert player.done.keys() >= _REQUIRED
    quality.sql("DELETE FROM quality_cells")
    quality.sql("DELETE FROM quality_documents")
    assert quality.list_sums() == []
    quality.rebuild_metrics()
    assert quality.list_cells() == counted
    assert quality.list_documents() == contributions
    assert quality.list_sums() == sums


def _prepare(quality: QualityWorkspace) -> list[Any]:
    schema = quality.schema(labels_per_artifact=2)
    artifacts = [quality.artifact(schema) for _ in range(3)]
    for artifact in artifacts:
        quality.label(artifact, "A")
        quality.act(quality.label(artifact, "B", by="second"), "accept")
    return artifacts


def test_events_that_are_handled_twice_or_late(quality: QualityWorkspace) -> None:
    artifacts = _prepare(quality)
    quality.update_metrics()
    counted = quality.list_cells()
    with quality.org.transaction():
        updating.update([*artifacts, artifacts[0]], db.checkpoint)
    assert quality.list_cells() == counted


def test_a_run_that_crashes_counts_nothing(
    quality: QualityWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifacts = _prepare(quality)

    def fail(_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr("app.insight.quality.queries.cells.add_deltas", fail)
        with pytest.raises(MemoryError), quality.org.transaction():
            updating.update(artifacts, db.checkpoint)
    assert quality.list_cells() == []
    quality.update_metrics()
    counted = quality.list_cells()
    quality.rebuild_metrics()
    assert quality.list_cells() == counted != []


def test_concurrent_runs_of_the_same_documents(quality: QualityWorkspace) -> None:
    artifacts = _prepare(quality)

    def run(order: int) -> None:
        for _ in range(5):
            with quality.org.transaction():
                if order == 3:
                    updating.rebuild(db.checkpoint)
                else:
                    updating.update(artifacts[order:] + artifacts[:order], db.checkpoint)

    run_concurrently(*(partial(run, order) for order in range(4)))
    counted = quality.list_cells()
    quality.sql("DELETE FROM quality_cells")
    quality.sql("DELETE FROM quality_documents")
    quality.rebuild_metrics()
    assert quality.list_cells() == counted != []


def test_wrong_cells_are_corrected(quality: QualityWorkspace) -> None:
    _prepare(quality)
    quality.update_metrics()
    counted = quality.list_cells()
    quality.sql("UPDATE quality_cells SET accepted = accepted + 7 WHERE subject = 'reviewer'")
    quality.sql("DELETE FROM quality_cells WHERE subject = 'schema'")
    quality.sql("UPDATE quality_cells SET name = 'ghost' WHERE subject = 'field'")
    quality.rebuild_metrics()
    assert quality.list_cells() == counted


class _StopError(Exception):
    """Raised by a checkpoint to end a recount."""


def test_schemas_are_repaired_one_by_one(quality: QualityWorkspace) -> None:
    for _ in range(3):
        quality.label(quality.artifact(quality.schema()), "A")
    quality.update_metrics()
    counted = quality.list_cells()
    quality.sql("UPDATE quality_cells SET submitted = submitted + 7")
    limits: list[str] = []

    def stop_at(number: int) -> Any:
        def checkpoint() -> None:
            limits.append(str(db.session().scalar(text("SHOW statement_timeout"))))
            db.checkpoint()
            if len(limits) == number:
                raise _StopError

        return checkpoint

    def rebuild(number: int) -> int:
        with quality.org.transaction():
            return updating.rebuild(stop_at(number), resume=True)

    # There is one commit after the documents, and one after each schema, which has no timeout.
    with pytest.raises(_StopError):
        rebuild(2)
    assert limits == ["30s", "0"]
    # The next run continues with the second schema.
    assert rebuild(0) == len(counted) * 2 // 3
    assert limits[2:] == ["0", "0"]
    assert quality.list_cells() == counted


def test_an_interrupted_recount_is_continued(quality: QualityWorkspace) -> None:
    _prepare(quality)
    quality.rebuild_metrics()
    counted = quality.list_cells()
    quality.sql("DELETE FROM quality_cells")

    def stop() -> None:
        db.checkpoint()
        raise _StopError

    with pytest.raises(_StopError), quality.org.transaction():
        updating.rebuild(stop)
    assert quality.list_cells() == []
    quality.prepare()
    run_jobs_of(quality.org, "quality_counts")
    assert quality.list_cells() == counted != []
    with transaction_across_organizations(quality.org.app):
        assert quality.org.id not in cells.list_outdated_organization_ids()


def test_a_document_of_two_schemas_is_repaired(quality: QualityWorkspace) -> None:
    first, second = quality.schema(), quality.schema()
    artifact = quality.artifact(first)
    quality.reject(quality.label(artifact, "A"), to="pool")
    body = {"schema_id": str(second)}
    get_data(quality.org.api("admin").patch(f"/artifacts/{artifact}", json=body))
    quality.label(artifact, "B", by="second")
    quality.update_metrics()
    counted = quality.list_cells()
    rows = quality.sql("SELECT schema_id FROM quality_cells")
    assert {row.schema_id for row in rows} == {first, second}
    quality.sql("DELETE FROM quality_cells")
    quality.rebuild_metrics()
    assert quality.list_cells() == counted


def test_large_earlier_revisions_are_not_loaded(
    quality: QualityWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact = quality.artifact(quality.schema(labels_per_artifact=2))
    quality.label(artifact, "A", by="second")
    draft = quality.reject(quality.label(artifact, "A", note="x" * 5_000))
    assert quality.save(draft, [tag("number", "A")]).status_code == 200
    quality.act(draft, "submit", by="labeler")
    monkeypatch.setattr("app.insight.quality.queries.documents.MAX_BYTES", 5_000)
    (schema_quality,) = quality.read("latest")["schemas"]
    # The tag sets are counted, but not compared.
    assert (schema_quality["throughput"]["submitted"], schema_quality["agreement"]["n"]) == (3, 0)
    monkeypatch.undo()
    quality.rebuild_metrics()
    assert quality.read("latest")["schemas"][0]["agreement"]["n"] == 1


def test_days_follow_the_time_zone(quality: QualityWorkspace) -> None:
    tag_set = quality.label(quality.artifact(), "A")
    quality.move(tag_set, "submit", datetime(2026, 3, 1, 23, 30, tzinfo=UTC))
    days = {str(cell.day) for cell in quality.sql("SELECT day FROM quality_cells")}
    assert days == {"2026-03-01"}
    body = {"settings": {"time_zone": "Asia/Tokyo"}}
    get_data(quality.org.api("admin").patch(f"/organizations/{quality.org.slug}", json=body))
    with transaction_across_organizations(quality.org.app):
        assert quality.org.id in cells.list_outdated_organization_ids()
    quality.rebuild_metrics()
    days = {str(cell.day) for cell in quality.sql("SELECT day FROM quality_cells")}
    assert days == {"2026-03-02"}
    with transaction_across_organizations(quality.org.app):
        assert quality.org.id not in cells.list_outdated_organization_ids()


def test_each_organization_has_separate_jobs(quality: QualityWorkspace) -> None:
    _prepare(quality)
    claimed = claim_jobs_of(quality.org, "quality_counts")
    assert {job.organization_id for job in claimed} == {quality.org.id}
    run_jobs_of(quality.org, "quality_counts")
