"""Fixtures for drift: a schema with labeled documents from two periods."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
import pytest

from app.engines.drift.model import DriftThresholds, Hypothesis
from app.engines.drift.process import compare_samples, encode_hypothesis, parse_result
from app.insight.drift.service import detecting
from app.kit import db
from app.kit.ids import uuid7
from tests.factories import run_jobs_of
from tests.factories.labels import make_field
from tests.factories.orgs import get_data
from tests.factories.workspace import Workspace


@pytest.fixture(autouse=True)
def _compare_in_process(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Compare samples in this process, because a child process would have to import scipy.

    Tests that use the fixture `child_process` compare samples in a child process.
    """
    if "child_process" not in request.fixturenames:

        def find_drift(hypotheses: Iterable[Hypothesis], thresholds: DriftThresholds) -> list[Any]:
            lines = map(encode_hypothesis, hypotheses)
            return [parse_result(line) for line in compare_samples(lines, thresholds)]

        monkeypatch.setattr(detecting, "find_drift", find_drift)


@pytest.fixture
def child_process() -> None:
    """Compare in a child process, as the service does."""


FIELDS = [
    make_field("kind", "choice", options=[{"value": v, "label": v} for v in ("a", "b", "c")]),
    make_field("total", "money"),
    make_field("day", "date"),
    make_field("note", "text"),
    make_field("lines", "table", columns=[make_field("item", "text")]),
]
_DAY = timedelta(days=1)

_INSERT = """
WITH given AS (
    SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given
        (artifact_id uuid, tag_set_id uuid, labeler_id uuid, tags jsonb, at timestamptz, kind text)
), artifact AS (
    INSERT INTO artifacts (organization_id, id, name, schema_id, metadata, priority, gold, archived,
        media_type, size_bytes, sha256, text_length, status, assignees, label_counts, created_at,
        updated_at, revision)
    SELECT :org, artifact_id, 'a.txt', :schema, '{}', 50, false, false, 'text/plain', 1,
        encode(sha256(convert_to(CAST(artifact_id AS text), 'UTF8')), 'hex'), 1, 'done', '[]',
        '{"draft": 0, "submitted": 0, "accepted": 1, "rejected": 0}', at, at, 1
    FROM given
), tag_set AS (
    INSERT INTO tag_sets (organization_id, id, artifact_id, schema_id, schema_version_id,
        labeler_id, reviewer_id, source, tags, status, submitted_at, decided_at, seconds_spent,
        comment_count, rejections, review_rank, escalated, flags, created_at, updated_at, revision)
    SELECT :org, tag_set_id, artifact_id, :schema, :version, labeler_id, :reviewer, 'human', tags,
        CASE WHEN kind = 'reject' THEN 'rejected' ELSE 'accepted' END, at, at, 30, 0, 0, 0, false,
        '[]', at, at, 2
    FROM given
)
INSERT INTO tag_set_revisions
    (organization_id, tag_set_id, number, tags, author_id, kind, schema_id, created_at)
SELECT :org, tag_set_id, 2, '[]', :reviewer, kind, :schema, at FROM given
"""

_PREDICT = """
INSERT INTO prediction_feedback (organization_id, id, artifact_id, schema_id, field, model, outcome,
    confidence, tag_set_id, labeler_id, day, accepted_revision, position, created_at)
SELECT t.organization_id, gen_random_uuid(), t.artifact_id, t.schema_id, :field, 'builtin',
    given.outcome, given.confidence, t.id, t.labeler_id, CAST(t.decided_at AS date), 2, 0, now()
FROM jsonb_to_recordset(CAST(:rows AS jsonb))
    AS given (tag_set_id uuid, outcome text, confidence int)
JOIN tag_sets t ON t.id = given.tag_set_id
"""


