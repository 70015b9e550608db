"""Label and review documents, and read the metrics that follow."""

from datetime import datetime
from typing import Any

from tests.factories.work import run_jobs_of
from tests.factories.workspace import Workspace, tag

CELLS = "SELECT * FROM quality_cells ORDER BY subject, schema_id, name, field_type, day"
SUMS = "SELECT * FROM quality_sums ORDER BY subject, unit, start, name"
DOCUMENTS = "SELECT * FROM quality_documents ORDER BY artifact_id"
NO_RATE = {"value": None, "ci_low": None, "ci_high": None, "n": 0}


class QualityWorkspace(Workspace):
    """A workspace whose metrics are counted before they are read."""

    def count(self) -> None:
        """Run the jobs that count."""
        run_jobs_of(self.org, "quality_counts")

    def read(self, path: str, *, by: str = "viewer") -> Any:
        """Return the data of a response, counted up to now."""
        self.count()
        answer = self.org.api(by).get(f"/quality/{path}")
        assert answer.status_code == 200, answer.json
        return answer.json["data"]

    def label(
        self, artifact: Any, *numbers: str, by: str = "labeler", seconds: int = 60, **other: Any
    ) -> dict[str, Any]:
        """Submit a tag set with a number, and other fields by key."""
        draft = self.draft(artifact, by=by)
        tags = [tag("number", number) for number in numbers]
        tags += [tag(key, value) for key, value in other.items()]
        saved = self.save(draft, tags, by=by, seconds_spent=seconds)
        assert saved.status_code == 200, saved.json
        return self.act(draft, "submit", by=by)

    def act(
        self, tag_set: dict[str, Any], action: str, *, by: str = "reviewer", **body: Any
    ) -> dict[str, Any]:
        """Accept, reject, reopen or submit a tag set."""
        answer = self.org.api(by).post(f"/tag-sets/{tag_set['id']}/{action}", json=body)
        assert answer.status_code == 200, answer.json
        return dict(answer.json["data"])

    def reject(self, tag_set: dict[str, Any], *, to: str = "labeler") -> dict[str, Any]:
        """Reject a tag set."""
        return self.act(tag_set, "reject", reason="Look again.", send_to=to)

    def move(self, tag_set: dict[str, Any], kind: str, at: datetime) -> None:
        """Set the time of the revisions of a kind, and count the document again."""
        self.sql(
            "UPDATE tag_set_revisions SET created_at = :at WHERE tag_set_id = :id AND kind = :kind",
            at=at,
            id=tag_set["id"],
            kind=kind,
        )
        self.recount()

    def recount(self) -> None:
        """Count everything from nothing."""
        from app.insight.quality import service  # noqa: PLC0415
        from app.kit import db, tenancy  # noqa: PLC0415

        with self.org.app.app_context(), tenancy.organization(self.org.id), db.transaction():
            service.rebuild(db.checkpoint)

    def prepare(self) -> None:
        """Run the periodic job that enqueues recounts and sums of all organizations."""
        from app.insight.quality import jobs  # noqa: PLC0415
        from app.kit import db, tenancy  # noqa: PLC0415
        from tests.factories.work import make_job  # noqa: PLC0415

        everything = tenancy.across_organizations(reason="a test runs a periodic job")
        with self.org.app.app_context(), everything, db.transaction():
            jobs.prepare(make_job(None, {}))

    def list_cells(self) -> list[Any]:
        """Return all cells."""
        return [tuple(row) for row in self.sql(CELLS)]

    def list_sums(self) -> list[Any]:
        """Return all sums of cells."""
        return [tuple(row) for row in self.sql(SUMS)]

    def list_documents(self) -> list[Any]:
        """Return the contributions of all documents."""
        return [tuple(row) for row in self.sql(DOCUMENTS)]
