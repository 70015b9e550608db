"""Create organizations with thousands of documents in a running service."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import UUID, uuid4

import requests
from sqlalchemy import Engine, create_engine, insert, make_url, text

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
    'human', CAST(:tags AS jsonb), 'submitted', now(), 30, 0, 0, 0, false, '[]',
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
    """An organization. `call` sends requests as its admin. In SQL, `:org` is its id."""

    def __init__(self, service: Service, engine: Engine, slug: str) -> None:
        self.service = service
        self.engine = engine
        self.slug = slug
        service.headers["X-Org-Slug"] = slug
        self.org = ""
        self.org = str(self.get_value(f"SELECT id FROM organizations WHERE slug = '{slug}'"))

    def call(self, method: str, path: str, **kwargs: Any) -> Any:
        """Send a request, with retries while the service is busy, and return the data."""
        return _call_with_retries(self.service, method, path, **kwargs).json()["data"]

    def sql(self, statement: str, **values: Any) -> list[Any]:
        """Run a statement in its own transaction, and return its rows."""
        with self.engine.begin() as connection:
            connection.execute(text("SET LOCAL app.all_organizations = 'on'"))
            result = connection.execute(text(statement), {"org": self.org, **values})
            return list(result) if result.returns_rows else []

    def get_value(self, statement: str, **values: Any) -> Any:
        """Run a statement, and return its single value."""
        ((value,),) = self.sql(statement, **values)
        return value

    def insert(self, *records: tuple[type[Any], list[dict[str, Any]]]) -> None:
        """Insert records of several models in one transaction."""
        with self.engine.begin() as connection:
            connection.execute(text("SET LOCAL app.all_organizations = 'on'"))
            for model, rows in records:
                connection.execute(insert(model), rows)

    def count(self, table: str) -> int:
        """Return the number of rows that the organization has in a table."""
        return int(self.get_value(f"SELECT count(*) FROM {table} WHERE organization_id = :org"))

    def is_database_ready(self) -> bool:
        """Return whether PostgreSQL accepts connections."""
        # After a kill of PostgreSQL, an old connection may still work for one statement.
        self.engine.dispose()
        with suppress(Exception):
            return bool(self.get_value("SELECT true"))
        return False

    def create_schema(self) -> UUID:
        """Create a schema that requires one tag set per document, and a review of every tag set."""
        policy = {"labels_per_artifact": 1, "sample_rate": 1.0, "max_rejections": None}
        body = {"name": "Invoices", "document_type": "invoice", "fields": _FIELDS}
        schema = self.call("POST", "/schemas", json={**body, "review_policy": policy})
        for action in ("publish", "activate"):
            self.call("POST", f"/schemas/{schema['id']}/{action}", json={})
        return UUID(schema["id"])

    def create_labelers(self, number: int) -> list[UUID]:
        """Create `number` labelers without passwords, and return their ids."""
        ids = [uuid7() for _ in range(number)]
        users = [{"id": id_, "email": f"{id_}@site.example", "name": "Labeler"} for id_ in ids]
        members = [{"organization_id": self.org, "user_id": id_, "role": "labeler"} for id_ in ids]
        self.insert((User, users), (Membership, members))
        return ids

    def create_documents(self, number: int, *, schema_id: UUID | None = None, age: int = 0) -> None:
        """Create ready documents without files, `age` days old."""
        self.sql(_DOCUMENTS, schema=schema_id, number=number, age=age)

    def create_texts(self) -> None:
        """Create a text for each document, so that it is indexed."""
        self.sql(_TEXTS)

    def create_submitted_tag_sets(self, labeler: UUID) -> None:
        """Create a submitted tag set of `labeler` for each document of the organization."""
        self.insert_tag_sets(labeler, field="number", value="A-1")
        for statement in (_FIRST_REVISIONS, _WAIT_FOR_REVIEW):
            self.sql(statement, labeler=labeler)

    def insert_tag_sets(self, labeler: UUID, **tag: Any) -> None:
        """Insert only a row of a submitted tag set for each document, with one tag."""
        self.sql(_SUBMITTED, labeler=labeler, tags=json.dumps([tag]))

    def insert_job(self, function: str, *, org: str | None = None) -> UUID:
        """Insert a due job, as the schedule does, and return its id."""
        job_id = uuid7()
        self.sql(_JOB, id=job_id, org=org, function=function)
        return job_id

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return the data of the organization's events with a name, oldest first."""
        statement = (
            "SELECT data FROM outbox_events WHERE organization_id = :org AND name = :name"
            " ORDER BY created_at, id"
        )
        return [row.data for row in self.sql(statement, name=name)]

    def find_job(self, function: str) -> Any:
        """Return id, status, attempts and interruptions of a function's latest job."""
        (job,) = self.sql(
            "SELECT id, status, attempts, interruptions FROM jobs WHERE organization_id = :org"
            " AND function = :function ORDER BY created_at DESC LIMIT 1",
            function=function,
        )
        return job

    def check_no_attempts(self, function: str) -> None:
        """Check that the latest job with this function has no counted attempts."""
        assert self.find_job(function).attempts == 0, "a kill does not count as an attempt"

    def turnstile(self, table: str, *, sql_part: str = "") -> Turnstile:
        """Return a turnstile that stops the service's processes before they write to a table."""
        return Turnstile(self.service.processes, self.engine, table, sql_part)

    def expire_lease(self, job_id: UUID) -> None:
        """Expire the lease of a job, as happens minutes after its worker was killed."""
        self.sql("UPDATE jobs SET leased_until = now() WHERE id = :id", id=job_id)

    def resume_job(self, job_id: UUID) -> None:
        """Expire the lease of a job whose worker was killed, and wait until it is completed."""
        self.expire_lease(job_id)
        status = "SELECT status FROM jobs WHERE id = :id"
        wait_until(lambda: self.get_value(status, id=job_id) == "completed", "the job to be done")

    def wait_for_end(self, path: str) -> Any:
        """Wait until a record has ended, and return it."""
        return wait_until(lambda: self._find_ended(path), f"the end of {path}")

    def _find_ended(self, path: str) -> Any:
        record = self.call("GET", path)
        return record if record["finished_at"] else None


@contextmanager
def create_site(service: Service, name: str) -> Iterator[Site]:
    """Create an organization in the service."""
    url = make_url(service.environment()["DATABASE_URL"]).set(drivername="postgresql+psycopg2")
    # PostgreSQL may be killed, so a connection is tested before it is used again. A new connection
    # for each statement would take as much time as all other steps of a test.
    engine = create_engine(
        url, pool_pre_ping=True, json_serializer=lambda value: json.dumps(value, default=str)
    )
    service.headers.pop("X-Org-Slug", None)
    response = _call_with_retries(service, "POST", "/organizations", json={"name": name})
    try:
        yield Site(service, engine, response.json()["data"]["slug"])
    finally:
        engine.dispose()


def _call_with_retries(
    service: Service, method: str, path: str, **kwargs: Any
) -> requests.Response:
    """Repeat a request while the response is 503.

    After an outage of PostgreSQL, each old connection of the service fails once.
    """
    headers = {"Idempotency-Key": str(uuid4())}
    responses: list[requests.Response] = []

    def has_response() -> bool:
        responses.append(service.call(method, path, headers=headers, **kwargs))
        return responses[-1].status_code != 503

    wait_until(has_response, f"a response to {method} {path}")
    assert responses[-1].ok, responses[-1].text
    return responses[-1]
