"""Create schemas, documents and tag sets of one organization."""

import json
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from app.documents.artifacts.models.content import ArtifactText
from app.documents.artifacts.models.documents import Artifact
from app.identity.control_plane import accounts
from app.kit import db
from app.kit.ids import uuid7
from tests.factories.counts import run_sql
from tests.factories.labels import POLICY, insert_records, make_field, make_schema
from tests.factories.orgs import Org, get_data

FIELDS: list[dict[str, Any]] = [
    make_field("number", "text", required=True),
    make_field("total", "money"),
    make_field("note", "text", multiple=True),
    make_field("pages", "integer"),
    make_field("clause", "span"),
    make_field("lines", "table", columns=[make_field("item", "text", required=True)]),
]

TAG_SET_PROPERTIES = {
    "id", "artifact_id", "schema_id", "schema_version_id", "labeler", "reviewer", "source", "tags",
    "tag_count", "status", "submitted_at", "decided_at", "reason", "rejections", "seconds_spent",
    "comment_count", "merged_from", "superseded_by", "provenance", "created_at", "updated_at",
    "revision", "prediction",
}  # fmt: skip
"""The names of the properties of a tag set in a response."""


def counts(**sets: int) -> dict[str, int]:
    """Return the label counts of a document: 0 for each status that is not in `sets`."""
    return {"draft": 0, "submitted": 0, "accepted": 0, "rejected": 0, **sets}


def tag(field: str, value: Any, **properties: Any) -> dict[str, Any]:
    """Return a tag as a client sends it, with other `properties`."""
    return {"field": field, "value": value, **properties}


def rows(*items: str) -> list[dict[str, Any]]:
    """Return the tags of the table `lines`, one row for each item, as a client sends them."""
    return [tag("lines.item", item, row=number) for number, item in enumerate(items)]


