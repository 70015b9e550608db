"""Tests of updating documents: properties, schema, archiving, urgency and reprocessing."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from app.kit import db, tenancy
from app.kit.ids import uuid7
from app.workflow.tag_sets.claimable import RANK_STEP
from tests.documents.artifacts.conftest import create_text, make_pdf, read_document, upload
from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.orgs import get_data
from tests.factories.queueing import run_concurrently
from tests.factories.workspace import Workspace, counts

Work = Callable[[], None]


def _patch(org: Org, artifact_id: Any, by: str = "admin", **body: Any) -> Any:
    return org.api(by).patch(f"/artifacts/{artifact_id}", body)


def test_every_property_can_be_changed_with_one_new_revision(workspace: Workspace) -> None:
    document = create_text(workspace.org.api("labeler"), "text", metadata={"a": 1, "b": "x"})
    properties = {
        "name": "other.txt",
        "schema_id": str(workspace.schema()),
        "external_id": "e-7",
        "metadata": {"c": True},
        "priority": 99,
        "due_at": "2030-01-02T03:04:05Z",
        "gold": True,
    }
    answer = _patch(workspace.org, document["id"], **properties, revision=1)
    changed = get_data(answer)
    assert {name: changed[name] for name in properties} == properties
    assert (changed["revision"], answer.headers["ETag"]) == (2, '"2"')
    assert workspace.org.api("reviewer").get(f"/artifacts/{document['id']}").json["data"] == changed
    (event,) = workspace.events("artifact.updated")
    assert event == {
        "artifact_id": document["id"],
        "changed": sorted(properties),
        "by": str(workspace.org.users["admin"]),
    }


def test_properties_can_be_cleared_and_equal_values_change_nothing(workspace: Workspace) -> None:
    artifact_id = workspace.artifact(external_id="e", due_at=datetime(2030, 1, 1, tzinfo=UTC))
    cleared = {"schema_id": None, "external_id": None, "due_at": None, "metadata": {}}
    document = _patch(workspace.org, artifact_id, **cleared).json["data"]
    assert {name: document[name] for name in cleared} == cleared
    again = _patch(workspace.org, artifact_id, **cleared, name=document["name"])
    assert again.json["data"] == document
    assert _patch(workspace.org, artifact_id).json["data"] == document
    assert len(workspace.events("artifact.updated")) == 1


def test_true_is_not_one_in_metadata(workspace: Workspace) -> None:
    artifact_id = workspace.artifact()
    for value in (1, True, "1", 1.5):
        document = _patch(workspace.org, artifact_id, metadata={"paid": value}).json["data"]
        assert document["metadata"] == {"paid": value}
        assert type(document["metadata"]["paid"]) is type(value)


def test_only_admins_change_documents(workspace: Workspace) -> None:
    artifact_id = workspace.artifact()
    for role in ("reviewer", "labeler", "viewer"):
        check_error(_patch(workspace.org, artifact_id, role, gold=True), 403, "insufficient_role")
        again = workspace.org.api(role).post(f"/artifacts/{artifact_id}/reprocess")
        check_error(again, 403, "insufficient_role")


@pytest.mark.parametrize(
    "body",
    [
        {"name": ""},
        {"name": None},
        {"name": "a\u0000b"},
        {"name": "a/b"},
        {"name": "x" * 256},
        {"metadata": None},
        {"metadata": {"a": None}},
        {"metadata": {"a": {"b": 1}}},
        {"metadata": {"": 1}},
        {"metadata": {"a": "\u0000"}},
        {"metadata": {str(n): n for n in range(101)}},
        {"priority": 101},
        {"priority": "high"},
        {"due_at": "tomorrow"},
        {"gold": None},
        {"archived": "yes"},
        {"schema_id": "x"},
        {"status": "done"},
        {"revision": "1"},
    ],
    ids=str,
)
def test_an_invalid_body_is_422_and_changes_nothing(
    workspace: Workspace, body: dict[str, Any]
) -> None:
    artifact_id = workspace.artifact()
    error = check_error(_patch(workspace.org, artifact_id, **body), 422, "unprocessable")
    assert error["field"].split(".")[0] in body
    assert read_document(workspace.org, artifact_id)["revision"] == 1


def test_an_unknown_or_foreign_schema_is_refused(workspace: Workspace, other_org: Org) -> None:
    artifact_id = workspace.artifact()
    for schema_id in (uuid7(), Workspace(other_org).schema()):
        answer = _patch(workspace.org, artifact_id, schema_id=str(schema_id), name="new")
        check_error(answer, 400, "validation_error", field="schema_id")
    document = read_document(workspace.org, artifact_id)
    assert (document["name"], document["revision"]) == ("invoice.txt", 1)


def test_the_schema_cannot_change_while_it_has_tag_sets(workspace: Workspace) -> None:
    first, second = workspace.schema(), workspace.schema()
    sent = workspace.submitted(workspace.artifact(first))
    artifact_id = sent["artifact_id"]
    for new_schema_id in (str(second), None):
        answer = _patch(workspace.org, artifact_id, schema_id=new_schema_id)
        check_error(answer, 409, "conflict", details={"tag_sets": [sent["id"]]})
    assert _patch(workspace.org, artifact_id, schema_id=str(first), priority=60).status_code == 200
    rejected = workspace.org.api("reviewer").post(
        f"/tag-sets/{sent['id']}/reject", {"reason": "no", "send_to": "pool"}
    )
    assert rejected.status_code == 200
    changed = _patch(workspace.org, artifact_id, schema_id=str(second)).json["data"]
    assert (changed["schema_id"], changed["status"]) == (str(second), "ready")


def test_another_schema_may_require_more_tag_sets(workspace: Workspace) -> None:
    twice = workspace.schema(labels_per_artifact=2)
    sent = workspace.submitted()
    workspace.sql(
        "UPDATE tag_sets SET schema_id = :id WHERE id = :set", id=str(twice), set=sent["id"]
    )
    changed = _patch(workspace.org, sent["artifact_id"], schema_id=str(twice)).json["data"]
    assert changed["status"] == "in_progress"


def test_archiving_ends_the_claim_and_keeps_tag_sets(workspace: Workspace) -> None:
    draft = workspace.saved()
    path = f"/artifacts/{draft['artifact_id']}"
    archived = _patch(workspace.org, draft["artifact_id"], archived=True).json["data"]
    assert (archived["archived"], archived["claim"]) == (True, None)
    assert archived["label_counts"] == counts(draft=1)
    assert workspace.org.api("labeler").post(f"{path}/claim").status_code == 409
    assert workspace.org.api("viewer").get("/artifacts").json["meta"]["total"] == 0
    back = _patch(workspace.org, draft["artifact_id"], archived=False).json["data"]
    assert (back["archived"], back["status"], back["revision"]) == (False, "in_progress", 3)
    assert workspace.org.api("labeler").get(f"/tag-sets/{draft['id']}").json["data"]["tags"]


def test_a_document_that_was_only_claimed_is_ready_after_archiving(workspace: Workspace) -> None:
    artifact_id = workspace.artifact()
    workspace.org.api("labeler").post(f"/artifacts/{artifact_id}/claim")
    assert _patch(workspace.org, artifact_id, archived=True).json["data"]["status"] == "ready"


def test_a_stale_revision_is_refused(workspace: Workspace) -> None:
    artifact_id = workspace.artifact()
    _patch(workspace.org, artifact_id, priority=1)
    by_body = _patch(workspace.org, artifact_id, priority=2, revision=1)
    check_error(by_body, 409, "stale_precondition", details={"current_revision": 2})
    by_header = workspace.org.api("admin").patch(
        f"/artifacts/{artifact_id}", {"priority": 2}, headers={"If-Match": '"1"'}
    )
    check_error(by_header, 409, "stale_precondition")


def test_only_one_of_two_changes_of_a_revision_succeeds(workspace: Workspace) -> None:
    artifact_id = workspace.artifact()
    for revision in range(1, 9):
        answers = run_concurrently(
            *(lambda n=n, r=revision: _patch(workspace.org, artifact_id, priority=n, revision=r)
              for n in (2 * revision, 2 * revision + 1))
        )  # fmt: skip
        assert sorted(a.status_code for a in answers) == [200, 409]
        (won,) = [a.json["data"] for a in answers if a.status_code == 200]
        now = read_document(workspace.org, artifact_id)
        assert (now["priority"], now["revision"]) == (won["priority"], revision + 1)


def test_concurrent_archiving_and_claiming_leave_no_claimed_archived_document(
    workspace: Workspace,
) -> None:
    schema_id = workspace.schema()
    for _ in range(8):
        artifact_id = workspace.artifact(schema_id)
        archived, claimed = run_concurrently(
            lambda a=artifact_id: _patch(workspace.org, a, archived=True),
            lambda a=artifact_id: workspace.org.api("labeler").post(f"/artifacts/{a}/claim"),
        )
        assert archived.status_code == 200
        assert claimed.status_code in (200, 409)
        assert workspace.artifact_row(artifact_id).claim_user_id is None
        assert workspace.artifact_row(artifact_id).status == "ready"


def _rank(priority: int, at: datetime) -> int:
    milliseconds = (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    return (100 - priority) * RANK_STEP + min(max(milliseconds, 0), RANK_STEP - 1)


@pytest.mark.parametrize("priority", [0, 50, 100])
@pytest.mark.parametrize(
    "at",
    [
        datetime(2026, 11, 21, 22, 45, 46, 123456, UTC),
        datetime(2026, 11, 21, 22, 45, 46, 1000, UTC),
        datetime(2026, 11, 21, 22, 45, 46, 999999, UTC),
        datetime(1960, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999999, UTC),
    ],
    ids=str,
)
def test_the_queue_is_sorted_by_priority_and_time(org: Org, priority: int, at: datetime) -> None:
    with org.app.app_context(), tenancy.organization(org.id):
        rank = text("SELECT review_rank_of(:priority, :at)")
        stored_rank = db.session().scalar(rank, {"priority": priority, "at": at})
    assert stored_rank == _rank(priority, at)


def test_urgency_reorders_the_review_queue(workspace: Workspace) -> None:
    sent = workspace.submitted()
    rejected = workspace.submitted(workspace.artifact())
    workspace.sql("UPDATE tag_sets SET status = 'rejected' WHERE id = :id", id=rejected["id"])

    def rank(tag_set: dict[str, Any]) -> int:
        rows = workspace.sql("SELECT review_rank FROM tag_sets WHERE id = :id", id=tag_set["id"])
        return int(rows[0][0])

    before, other = rank(sent), rank(rejected)
    submitted_at = datetime.fromisoformat(sent["submitted_at"])
    assert before == _rank(50, submitted_at)
    _patch(workspace.org, sent["artifact_id"], priority=80)
    assert rank(sent) == _rank(80, submitted_at)
    due = submitted_at + timedelta(days=3)
    _patch(workspace.org, sent["artifact_id"], due_at=due.isoformat())
    assert rank(sent) == _rank(80, submitted_at)
    near = submitted_at + timedelta(hours=3)
    _patch(workspace.org, sent["artifact_id"], due_at=near.isoformat())
    assert rank(sent) == _rank(101, near - timedelta(milliseconds=80))
    _patch(workspace.org, sent["artifact_id"], due_at=None, priority=50)
    assert rank(sent) == before
    _patch(workspace.org, rejected["artifact_id"], priority=80)
    assert rank(rejected) == other


def test_reprocessing_gives_the_same_text_and_pages(org: Org, work: Work) -> None:
    api = org.api("admin")
    artifact_ids = [
        upload(api, make_pdf("First page", "Second page"), "two.pdf").json["data"]["id"],
        create_text(api, "Text that came as text.\nTwo lines of it.")["id"],
    ]
    work()
    workspace = Workspace(org)
    for artifact_id in artifact_ids:
        path = f"/artifacts/{artifact_id}"
        text_before, pages_before = (
            api.get(f"{path}/{part}").json["data"] for part in ("text", "pages")
        )
        assert get_data(api.post(f"{path}/reprocess"), 202)["status"] == "processing"
        for refused in (api.get(f"{path}/text"), api.post(f"{path}/reprocess")):
            check_error(refused, 409, "conflict", details={"state": "processing"})
        work()
        assert api.get(path).json["data"]["status"] == "ready"
        assert api.get(f"{path}/text").json["data"] == text_before
        assert api.get(f"{path}/pages").json["data"] == pages_before
    assert len(workspace.events("artifact.ingested")) == len(artifact_ids)


@pytest.mark.parametrize("status", ["ready", "in_progress", "in_review", "done"])
def test_a_document_of_the_previous_release_is_not_ingested_again(
    org: Org, work: Work, status: str
) -> None:
    api, workspace = org.api("admin"), Workspace(org)
    document = create_text(api, "The text as it is.")["id"]
    # An instance of the previous release, which does not know `ingested_at`, created the document.
    sql = "UPDATE artifacts SET status = :status, ingested_at = NULL WHERE id = :id"
    workspace.sql(sql, id=document, status=status)
    assert api.post(f"/artifacts/{document}/reprocess").status_code == 202
    work()
    assert api.get(f"/artifacts/{document}").json["data"]["status"] == "ready"
    assert len(workspace.events("artifact.ingested")) == 1


def test_a_document_that_failed_first_is_ingested_once(org: Org, work: Work) -> None:
    api, workspace = org.api("admin"), Workspace(org)
    document = upload(api, make_pdf("Warehouse"), "w.pdf").json["data"]["id"]
    change = "UPDATE artifacts SET media_type = :type WHERE id = :id"
    workspace.sql(change, id=document, type="image/png")
    for kind, status, fired in (
        (None, "failed", 0),
        ("application/pdf", "ready", 1),
        ("image/png", "failed", 1),
        ("application/pdf", "ready", 1),
    ):
        if kind is not None:
            workspace.sql(change, id=document, type=kind)
            assert api.post(f"/artifacts/{document}/reprocess").status_code == 202
        work()
        assert api.get(f"/artifacts/{document}").json["data"]["status"] == status
        assert len(workspace.events("artifact.ingested")) == fired


def test_a_failed_document_can_be_reprocessed(org: Org, work: Work) -> None:
    api = org.api("admin")
    artifact_id = create_text(api, "The text as it is.")["id"]
    Workspace(org).sql(
        'UPDATE artifacts SET status = \'failed\', failure = \'{"code": "x", "message": "y"}\''
        " WHERE id = :id",
        id=artifact_id,
    )
    assert api.post(f"/artifacts/{artifact_id}/reprocess").json["data"]["failure"] is None
    work()
    assert api.get(f"/artifacts/{artifact_id}").json["data"]["status"] == "ready"


def test_a_document_that_becomes_unreadable_is_not_found(org: Org, work: Work) -> None:
    api = org.api("admin")
    document = upload(api, make_pdf("Warehouse"), "w.pdf").json["data"]
    work()
    workspace = Workspace(org)
    workspace.sql("UPDATE artifacts SET media_type = 'image/png' WHERE id = :id", id=document["id"])
    api.post(f"/artifacts/{document['id']}/reprocess")
    assert api.get("/artifacts?q=warehouse").json["meta"]["total"] == 1
    work()
    failed = api.get(f"/artifacts/{document['id']}").json["data"]
    assert (failed["status"], failed["page_count"], failed["text_length"]) == ("failed", None, 0)
    assert api.get("/artifacts?q=warehouse").json["meta"]["total"] == 0


def test_tag_sets_prevent_reprocessing(workspace: Workspace) -> None:
    draft = workspace.draft()
    path = f"/artifacts/{draft['artifact_id']}/reprocess"
    refused = workspace.org.api("admin").post(path)
    check_error(refused, 409, "conflict", details={"tag_sets": [draft["id"]]})
    archived = workspace.artifact(archived=True)
    refused = workspace.org.api("admin").post(f"/artifacts/{archived}/reprocess")
    check_error(refused, 409, "conflict", details={"state": "archived"})


def test_a_stale_revision_prevents_reprocessing(workspace: Workspace) -> None:
    api, artifact_id = workspace.org.api("admin"), workspace.artifact()
    assert api.patch(f"/artifacts/{artifact_id}", {"gold": True}).status_code == 200
    answer = api.post(f"/artifacts/{artifact_id}/reprocess", {"revision": 1})
    check_error(answer, 409, "stale_precondition", details={"current_revision": 2})
    assert api.get(f"/artifacts/{artifact_id}").json["data"]["status"] == "ready"
    assert api.post(f"/artifacts/{artifact_id}/reprocess", {"revision": 2}).status_code == 202


def test_reprocessing_ends_the_claim(workspace: Workspace) -> None:
    artifact_id = workspace.artifact()
    workspace.org.api("labeler").post(f"/artifacts/{artifact_id}/claim")
    answer = workspace.org.api("admin").post(f"/artifacts/{artifact_id}/reprocess")
    assert answer.json["data"]["claim"] is None
    assert UUID(answer.json["data"]["id"]) == artifact_id
