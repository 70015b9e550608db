"""Organizations with work by the thousand in a running service, made by PostgreSQL itself."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import requests
from sqlalchemy import Engine, NullPool, create_engine, insert, make_url, text

from app.identity.organizations.models import Membership
from app.identity.users.models import User
from app.kit.ids import uuid7
from tests.factories.waiting import wait_until
from tests.faults.conftest import Service
from tests.faults.turnstile import Turnstile

_FIELDS = [{"key": "number", "type": "text", "required": True}]
_DOCUMENTS = """
INSERT INTO artifacts (organization_id, id, name, schema_id, metadata, priority, gold, archived,
    media_type, size_bytes, sha256, page_count, language, text_length, status, assignees,
    label_counts, created_at, updated_at, revision)
SELECT :org, gen_random_uuid(), 'document ' || i, :schema, '{}', 50, false, false, 'text/plain',
    100, encode(sha256(convert_to(:org || ' ' || i, 'UTF8')), 'hex'), 1, 'en', 100, 'ready', '[]',
    '{"draft": 0, "submitted": 0, "accepted": 0, "rejected": 0}',
    now() - make_interval(days => :age) + i * interval '1 millisecond', now(), 1
FROM generate_series(1, :number) AS i
"""
_TEXTS = """
INSERT INTO artifact_texts (organization_id, artifact_id, text)
SELECT organization_id, id, 'Two rents of ' || name FROM artifacts WHERE organization_id = :org
"""
_SUBMITTED = """
INSERT INTO tag_sets (organization_id, id, artifact_id, schema_id, schema_version_id, labeler_id,
    source, tags, status, submitted_at, seconds_spent, comment_count, rejections, review_rank,
    escalated, flags, created_at, updated_at, revision)
SELECT :org, gen_random_uuid(), document.id, schemas.id, schemas.current_version_id, :labeler,
    'human', '[{"field": "number", "value": "A-1"}]', 'submitted', now(), 30, 0, 0, 0, false, '[]',
    now(), now(), 1
FROM artifacts document JOIN schemas
  ON schemas.organization_id = :org AND schemas.id = document.schema_id
WHERE document.organization_id = :org
"""
_FIRST_REVISIONS = """
INSERT INTO tag_set_revisions (organization_id, tag_set_id, number, tags, author_id, kind,
    created_at)
SELECT :org, id, 1, tags, labeler_id, 'submit', now() FROM tag_sets WHERE organization_id = :org
"""
_WAIT_FOR_REVIEW = """
UPDATE artifacts SET status = 'in_review', labeled_by = ARRAY[CAST(:labeler AS uuid)],
    label_counts = '{"draft": 0, "submitted": 1, "accepted": 0, "rejected": 0}'
