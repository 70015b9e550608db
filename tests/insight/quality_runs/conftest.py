"""Fixtures that create answers of labelers, and execute quality runs."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import UUID

import pytest

from app.kit import db
from app.kit.ids import uuid7
from app.schemas.artifact_schemas.models import SchemaVersion
from app.workflow.tag_sets.models import TagSet, TagSetRevision
from tests.factories import Org
from tests.factories.labels import make_field
from tests.factories.orgs import get_data
from tests.factories.workspace import Workspace

FIELDS = [
    make_field(
        "kind",
        "choice",
        options=[{"value": value, "label": value} for value in ("a", "b", "c")],
    ),
    make_field("total", "money"),
    make_field("pages", "integer"),
    make_field("note", "text", multiple=True),
    make_field("clause", "span"),
    make_field("place", "region"),
    make_field("lines", "table", columns=[make_field("item", "text")]),
]
LABELERS = ("labeler", "reviewer", "admin")
"""The members whose answers are compared, unless a test says otherwise."""


def tag(field: str, value: Any, *, row: int | None = None, **evidence: Any) -> dict[str, Any]:
    """Return a tag as it is stored."""
    positions = [{"page": 1, "box": None, "start": None, "end": None, "text": None, **evidence}]
    return {
        "field": field,
        "value": value,
        "row": row,
        "confidence": None,
        "source": "human",
        "evidence": positions if evidence else [],
    }


class Answers:
    """The answers of labelers in one organization, and its quality runs."""

    def __init__(self, org: Org, work: Callable[[], None]) -> None:
        self.org = org
        self.work = work
        self.workspace = Workspace(org)
        self.api = org.api("reviewer")

    def create_schema(self, *, fields: list[dict[str, Any]] | None = None, **policy: Any) -> UUID:
        """Create a schema with one version, and return the schema's id."""
        return self.workspace.schema(fields=FIELDS if fields is None else fields, **policy)

    def create_labeled_schema(self, *rows: str, **policy: Any) -> UUID:
        """Create a schema with documents that `add_choices` labels, and return the schema's id."""
        schema_id = self.create_schema(**policy)
        self.add_choices(schema_id, *rows)
        return schema_id

    def get_version_id(self, schema_id: UUID) -> UUID:
        """Return the id of the current version."""
        statement = "SELECT current_version_id AS id FROM schemas WHERE id = :id"
        return UUID(str(self.workspace.sql(statement, id=schema_id)[0].id))

    def add_version(self, schema_id: UUID, fields: list[dict[str, Any]]) -> UUID:
        """Insert a second version with these fields, and return its id."""
        version = {"id": uuid7(), "number": 2, "fields": fields, "review_policy": {}}
        with self.org.transaction() as session:
            session.add(SchemaVersion(schema_id=schema_id, **version))
        return UUID(str(version["id"]))

    def add_answer(
        self,
        artifact_id: UUID,
        schema_id: UUID,
        by: str | UUID | None,
        *tags: dict[str, Any],
        status: str = "submitted",
        own: list[dict[str, Any]] | None = None,
        **members: Any,
    ) -> UUID:
        """Insert a labeler's tag set. If a reviewer corrected it, `own` has the labeler's tags."""
        now = db.utc_now()
        tag_set = {
            "id": uuid7(),
            "artifact_id": artifact_id,
            "schema_id": schema_id,
            "schema_version_id": members.pop("version_id", None) or self.get_version_id(schema_id),
            "labeler_id": self.org.users[by] if isinstance(by, str) else by,
            "tags": list(tags),
            "status": status,
            "submitted_at": None if status == "draft" else now,
            "decided_at": now if status in ("accepted", "rejected") else None,
            **members,
        }
        with self.org.transaction() as session:
            session.add(TagSet(**tag_set))
            if own is not None:
                session.flush()
                revision = {"tag_set_id": tag_set["id"], "kind": "submit", "number": 2}
                session.add(TagSetRevision(**revision, tags=own, author_id=tag_set["labeler_id"]))
        return UUID(str(tag_set["id"]))

    def add_answered_document(
        self, schema_id: UUID, answers: Mapping[str, Iterable[dict[str, Any]]]
    ) -> UUID:
        """Create a document with answers, which are tags by labeler, and return its id."""
        artifact_id = self.workspace.artifact(schema_id)
        for by, tags in answers.items():
            self.add_answer(artifact_id, schema_id, by, *tags)
        return artifact_id

    def add_corrected_answer(
        self, artifact_id: UUID, schema_id: UUID, by: str, final: dict[str, Any], own: Any
    ) -> None:
        """Insert a labeler's tag set whose tag `own` a reviewer has replaced by `final`."""
        decision = {"reviewer_id": self.org.users["reviewer"], "revision": 3}
        self.add_answer(artifact_id, schema_id, by, final, status="accepted", own=[own], **decision)

    def add_choices(self, schema_id: UUID, *rows: str, **members: Any) -> list[UUID]:
        """Create a document for each row. A letter is a labeler's choice; a dot means no answer."""
        artifact_ids = []
        for row in rows:
            artifact_id = self.workspace.artifact(schema_id)
            for by, choice in zip(LABELERS, row, strict=False):
                if choice != ".":
                    self.add_answer(artifact_id, schema_id, by, tag("kind", choice), **members)
            artifact_ids.append(artifact_id)
        return artifact_ids

    def start(self, schema_id: UUID, **body: Any) -> str:
        """Request a run, and return its id."""
        answer = self.api.post("/quality/compute", {"schema_id": str(schema_id), **body})
        return str(get_data(answer, 202)["id"])

    def get(self, run_id: str, *, by: str = "reviewer") -> dict[str, Any]:
        """Return the current state of a run."""
        return dict(self.read(f"runs/{run_id}", by=by))

    def compute(self, schema_id: UUID, **body: Any) -> dict[str, Any]:
        """Request and execute a run, and return it."""
        run_id = self.start(schema_id, **body)
        self.work()
        run = self.get(run_id)
        assert run["status"] == "completed", run
        return run

    def read(self, path: str, *, by: str = "reviewer", **query: Any) -> Any:
        """Send a GET request, and return the data of the response."""
        return get_data(self.org.api(by).get(f"/quality/{path}", query_string=query))

    def update_run_job(self, change: str) -> None:
        """Update the jobs of the organization's runs."""
        self.workspace.sql(
            f"UPDATE jobs SET {change} WHERE organization_id = :org"
            " AND function = 'quality_runs.run'",
            org=self.org.id,
        )


def get_result(run: dict[str, Any], field: str, metric: str) -> dict[str, Any]:
    """Return the only result of a field and a metric."""
    (result,) = [
        entry for entry in run["results"] if (entry["field"], entry["metric"]) == (field, metric)
    ]
    return dict(result)


@pytest.fixture
def answers(org: Org, work: Callable[[], None]) -> Answers:
    return Answers(org, work)


@pytest.fixture
def other_answers(other_org: Org, work: Callable[[], None]) -> Answers:
    return Answers(other_org, work)
