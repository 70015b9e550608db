"""Create tag sets that start from predictions, and read the feedback on the predictions."""

from typing import Any

import orjson

from app.kit.ids import uuid7
from tests.factories.orgs import Org, get_data
from tests.factories.work import run_jobs_of
from tests.factories.workspace import Workspace


def make_predicted_tag(
    field: str, value: Any, confidence: float | None = 0.9, **overrides: Any
) -> Any:
    """Return a predicted tag in normal form; `overrides` replaces other properties."""
    tag = {"field": field, "value": value, "row": None, "confidence": confidence}
    return {**tag, "source": "model", "evidence": [], **overrides}


class Assisted:
    """Creates tag sets from predictions in an organization, and reads the recorded feedback."""

    def __init__(self, org: Org) -> None:
        self.org = org
        self.workspace = Workspace(org)

    def draft(
        self, tags: list[Any], *, artifact_id: Any = None, model: str = "m-1", by: str = "labeler"
    ) -> dict[str, Any]:
        """Create a draft as if it had started from a prediction with these tags."""
        draft = self.workspace.draft(artifact_id, by=by)
        self.workspace.sql(
            "UPDATE tag_sets SET tags = CAST(:tags AS jsonb), prediction_id = :prediction,"
            " prediction_model_version = :model WHERE id = :id",
            tags=orjson.dumps(tags).decode(),
            prediction=uuid7(),
            model=model,
            id=draft["id"],
        )
        self.workspace.sql(
            "UPDATE tag_set_revisions SET tags = CAST(:tags AS jsonb) WHERE tag_set_id = :id",
            tags=orjson.dumps(tags).decode(),
            id=draft["id"],
        )
        return draft

    def save(self, draft: dict[str, Any], tags: list[Any], *, by: str = "labeler") -> None:
        """Save the tags of a draft."""
        get_data(self.workspace.save(draft, tags, by=by))

    def submit(self, draft: dict[str, Any], *, by: str = "labeler") -> None:
        """Submit a draft."""
        self.workspace.act(draft, "submit", by=by)

    def accept(self, draft: dict[str, Any], **body: Any) -> None:
        """Submit a draft, and accept it. `body` is the request body of the review decision."""
        self.submit(draft)
        self.workspace.act(draft, "accept", **body)

    def record(self) -> None:
        """Run the jobs that record feedback."""
        run_jobs_of(self.org, "bulk")

    def summary(self, query: str = "", *, by: str = "viewer") -> dict[str, Any]:
        """Return the summary of all feedback; `query` is empty or begins with `?`."""
        return self.read(f"/feedback/summary{query}", by=by)

    def by_field(self, query: str = "", *, by: str = "viewer") -> dict[str, Any]:
        """Return the summary of the feedback by field; `query` is empty or begins with `?`."""
        return self.read(f"/feedback/summary/fields{query}", by=by)

    def read(self, path: str, *, by: str = "viewer") -> Any:
        """Send a GET request, and return the data of the response."""
        return get_data(self.org.api(by).get(path))

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the feedback, sorted by tag set and position, without its ids and timestamps."""
        rows = self.workspace.sql(
            "SELECT artifact_id, field, row, model, outcome, confidence, bin, tag_set_id,"
            " labeler_id, day, accepted_revision, position FROM prediction_feedback"
            " WHERE organization_id = :org ORDER BY tag_set_id, position, field, id"
        )
        return [tuple(row) for row in rows]


def count_outcomes(figures: dict[str, Any]) -> tuple[int, ...]:
    """Return the numbers of correct, corrected, missed and spurious values."""
    return tuple(figures[name] for name in ("correct", "corrected", "missed", "spurious"))