WHERE organization_id = :org
"""
_JOB = """
INSERT INTO jobs (id, organization_id, queue, function, args, status, due_at)
VALUES (:id, :org, 'default', :function, '{}', 'queued', now())
"""


class Site:
    """An organization, spoken to as its admin and by SQL, where `:org` is its id."""

    def __init__(self, service: Service, engine: Engine, slug: str) -> None:
        self.service = service
        self.engine = engine
        self.slug = slug
        service.headers["X-Org-Slug"] = slug
        self.org = ""
        self.org = str(self.one(f"SELECT id FROM organizations WHERE slug = '{slug}'"))

    def call(self, method: str, path: str, **kwargs: Any) -> Any:
        """The data of an answer that is no refusal; asked for again where the service is busy."""
        return _patient(self.service, method, path, **kwargs).json()["data"]

    def sql(self, statement: str, **values: Any) -> list[Any]:
        """Rows of a statement, in a transaction of its own."""
        with self.engine.begin() as connection:
            connection.execute(text("SET LOCAL app.all_organizations = 'on'"))
            found = connection.execute(text(statement), {"org": self.org, **values})
            return list(found) if found.returns_rows else []

    def one(self, statement: str, **values: Any) -> Any:
        """The single value of a statement."""
        ((value,),) = self.sql(statement, **values)
        return value

    def schema(self) -> UUID:
        """A schema that wants one label set a document, all of them reviewed."""
        policy = {"labels_per_artifact": 1, "sample_rate": 1.0, "max_rejections": None}
        body = {"name": "Invoices", "document_type": "invoice", "fields": _FIELDS}
        made = self.call("POST", "/schemas", json={**body, "review_policy": policy})
        for act in ("publish", "activate"):
            self.call("POST", f"/schemas/{made['id']}/{act}", json={})
        return UUID(made["id"])

    def labelers(self, number: int) -> list[UUID]:
        """Members who label, and never sign in."""
        ids = [uuid7() for _ in range(number)]
        users = [{"id": one, "email": f"{one}@site.example", "name": "Labeler"} for one in ids]
        members = [{"organization_id": self.org, "user_id": one, "role": "labeler"} for one in ids]
        with self.engine.begin() as connection:
            connection.execute(text("SET LOCAL app.all_organizations = 'on'"))
            connection.execute(insert(User), users)
            connection.execute(insert(Membership), members)
        return ids

    def documents(self, number: int, *, schema_id: UUID | None = None, age: int = 0) -> None:
        """Documents that are ready, `age` days old; without files."""
        self.sql(_DOCUMENTS, schema=schema_id, number=number, age=age)

    def texts(self) -> None:
        """A text for each document, which is indexed with it."""
        self.sql(_TEXTS)

    def submitted(self, labeler: UUID) -> None:
        """A label set for each document that waits for a review."""
        for statement in (_SUBMITTED, _FIRST_REVISIONS, _WAIT_FOR_REVIEW):
            self.sql(statement, labeler=labeler)

    def job(self, function: str, *, org: str | None = None) -> UUID:
        """What the schedule starts when the time has come."""
        made = uuid7()
        self.sql(_JOB, id=made, org=org, function=function)
        return made

    def events(self, name: str) -> list[dict[str, Any]]:
        """The data of the organization's events of a name, the oldest first."""
        statement = (
            "SELECT data FROM outbox_events WHERE organization_id = :org AND name = :name"
            " ORDER BY created_at, id"
        )
        return [row.data for row in self.sql(statement, name=name)]

    def find_job(self, function: str) -> Any:
        """Return id, status, attempts and interruptions of a function's latest job."""
        (found,) = self.sql(
            "SELECT id, status, attempts, interruptions FROM jobs WHERE organization_id = :org"
            " AND function = :function ORDER BY created_at DESC LIMIT 1",
            function=function,
        )
        return found

    def turnstile(self, table: str, *, saying: str = "") -> Turnstile:
        """Stops the service's processes when they come to write to a table."""
        return Turnstile(self.service.processes, self.engine, table, saying)

    def lease_runs_out(self, job_id: UUID) -> None:
        """As it does minutes after the death of the worker that had it."""
        self.sql("UPDATE jobs SET leased_until = now() WHERE id = :id", id=job_id)

    def completed(self, job_id: UUID) -> None:
        """Wait until a job is done."""
        status = "SELECT status FROM jobs WHERE id = :id"
        wait_until(lambda: self.one(status, id=job_id) == "completed", "the job to be done")


@contextmanager
def site(service: Service, name: str) -> Iterator[Site]:
    """A new organization in the service."""
    url = make_url(service.environment()["DATABASE_URL"]).set(drivername="postgresql+psycopg2")
    # Without a pool: PostgreSQL may be ended under it.
    engine = create_engine(
        url, poolclass=NullPool, json_serializer=lambda value: json.dumps(value, default=str)
    )
    service.headers.pop("X-Org-Slug", None)
    made = _patient(service, "POST", "/organizations", json={"name": name}).json()["data"]
    try:
        yield Site(service, engine, made["slug"])
    finally:
        engine.dispose()


def _patient(service: Service, method: str, path: str, **kwargs: Any) -> requests.Response:
    """As a client does it: after an outage of PostgreSQL each connection to it fails once more."""
    headers = {"Idempotency-Key": str(uuid4())}
    answers: list[requests.Response] = []

    def answered() -> bool:
        answers.append(service.call(method, path, headers=headers, **kwargs))
        return answers[-1].status_code != 503

    wait_until(answered, f"an answer to {method} {path}")
    assert answers[-1].ok, answers[-1].text
    return answers[-1]
