"""Claims, and the state that label sets put a document in."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from app.documents.artifacts.service import reading as artifacts
from app.kit import db, tenancy
from app.kit.ids import uuid7
from app.workflow.assignment.queries import claims
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.queries import statuses
from tests.documents.artifacts.conftest import create_text
from tests.factories import Org, make_org
from tests.factories.counts import run_sql
from tests.factories.errors import check_conflict, check_error
from tests.factories.orgs import get_data

Work = Callable[[], None]


def _expire(org: Org, artifact_id: str) -> None:
    run_sql(
        org,
        "UPDATE artifacts SET claim_expires_at = now() - interval '1 second'"
        " WHERE organization_id = :org AND id = :id",
        id=artifact_id,
    )


def _minutes_left(document: dict[str, Any]) -> float:
    remaining_time = datetime.fromisoformat(document["claim"]["expires_at"]) - datetime.now(UTC)
    return remaining_time / timedelta(minutes=1)


def test_a_claim_is_exclusive_and_lasts_half_an_hour(org: Org) -> None:
    org.add_user("other", "labeler")
    path = f"/artifacts/{create_text(org.api('labeler'), 'text')['id']}"
    document = get_data(org.api("labeler").post(f"{path}/claim"))
    assert document["status"] == "in_progress"
    assert document["claim"]["user_id"] == str(org.users["labeler"])
    assert 29.5 < _minutes_left(document) <= 30
    assert document["revision"] == 1
    assert org.api("viewer").get(path).json["data"] == document
    check_conflict(org.api("other").post(f"{path}/claim"), claim=document["claim"])


def test_the_organization_says_how_long(org: Org) -> None:
    settings = '{"claim_minutes": 5}'
    run_sql(
        org, "UPDATE organizations SET settings = CAST(:s AS jsonb) WHERE id = :org", s=settings
    )
    path = f"/artifacts/{create_text(org.api('labeler'), 'text')['id']}"
    assert 4.5 < _minutes_left(org.api("labeler").post(f"{path}/claim").json["data"]) <= 5


def test_claiming_again_renews(org: Org) -> None:
    api = org.api("labeler")
    path = f"/artifacts/{create_text(api, 'text')['id']}"
    first = api.post(f"{path}/claim").json["data"]["claim"]
    second = api.post(f"{path}/claim").json["data"]["claim"]
    assert second["expires_at"] > first["expires_at"]


def test_of_many_claimers_exactly_one_gets_it(org: Org) -> None:
    path = f"/artifacts/{create_text(org.api('labeler'), 'text')['id']}/claim"
    names = ["labeler", "reviewer", "admin", "owner"]
    apis = [org.api(name) for name in names]
    with ThreadPoolExecutor(4) as threads:
        statuses = sorted(threads.map(lambda api: api.post(path).status_code, apis))
    assert statuses == [200, 409, 409, 409]


def test_a_claim_that_ran_out_is_free(org: Org) -> None:
    document = create_text(org.api("labeler"), "text")
    path = f"/artifacts/{document['id']}"
    org.api("labeler").post(f"{path}/claim")
    _expire(org, document["id"])
    assert org.api("viewer").get(path).json["data"]["claim"] is None
    assert org.api("labeler").post(f"{path}/release", {}).status_code == 409
    taken = org.api("reviewer").post(f"{path}/claim")
    assert taken.json["data"]["claim"]["user_id"] == str(org.users["reviewer"])


def test_release_gives_back_and_keeps_the_reason(org: Org) -> None:
    api = org.api("labeler")
    document = create_text(api, "text")
    path = f"/artifacts/{document['id']}"
    api.post(f"{path}/claim")
    data = get_data(api.post(f"{path}/release", {"reason": "Unreadable to me"}))
    assert (data["status"], data["claim"]) == ("ready", None)
    rows = run_sql(
        org,
        "SELECT data FROM outbox_events WHERE organization_id = :org AND name = :name",
        name="artifact.released",
    )
    assert [row.data for row in rows] == [
        {
            "artifact_id": document["id"],
            "user_id": str(org.users["labeler"]),
            "reason": "Unreadable to me",
        }
    ]
    check_conflict(api.post(f"{path}/release", {}), state="ready")


def test_who_may_release(org: Org) -> None:
    path = f"/artifacts/{create_text(org.api('labeler'), 'text')['id']}"
    org.api("labeler").post(f"{path}/claim")
    check_error(org.api("reviewer").post(f"{path}/release", {}), 403, "permission_denied")
    assert org.api("viewer").get(path).json["data"]["claim"] is not None
    assert org.api("admin").post(f"{path}/release", {}).status_code == 200


@pytest.mark.parametrize("status", ["processing", "in_review", "done", "failed"])
def test_only_open_documents_can_be_claimed(org: Org, status: str) -> None:
    document = create_text(org.api("labeler"), "text")
    run_sql(
        org,
        "UPDATE artifacts SET status = :status WHERE organization_id = :org AND id = :id",
        status=status,
        id=document["id"],
    )
    check_conflict(org.api("labeler").post(f"/artifacts/{document['id']}/claim"), state=status)


def test_archived_documents_cannot_be_claimed(org: Org) -> None:
    document = create_text(org.api("labeler"), "text", archived=True)
    check_conflict(org.api("labeler").post(f"/artifacts/{document['id']}/claim"), state="archived")


def test_another_organizations_document_cannot_be_claimed(org: Org, other_org: Org) -> None:
    path = f"/artifacts/{create_text(other_org.api('labeler'), 'text')['id']}"
    assert org.api("owner").post(f"{path}/claim").status_code == 404
    assert org.api("owner").post(f"{path}/release", {}).status_code == 404
    assert other_org.api("viewer").get(path).json["data"]["claim"] is None


def test_claims_that_ran_out_are_cleared_everywhere(org: Org, other_org: Org) -> None:
    documents = [(one, create_text(one.api("labeler"), "text")["id"]) for one in (org, other_org)]
    kept = create_text(org.api("labeler"), "other text")["id"]
    for one, artifact_id in [*documents, (org, kept)]:
        one.api("labeler").post(f"/artifacts/{artifact_id}/claim")
    for one, artifact_id in documents:
        _expire(one, artifact_id)
    across = tenancy.across_organizations(reason="as the job")
    with org.app.app_context(), across, db.transaction():
        assert claims.CLAIMABLE_ARTIFACTS.expire_claims() >= 2
    for one, artifact_id in documents:
        document = one.api("viewer").get(f"/artifacts/{artifact_id}").json["data"]
        assert (document["status"], document["claim"]) == ("ready", None)
    assert org.api("viewer").get(f"/artifacts/{kept}").json["data"]["status"] == "in_progress"


def _labeled(org: Org, wanted: int, statuses: list[str], status: str = "ready") -> UUID:
    """A document in `status` with label sets in these states, of a schema that wants so many."""
    api = org.api("admin")
    body = {
        "name": "S",
        "fields": [{"key": "a", "type": "text"}],
        "review_policy": {"labels_per_artifact": wanted},
    }
    schema = api.post("/schemas", body).json["data"]
    version = api.post(f"/schemas/{schema['id']}/publish", {}).json["data"]
    document = create_text(org.api("labeler"), f"text {uuid7()}", schema_id=schema["id"])
    artifact_id = UUID(document["id"])
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        for tag_set_status in statuses:
            session.add(
                TagSet(
                    artifact_id=artifact_id,
                    schema_id=UUID(schema["id"]),
                    schema_version_id=UUID(version["id"]),
                    status=tag_set_status,
                    tags=[],
                )
            )
        session.execute(
            text("UPDATE artifacts SET status = :status WHERE id = :id"),
            {"status": status, "id": artifact_id},
        )
    return artifact_id


@pytest.mark.parametrize(
    ("wanted", "sets", "expected"),
    [
        (1, [], "ready"),
        (1, ["draft"], "in_progress"),
        (1, ["rejected"], "ready"),
        (1, ["submitted"], "in_review"),
        (1, ["submitted", "draft"], "in_progress"),
        (1, ["submitted", "rejected"], "in_review"),
        (1, ["accepted"], "done"),
        (1, ["accepted", "draft"], "done"),
        (2, ["submitted"], "in_progress"),
        (2, ["submitted", "submitted"], "in_review"),
        (2, ["accepted", "submitted"], "in_review"),
        (2, ["accepted", "rejected"], "in_progress"),
        (2, ["accepted", "accepted", "submitted"], "done"),
    ],
)
def test_label_sets_decide_the_state(org: Org, wanted: int, sets: list[str], expected: str) -> None:
    artifact_id = _labeled(org, wanted, sets, "in_progress")
    with org.app.app_context(), tenancy.organization(org.id), db.transaction():
        artifacts.lock(artifact_id)
        assert statuses.update_statuses([artifact_id]) == {artifact_id: expected}
    document = org.api("viewer").get(f"/artifacts/{artifact_id}").json["data"]
    assert document["status"] == expected
    assert document["label_counts"] == {
        state: sets.count(state) for state in ("draft", "submitted", "accepted", "rejected")
    }
    assert document["revision"] == 1


@pytest.mark.parametrize("status", ["processing", "failed"])
def test_what_is_not_read_keeps_its_state(org: Org, status: str) -> None:
    artifact_id = _labeled(org, 1, ["accepted"], status)
    with org.app.app_context(), tenancy.organization(org.id), db.transaction():
        assert statuses.update_statuses([artifact_id]) == {artifact_id: status}


def test_a_live_claim_keeps_a_document_in_progress(org: Org) -> None:
    artifact_id = _labeled(org, 1, [])
    org.api("labeler").post(f"/artifacts/{artifact_id}/claim")
    with org.app.app_context(), tenancy.organization(org.id), db.transaction():
        assert statuses.update_statuses([artifact_id]) == {artifact_id: "in_progress"}
    _expire(org, str(artifact_id))
    with org.app.app_context(), tenancy.organization(org.id), db.transaction():
        assert statuses.update_statuses([artifact_id]) == {artifact_id: "ready"}


def test_another_organizations_document_is_not_refreshed(org: Org) -> None:
    stranger = make_org(org.app)
    artifact_id = _labeled(org, 1, ["accepted"])
    with org.app.app_context(), tenancy.organization(stranger.id):
        assert statuses.update_statuses([artifact_id]) == {}
    assert org.api("viewer").get(f"/artifacts/{artifact_id}").json["data"]["status"] == "ready"
