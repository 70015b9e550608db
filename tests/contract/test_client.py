"""A client made by openapi-python-client walks the whole way, from a document to a signed event."""

import io
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import yaml
from attrs import fields as attrs_fields
from flask import Flask
from werkzeug.serving import make_server

from examples.receiver import verify
from tests.contract.conftest import OPERATIONS
from tests.contract.generated import CONFIG, Endpoint, Package, Person
from tests.factories import Org
from tests.factories.deliveries import check_delivery
from tests.factories.orgs import PASSWORD
from tests.factories.response_checks import get_checker
from tests.factories.servers import QuietHandler, serve_receiver

pytestmark = pytest.mark.xdist_group("client")

INSIDE = "127.0.0.2"
TEXT = "Invoice TOUR-1\nFrom: Northwind Traders\nTotal: 119.00 EUR\n"
UNTYPED = {
    *(("Tag", "value"), ("TagInput", "value"), ("FieldChange", "from_"), ("FieldChange", "to")),
    ("RoutingCondition", "value"),
    *(("ConsensusField", "majority"), ("ConsensusValue", "value"), ("TagProvenance", "value")),
    *(("NewFeedback", "correct"), ("NewFeedback", "predicted")),
    *(("Feedback", "correct"), ("Feedback", "predicted"), ("DisagreementAnswer", "value")),
    ("TagsJsonSchema", "all_of"),
}
"""What takes the type of a field of somebody's schema, or of a document's attribute; or is
JSON Schema."""


@pytest.fixture
def endpoint(app: Flask, package: Package) -> Iterator[Endpoint]:
    """The application behind a real socket; every answer is held against the description."""

    def check(response: httpx.Response) -> None:
        get_checker(app).check_httpx(response)

    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield Endpoint(package, f"http://127.0.0.1:{server.server_port}", check)
    server.shutdown()
    server.server_close()
    thread.join(10)


@dataclass
class Receiver:
    """Where deliveries go: the headers and the body of each that came."""

    url: str = ""
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    new_receiver = Receiver()

    def receive(request: QuietHandler) -> int:
        new_receiver.received.append((dict(request.headers), request.read_body()))
        return 204

    with serve_receiver(receive, INSIDE) as url:
        new_receiver.url = f"{url}/hook"
        yield new_receiver


def test_every_operation_is_in_the_client(package: Package) -> None:
    assert set(package.operations) == {operation.name for operation in OPERATIONS}


def test_every_file_is_bytes(description: dict[str, Any]) -> None:
    overrides = yaml.safe_load(CONFIG.read_text())["content_type_overrides"]
    kinds = {
        kind
        for item in description["paths"].values()
        for operation in item.values()
        for answer in operation["responses"].values()
        for kind in answer.get("content", {})
    }
    assert kinds - {"application/json"} <= set(overrides)
    assert set(overrides.values()) == {"application/octet-stream"}


def test_every_answer_and_body_is_typed(package: Package) -> None:
    models = package.models
    classes = [getattr(models, name) for name in models.__all__]
    members = {
        (cls.__name__, member.name): str(member.type)
        for cls in classes
        if hasattr(cls, "__attrs_attrs__")
        for member in attrs_fields(cls)
        if member.name != "additional_properties"
    }
    assert {key for key, kind in members.items() if "Any" in kind} <= UNTYPED
    for operation in OPERATIONS:
        answers = package.operations[operation.name].sync_detailed.__annotations__["return"]
        assert "Any" not in str(answers) or operation.status == 204, operation.name


def _create_schema(admin: Person) -> Any:
    models = admin.package.models
    types = models.SchemaFieldBodyType
    fields = [
        models.SchemaFieldBody(key="invoice_number", type_=types.TEXT, required=True),
        models.SchemaFieldBody(key="total", type_=types.MONEY),
        models.SchemaFieldBody(
            key="lines",
            type_=types.TABLE,
            columns=[
                models.TableColumnBody(
                    key="item", type_=models.TableColumnBodyType.TEXT, required=True
                )
            ],
        ),
    ]
    body = models.CreateSchema(name="Invoices", document_type="invoice", fields=fields)
    made = admin("create_schema", body=body, expect=201).data
    assert made.status == models.SchemaDetailStatus.DRAFT
    version = admin("publish_schema", made.id, body=models.PublishSchema(), expect=201).data
    assert version.number == 1
    assert admin("activate_schema", made.id).data.current_version.id == version.id
    return made.id


def _upload(labeler: Person, schema_id: Any, work: Callable[[], None]) -> Any:
    models, types = labeler.package.models, labeler.package.types
    file = types.File(io.BytesIO(TEXT.encode()), "tour.txt", "text/plain")
    form = models.UploadArtifact(file=file, schema_id=schema_id, priority=90, gold=True)
    made = labeler("create_artifact", body=form, expect=201).data
    # Who labels does not see which documents are gold.
    assert (made.name, made.priority, made.gold) == ("tour.txt", 90, None)
    assert made.status == models.ArtifactStatus.PROCESSING
    work()
    ready = labeler("get_artifact", made.id).data
    assert ready.status == models.ArtifactStatus.READY
    assert labeler("get_artifact_text", made.id).data.text == TEXT
    assert labeler("download_artifact", made.id).payload.read() == TEXT.encode()
    page = labeler("list_artifact_pages", made.id).data[0]
    assert page.words[0].text == "Invoice"
    image = labeler("get_artifact_page_image", made.id, 1, width=200).payload.read()
    assert image.startswith(b"\x89PNG")
    assert labeler("claim_artifact", made.id).data.claim is not None
    return made.id