@dataclass
class Labeling:
    """A schema, with methods that insert decided tag sets and run detections."""

    workspace: Workspace
    schema_id: UUID
    now: datetime

    def ago(self, days: float) -> datetime:
        """Return the time `days` days ago."""
        return self.now - days * _DAY

    def add(
        self,
        start: float,
        end: float,
        values: Sequence[dict[str, Any]],
        *,
        by: Sequence[str] = ("labeler",),
        kinds: Sequence[str] = ("accept",),
        version_id: UUID | None = None,
    ) -> list[UUID]:
        """Insert a tag set for each of `values`, decided `start` to `end` days ago; return ids."""
        org, rows = self.workspace.org, []
        for number, field_values in enumerate(values):
            tags = [
                {"field": key, "value": value, "row": None} for key, value in field_values.items()
            ]
            at = self.ago(start - (start - end) * (number + 0.5) / len(values))
            rows.append(
                {
                    "artifact_id": uuid7(),
                    "tag_set_id": uuid7(),
                    "labeler_id": org.users[by[number % len(by)]],
                    "tags": tags,
                    "at": at,
                    "kind": kinds[number % len(kinds)],
                }
            )
        self.workspace.sql(
            _INSERT,
            rows=orjson.dumps(rows).decode(),
            org=org.id,
            schema=self.schema_id,
            version=version_id or self.version_id,
            reviewer=org.users["reviewer"],
        )
        return [UUID(str(row["tag_set_id"])) for row in rows]

    def add_choices(self, *periods: tuple[float, float, tuple[int, ...]]) -> None:
        """Insert tag sets of periods, given by their start, end (days ago) and choice counts."""
        for start, end, counts in periods:
            self.add(start, end, build_kind_values(*counts))

    def add_shift(self) -> None:
        """Insert tag sets in which the most frequent choice changes a week ago."""
        self.add_choices((35, 7, (200, 100)), (7, 0, (50, 100)))

    def predict(
        self, tag_set_ids: Sequence[UUID], field: str, *, correct: float, confidence: float
    ) -> None:
        """Record a model's predictions for a field.

        The fraction `correct` of the predictions is correct; the others are corrected. The
        confidences are spread around the mean `confidence`.
        """
        correct_count = round(correct * len(tag_set_ids))
        rows = [
            {
                "tag_set_id": tag_set_id,
                "outcome": "correct" if number < correct_count else "corrected",
                "confidence": round(1e6 * (confidence + (number % 11 - 5) * 0.008)),
            }
            for number, tag_set_id in enumerate(tag_set_ids)
        ]
        self.workspace.sql(_PREDICT, rows=orjson.dumps(rows).decode(), field=field)

    @property
    def version_id(self) -> UUID:
        """Return the id of the schema's current version."""
        sql = "SELECT current_version_id AS id FROM schemas WHERE id = :id"
        version_id: UUID = self.workspace.sql(sql, id=self.schema_id)[0].id
        return version_id

    def build_period(self, start: float, end: float) -> dict[str, str]:
        """Return a period as a client sends it. `start` and `end` are numbers of days ago."""
        return {"from": self.ago(start).isoformat(), "to": self.ago(end).isoformat()}

    def request(self, *, role: str = "reviewer", status: int = 202, **body: Any) -> dict[str, Any]:
        """Request a detection, and return the response's data or error."""
        api = self.workspace.org.api(role)
        answer = api.post("/quality/drift/detect", {"schema_id": str(self.schema_id), **body})
        assert answer.status_code == status, answer.json
        return dict(answer.json.get("data") or answer.json["error"])

    def detect(self, **body: Any) -> list[dict[str, Any]]:
        """Run a detection, and return the reports that it created or confirmed."""
        detection = self.request(**body)
        run_jobs_of(self.workspace.org, "drift")
        return self.list_reports(f"detection_id={detection['id']}")

    def list_reports(self, query: str = "", *, role: str = "reviewer") -> list[dict[str, Any]]:
        """Return the reports that match a query string without `?`."""
        return list(get_data(self.workspace.org.api(role).get(f"/quality/drift?{query}")))

    def acknowledge(self, report: dict[str, Any], *, status: int = 200) -> dict[str, Any]:
        """Acknowledge a report, and return the response's data or error."""
        path = f"/quality/drift/{report['id']}/acknowledge"
        answer = self.workspace.org.api("reviewer").post(path)
        assert answer.status_code == status, answer.json
        return dict(answer.json.get("data") or answer.json["error"])


def build_kind_values(a: int, b: int, c: int = 0) -> list[dict[str, Any]]:
    """Return `a`, `b` and `c` times the choices a, b and c, in a fixed, mixed order."""
    values = [{"kind": "a"}] * a + [{"kind": "b"}] * b + [{"kind": "c"}] * c
    return [values[(n * 7919) % len(values)] for n in range(len(values))]


@pytest.fixture
def labeling(workspace: Workspace) -> Labeling:
    """Return a schema without tag sets."""
    return Labeling(workspace, workspace.schema(fields=FIELDS), db.utc_now())
