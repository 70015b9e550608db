"""Label and review documents, and read the resulting quality metrics."""

from datetime import datetime
from typing import Any

from app.kit import db
from tests.factories.orgs import get_data, transaction_across_organizations
from tests.factories.work import make_job, run_jobs_of
from tests.factories.workspace import Workspace, tag

CELLS = "SELECT * FROM quality_cells ORDER BY subject, schema_id, name, field_type, day"
SUMS = "SELECT * FROM quality_sums ORDER BY subject, unit, start, name"
DOCUMENTS = "SELECT * FROM quality_documents ORDER BY artifact_id"
NO_RATE = {"value": None, "ci_low": None, "ci_high": None, "n": 0}


class QualityWorkspace(Workspace):
    """A workspace that updates the quality metrics before it reads them."""

    def update_metrics(self) -> None:
        """Run the due jobs that update the quality metrics."""
        run_jobs_of(self.org, "quality_counts")

    def read(self, path: str, *, by: str = "viewer") -> Any:
        """Update the metrics, send a GET request, and return the data of the response."""
        self.update_metrics()
        return get_data(self.org.api(by).get(f"/quality/{path}"))

    def label(
        self, artifact: Any, *numbers: str, by: str = "labeler", seconds: int = 60, **values: Any
    ) -> dict[str, Any]:
        """Create and submit a tag set.

        `numbers` are the values of the field `number`; `values` are those of other fields by key.
        """
        draft = self.draft(artifact, by=by)
        tags = [tag("number", number) for number in numbers]
        tags += [tag(key, value) for key, value in values.items()]
        saved = self.save(draft, tags, by=by, seconds_spent=seconds)
        assert saved.status_code == 200, saved.json
        return self.act(draft, "submit", by=by)

    def reject(self, tag_set: dict[str, Any], *, to: str = "labeler") -> dict[str, Any]:
        """Reject a tag set, and send it to its labeler or to the pool."""
        return self.act(tag_set, "reject", reason="Look again.", send_to=to)

    def move(self, tag_set: dict[str, Any], kind: str, at: datetime) -> None:
        """Set the time of the tag set's revisions of type `kind`, and rebuild the metrics."""
        self.sql(
            "UPDATE tag_set_revisions SET created_at = :at WHERE tag_set_id = :id AND kind = :kind",
            at=at,
            id=tag_set["id"],
            kind=kind,
        )
        self.rebuild_metrics()

    def rebuild_metrics(self) -> None:
        """Rebuild all quality metrics of the organization."""
        from app.insight.quality.service import updating  # noqa: PLC0415

        with self.transaction():
            updating.rebuild(db.checkpoint)

    def prepare(self) -> None:
        """Run the periodic job that enqueues recounts and sums of all organizations."""
        from app.insight.quality import jobs  # noqa: PLC0415

        with transaction_across_organizations(self.org.app):
            jobs.enqueue_repairs(make_job(None, {}))

    def list_cells(self) -> list[Any]:
        """Return the rows of `quality_cells`."""
        return [tuple(row) for row in self.sql(CELLS)]

    def list_sums(self) -> list[Any]:
        """Return the rows of `quality_sums`, which are sums of cells."""
        return [tuple(row) for row in self.sql(SUMS)]

    def list_documents(self) -> list[Any]:
        """Return the rows of `quality_documents`, which are the documents' contributions."""
        return [tuple(row) for row in self.sql(DOCUMENTS)]