def _label(labeler: Person, artifact_id: Any) -> Any:
    models = labeler.package.models
    draft = labeler("create_tag_set", artifact_id, body=models.CreateTagSet(), expect=201).data
    start = TEXT.index("TOUR-1")
    evidence = models.EvidenceInput(page=1, start=start, end=start + 6, text="TOUR-1")
    tags = [
        models.TagInput(field="invoice_number", value="TOUR-1", evidence=[evidence]),
        models.TagInput(field="total", value="119.00 EUR", confidence=0.5),
        models.TagInput(field="lines.item", value="Rope", row=0),
    ]
    body = models.ReplaceTags(tags=tags, revision=draft.revision)
    saved = labeler("replace_tags", draft.id, body=body).data
    assert [tag.field for tag in saved.tags] == ["invoice_number", "total", "lines.item"]
    assert saved.tags[0].evidence[0].text == "TOUR-1"
    assert saved.tags[1].value == {"amount": "119.00", "currency": "EUR"}
    assert saved.labeler.name == "Labeler"
    submitted = labeler("submit_tag_set", draft.id).data
    assert submitted.status == models.TagSetStatus.SUBMITTED
    return draft.id


def _review(reviewer: Person, tag_set_id: Any) -> None:
    models = reviewer.package.models
    queue = reviewer("list_review_queue")
    assert queue.meta.total == 1
    item = queue.data[0]
    assert (item.id, item.artifact.name, item.priority) == (tag_set_id, "tour.txt", 90)
    assert item.tag_set.tags[2].row == 0
    accepted = reviewer("accept_tag_set", tag_set_id, body=models.AcceptTagSet(note="Well done"))
    assert accepted.data.status == models.TagSetStatus.ACCEPTED
    assert accepted.data.reviewer.name == "Reviewer"


def _export(reviewer: Person, work: Callable[[], None]) -> None:
    models = reviewer.package.models
    kinds = {kind.id: kind for kind in reviewer("list_export_formats").data}
    assert kinds["jsonl"].media_type == "application/x-ndjson"
    for format_id in ("json", "jsonl"):
        body = models.CreateExport(format_=format_id, filter_=models.ExportFilter())
        job = reviewer("create_export", body=body, expect=202).data
        assert job.status == models.ExportStatus.QUEUED
        work()
        done = reviewer("get_export", job.id).data
        assert (done.status, done.row_count) == (models.ExportStatus.COMPLETED, 1)
        file = reviewer("download_export", job.id).payload.read()
        assert len(file) == done.size_bytes
        assert b"TOUR-1" in file


def _check_deliveries(
    admin: Person, hook: Any, receiver: Receiver, description: dict[str, Any]
) -> None:
    models = admin.package.models
    assert [webhook.id for webhook in admin("list_webhooks", active=True).data] == [hook.id]
    deliveries = admin("list_webhook_deliveries", hook.id).data
    events = {"artifact.ingested", "tag_set.accepted", "export.completed", "test"}
    assert {delivery.event for delivery in deliveries} == events
    assert {delivery.status for delivery in deliveries} == {models.DeliveryStatus.DELIVERED}
    assert {delivery.attempts[0].status_code for delivery in deliveries} == {204}
    assert len(receiver.received) == len(deliveries)
    for headers, body in receiver.received:
        assert verify(hook.secret, body, headers["X-Service-Signature"])
        check_delivery(description, headers, body)


def test_the_whole_walk(
    endpoint: Endpoint,
    org: Org,
    work: Callable[[], None],
    receiver: Receiver,
    description: dict[str, Any],
) -> None:
    admin, labeler, reviewer = (
        endpoint.sign_in(org.email(role), PASSWORD, org.slug)
        for role in ("admin", "labeler", "reviewer")
    )
    models = endpoint.package.models
    assert admin("get_session").data.organizations[0].slug == org.slug
    event = models.CreateWebhookEventsItem
    events = [event.ARTIFACT_INGESTED, event.TAG_SET_ACCEPTED, event.EXPORT_COMPLETED]
    body = models.CreateWebhook(url=receiver.url, events=events)
    hook = admin("create_webhook", body=body, expect=201).data
    schema_id = _create_schema(admin)
    listed = labeler(
        "list_schemas", document_type="invoice", status=models.ListSchemasStatus.ACTIVE
    )
    assert [schema.id for schema in listed.data] == [schema_id]
    artifact_id = _upload(labeler, schema_id, work)
    _review(reviewer, _label(labeler, artifact_id))
    _export(reviewer, work)
    assert admin("test_webhook", hook.id, expect=202).data.test
    work()
    _check_deliveries(admin, hook, receiver, description)
    labeler("logout", expect=204)
    labeler("get_session", expect=401)


def test_text_goes_in_as_json(endpoint: Endpoint, org: Org) -> None:
    labeler = endpoint.sign_in(org.email("labeler"), PASSWORD, org.slug)
    models = endpoint.package.models
    body = models.CreateArtifact(
        name="note.txt", text=TEXT, metadata=models.CreateArtifactMetadata.from_dict({"lot": 7})
    )
    made = labeler("create_artifact", body=body, expect=201).data
    assert made.status == models.ArtifactStatus.READY
    assert made.metadata["lot"] == 7
    assert labeler("list_artifacts", q="northwind").data[0].id == made.id


def test_refusals_are_typed_too(endpoint: Endpoint, org: Org) -> None:
    viewer = endpoint.sign_in(org.email("viewer"), PASSWORD, org.slug)
    refused = viewer("list_artifacts", cursor="forged", expect=422)
    assert isinstance(refused, endpoint.package.models.ErrorResponse)
    assert (refused.error.code, refused.error.field) == ("unprocessable", "cursor")
