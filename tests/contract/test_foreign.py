"""Generated over every operation on a record: another organization's record answers, byte for byte,
like one that never was; and stays as it is."""

import re
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from marshmallow import Schema, fields
from sqlalchemy import select, text

from app.delivery.exports.models import Export
from app.delivery.scheduled_exports.models import ScheduledExport
from app.delivery.webhooks.models import Delivery, Webhook
from app.documents.artifacts.models.documents import Artifact
from app.identity.api_keys.models import ApiKey
from app.identity.invitations.models import Invitation
from app.identity.teams.models import Team, TeamMember
from app.insight.quality_runs.models import QualityRun
from app.intake.connectors.models import Connector, ConnectorAlert
from app.intake.ingestion_jobs.models import IngestionJob
from app.kit import db, tenancy
from app.kit.api.declarations import Operation
from app.kit.ids import uuid7
from app.workflow.comments.models import TagSetComment
from app.workflow.routing_rules.models import RoutingRule
from app.workflow.tag_sets.models import TagSet
from tests.contract.conftest import OPERATIONS, name_operation
from tests.factories import Org, make_org
from tests.factories.drift import insert_drift_reports
from tests.factories.invoices import insert_invoices
from tests.factories.labels import make_labeled

ON_RECORDS = [
    op
    for op in OPERATIONS
    if re.search(r"{\w+_id}", op.path) and op.in_organization and not op.text_ids
]
BODIES: dict[str, dict[str, Any]] = {
    "update_artifact": {"name": "x"},
    "update_schema": {"name": "x", "revision": 1},
    "update_webhook": {"description": "x"},
    "create_tag_set": {"from": "empty"},
    "update_member": {"role": "viewer"},
    "assign_artifact": {"user_ids": []},
    "escalate_review_item": {"user_id": str(uuid7()), "reason": "x"},
}
"""Bodies that change something, where no member is required or one of several is."""


def _make_body(schema: Schema) -> dict[str, Any]:
    """Return a body of the required members and the revision."""
    return {
        name: _make_value(field)
        for name, field in schema.load_fields.items()
        if field.required or name == "revision"
    }


def _make_value(field: fields.Field[Any]) -> Any:
    match field:
        case fields.List():
            return [_make_value(field.inner)] if isinstance(field.inner, fields.UUID) else []
        case fields.UUID():
            return str(uuid7())
        case fields.Boolean():
            return True
        case fields.Integer():
            return 1
        case _:
            return "x"


def _create_records(org: Org) -> dict[str, UUID]:
    """One record of each kind, by the name of the path parameter that means it."""
    labeled = make_labeled(org, 1)
    (report_id,) = insert_drift_reports(org, labeled.schema_id, 1)
    invoice_id = insert_invoices(org)[0]
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        webhook = Webhook(url="https://example.com/", events=["export.completed"], secret="x")
        export = Export(format="jsonl", status="completed", created_by=org.users["owner"])
        maker = org.users["owner"]
        key = ApiKey(name="x", prefix=uuid7().hex, key_hash="x", role="viewer", created_by=maker)
        team = Team(name="x")
        invitation = Invitation(
            email="x@test.example",
            email_key="x@test.example",
            role="viewer",
            token_hash=uuid7().hex,
            expires_at=db.utc_now() + timedelta(days=7),
        )
        ingestion = IngestionJob(kind="import", name="x.jsonl", source_key="x", status="running")
        connector = Connector(name="x", type="local", created_by=maker)
        session.add_all([webhook, export, key, team, invitation, ingestion, connector])
        session.flush()
        delivery = Delivery(
            webhook_id=webhook.id,
            event_id=uuid7(),
            event="export.completed",
            body=b"{}",
            status="abandoned",
            next_attempt_at=None,
        )
        tag_set = session.scalars(select(TagSet.id)).one()
        comment = uuid7()
        said = {"tag_set_id": tag_set, "thread_id": comment, "author_id": maker, "body": "x"}
        session.add(TagSetComment(id=comment, **said))
        rule = RoutingRule(name="x", position=1, conditions={"all": []}, priority=1)
        alert = ConnectorAlert(connector_id=connector.id, kind="crawl_failed", message="x")
        recurring = ScheduledExport(
            name="x",
            format="jsonl",
            cron="0 6 * * *",
            time_zone="UTC",
            destination="download",
        )
        member = TeamMember(team_id=team.id, user_id=maker)
        run = QualityRun(schema_id=labeled.schema_id, ends_at=db.utc_now())
        session.add_all([delivery, rule, alert, recurring, member, run])
        session.flush()
        return {
            "report_id": UUID(report_id),
            "invoice_id": UUID(invoice_id),
            "schema_id": labeled.schema_id,
            "version_id": labeled.version_id,
            "artifact_id": session.scalars(select(Artifact.id)).one(),
            "tag_set_id": tag_set,
            "comment_id": comment,
            "item_id": tag_set,
            "webhook_id": webhook.id,
            "delivery_id": delivery.id,
            "job_id": export.id,
            "export_id": recurring.id,
            "ingestion_job_id": ingestion.id,
            "connector_id": connector.id,
            "alert_id": alert.id,
            "key_id": key.id,
            "team_id": team.id,
            "user_id": maker,
            "invitation_id": invitation.id,
            "rule_id": rule.id,
            "run_id": run.id,
        }