class Workspace:
    """The workspace of one organization: its schemas, documents and tag sets."""

    def __init__(self, org: Org) -> None:
        self.org = org

    def schema(
        self, *, fields: list[dict[str, Any]] | None = None, status: str = "active", **policy: Any
    ) -> UUID:
        """Create a schema with one version; return the schema's id. `policy` overrides POLICY."""
        schema_id, _ = make_schema(
            self.org,
            FIELDS if fields is None else fields,
            "Invoices",
            status=status,
            review_policy={**POLICY, **policy},
        )
        return schema_id

    def require_skills(self, schema_id: UUID, *keys: str) -> None:
        """Require skills, which members of teams have, for the documents of a schema."""
        statement = "UPDATE schemas SET required_skill_keys = :keys WHERE id = :id"
        self.sql(statement, keys=list(keys), id=schema_id)

    def artifact(
        self, schema_id: UUID | None = None, *, text: str | None = None, **columns: Any
    ) -> UUID:
        """Create a ready document of two pages, and return its id.

        By default, its text is `text_length` times the letter x, and `text_length` is 1,000.
        `columns` are values for columns of `artifacts`.
        """
        length = len(text) if text is not None else columns.pop("text_length", 1000)
        values = {
            "id": uuid7(),
            "name": "invoice.txt",
            "schema_id": schema_id or self.schema(),
            "media_type": "text/plain",
            "size_bytes": 1000,
            "sha256": uuid7().hex * 2,
            "page_count": 2,
            "text_length": length,
            "status": "ready",
            **columns,
        }
        artifact_id: UUID = values["id"]
        content = {"artifact_id": artifact_id, "text": "x" * length if text is None else text}
        insert_records(self.org, (Artifact, values), (ArtifactText, content))
        return artifact_id

    def draft(self, artifact_id: UUID | None = None, *, by: str = "labeler") -> dict[str, Any]:
        """Create a draft with the API; by default, of a new document."""
        path = f"/artifacts/{artifact_id or self.artifact()}/tag-sets"
        return dict(get_data(self.org.api(by).post(path, json={}), 201))

    def saved(self, artifact_id: UUID | None = None, *, by: str = "labeler") -> dict[str, Any]:
        """Create a draft, save its required field, and return it."""
        draft = self.draft(artifact_id, by=by)
        return dict(get_data(self.save(draft, [tag("number", "A-1")], by=by)))

    def submitted(self, artifact_id: UUID | None = None, *, by: str = "labeler") -> dict[str, Any]:
        """Create a tag set, submit it, and return it."""
        return self.act(self.saved(artifact_id, by=by), "submit", by=by)

    def act(
        self, tag_set: dict[str, Any], action: str, *, by: str = "reviewer", **body: Any
    ) -> dict[str, Any]:
        """Accept, reject, reopen or submit a tag set."""
        path = f"/tag-sets/{tag_set['id']}/{action}"
        return dict(get_data(self.org.api(by).post(path, json=body)))

    def release(self, artifact_id: Any, *, by: str = "labeler") -> None:
        """Release a document with the API."""
        response = self.org.api(by).post(f"/artifacts/{artifact_id}/release", json={})
        assert response.status_code == 200, response.json

    def save(
        self, draft: dict[str, Any], tags: list[Any], *, by: str = "labeler", **body: Any
    ) -> Any:
        """Send a request to save the tags of a draft, and return the response."""
        body = {"tags": tags, "revision": draft["revision"], **body}
        return self.org.api(by).put(f"/tag-sets/{draft['id']}/tags", json=body)

    def mark_tags_as_predicted(self, tag_set: dict[str, Any]) -> None:
        """Set the source of all tags of a draft to `model`, as if they came from a prediction."""
        self.sql(
            'UPDATE tag_sets SET tags = (SELECT jsonb_agg(tag || \'{"source": "model"}\')'
            " FROM jsonb_array_elements(tags) AS tag) WHERE id = :id",
            id=tag_set["id"],
        )
        self.sql(
            "UPDATE tag_set_revisions r SET tags = t.tags FROM tag_sets t"
            " WHERE t.id = :id AND r.tag_set_id = t.id AND r.number = 1",
            id=tag_set["id"],
        )

    def transaction(self) -> AbstractContextManager[Session]:
        """Run the block in a transaction of the organization. Yields the database session."""
        return self.org.transaction()

    def sql(self, statement: str, **values: Any) -> list[Any]:
        """Run a statement in the organization, commit, and return its rows; `:org` is its id."""
        return run_sql(self.org, statement, **values)

    def predict(self, artifact_id: Any, tags: list[Any]) -> str:
        """Store a completed prediction for a document, and return the prediction's id."""
        defaults = {"row": None, "confidence": None, "evidence": [], "source": "model"}
        prediction_id = uuid7()
        self.sql(
            """
            INSERT INTO predictions (organization_id, id, artifact_id, schema_id,
                schema_version_id, status, model, model_version, tags, pages, prompt_tokens,
                completion_tokens, created_at, updated_at, completed_at)
            SELECT d.organization_id, :id, d.id, d.schema_id, s.current_version_id, 'completed',
                'builtin', 'v1', CAST(:tags AS jsonb), 1, 0, 0, clock_timestamp(), now(), now()
            FROM artifacts d
            JOIN schemas s ON s.organization_id = d.organization_id AND s.id = d.schema_id
            WHERE d.id = :artifact_id
            """,
            id=prediction_id,
            artifact_id=artifact_id,
            tags=json.dumps([{**defaults, **tag_} for tag_ in tags]),
        )
        return str(prediction_id)

    def disable(self, name: str) -> None:
        """Disable the account of a user, as the operator does."""
        with self.org.app.app_context(), db.transaction():
            accounts.disable_user(self.org.email(name))

    def settings(self, **settings: Any) -> None:
        """Replace all settings of the organization."""
        statement = "UPDATE organizations SET settings = CAST(:settings AS jsonb) WHERE id = :org"
        self.sql(statement, settings=json.dumps(settings))

    def revisions(self, tag_set_id: str) -> list[Any]:
        """Return (number, kind, author_id, tags, note) of each revision of a tag set."""
        return self.sql(
            "SELECT number, kind, author_id, tags, note FROM tag_set_revisions"
            " WHERE tag_set_id = :id ORDER BY number",
            id=tag_set_id,
        )

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return the data of the organization's events with this name, oldest first."""
        rows = self.sql(
            "SELECT data FROM outbox_events WHERE organization_id = :org AND name = :name"
            " ORDER BY created_at, id",
            name=name,
        )
        return [row.data for row in rows]

    def artifact_row(self, artifact_id: Any) -> Any:
        """Return (status, label_counts, claim_user_id, claim_expires_at) of a document."""
        return self.sql(
            "SELECT status, label_counts, claim_user_id, claim_expires_at FROM artifacts"
            " WHERE id = :id",
            id=str(artifact_id),
        )[0]