def _read_rows(org: Org) -> dict[str, Any]:
    """All rows of an organization, table by table."""
    rows_by_table = {}
    with org.app.app_context(), tenancy.organization(org.id):
        for table in sorted(tenancy.TENANT_TABLES):
            sql = text(f"SELECT t::text FROM {table} t WHERE organization_id = :o ORDER BY 1")
            rows_by_table[table] = db.session().scalars(sql, {"o": org.id}).all()
    return rows_by_table


@pytest.fixture(scope="module")
def org(app: Flask) -> Org:
    """Create the organization whose requests are all refused."""
    return make_org(app)


@pytest.fixture(scope="module")
def other_org(app: Flask) -> Org:
    return make_org(app)


@pytest.fixture(scope="module")
def contents(other_org: Org, foreign: dict[str, UUID]) -> dict[str, Any]:
    """Return the rows of the other organization as the latest test has left them."""
    return _read_rows(other_org)


@pytest.fixture(scope="module")
def foreign(other_org: Org) -> dict[str, UUID]:
    return _create_records(other_org)


@pytest.mark.parametrize("op", ON_RECORDS, ids=name_operation)
def test_a_foreign_record_answers_like_none(
    op: Operation,
    org: Org,
    other_org: Org,
    foreign: dict[str, UUID],
    contents: dict[str, Any],
) -> None:
    def send(records: dict[str, UUID]) -> Any:
        path = op.path.replace("{org_slug}", org.slug)
        own = {**records, "job_id": records["ingestion_job_id"]}
        known = own if op.path.startswith("/ingestion-jobs") else records
        path = re.sub(r"{(\w+_id)}", lambda m: str(known[m[1]]), path)
        path = re.sub(r"{\w+}", "1", path)
        json = BODIES.get(op.name) or _make_body(op.body) if op.body is not None else None
        kwargs = {"json": json} if json is not None else {}
        return org.api("owner").request(op.method, path, **kwargs)

    foreign_answer = send(foreign)
    absent = send({name: uuid7() for name in foreign})
    assert foreign_answer.status_code == 404, foreign_answer.data
    assert foreign_answer.data == absent.data
    left_out = {"X-Request-ID", "Date"}
    headers = [
        {k: v for k, v in a.headers.items() if k not in left_out} for a in (foreign_answer, absent)
    ]
    assert headers[0] == headers[1]
    current_rows = _read_rows(other_org)
    before = {**contents}
    contents.update(current_rows)
    assert current_rows == before
