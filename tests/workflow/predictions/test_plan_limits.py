"""Pages with AI assistance: refused at the request, and counted once when a prediction ends."""

from uuid import UUID

from app.workflow.predictions.service import requesting
from app.workflow.predictions.service.documents import MAX_PAGES
from tests.factories import run_jobs_of
from tests.factories.usage import find_usage_differences, set_plan
from tests.factories.workspace import Workspace
from tests.workflow.predictions.conftest import create_document, predict, show_prediction

TEXT = "Invoice number: A-{}\nTotal: EUR 12.50\n"


def _get_used(workspace: Workspace) -> int:
    meters = workspace.org.api("viewer").get("/billing/usage").json["data"]["meters"]
    return next(int(meter["used"]) for meter in meters if meter["meter"] == "ai_pages_per_month")


def test_a_request_beyond_the_limit(assisted_workspace: Workspace) -> None:
    first, second = (create_document(assisted_workspace, TEXT.format(n)) for n in range(2))
    set_plan(assisted_workspace.org, "team", {"ai_pages_per_month": 1})
    assert predict(assisted_workspace, first).status_code == 202
    run_jobs_of(assisted_workspace.org, "predictions")
    answer = predict(assisted_workspace, second)
    assert (answer.status_code, answer.json["error"]["code"]) == (402, "plan_limit_reached")
    details = {"meter": "ai_pages_per_month", "limit": 1, "used": 1, "plan": "team"}
    assert answer.json["error"]["details"] == details
    assert show_prediction(assisted_workspace, second) is None
    assert _get_used(assisted_workspace) == 1


def test_requests_before_the_limit_that_end_after_it(assisted_workspace: Workspace) -> None:
    ids = [create_document(assisted_workspace, TEXT.format(n)) for n in range(3)]
    set_plan(assisted_workspace.org, "team", {"ai_pages_per_month": 2})
    assert {predict(assisted_workspace, item_id).status_code for item_id in ids} == {202}
    run_jobs_of(assisted_workspace.org, "predictions")
    shown = [show_prediction(assisted_workspace, item_id) for item_id in ids]
    assert sorted(one["status"] for one in shown) == ["completed", "completed", "failed"]
    [failed] = [one for one in shown if one["status"] == "failed"]
    assert failed["error"]["code"] == "plan_limit_reached"
    assert _get_used(assisted_workspace) == 2
    assert find_usage_differences(assisted_workspace.org) == []


def test_only_the_pages_that_are_read_count(assisted_workspace: Workspace) -> None:
    pages = "\f".join(f"Page {number}" for number in range(MAX_PAGES + 5))
    first, second = (
        create_document(assisted_workspace, f"{TEXT.format(n)}{pages}") for n in range(2)
    )
    set_plan(assisted_workspace.org, "team", {"ai_pages_per_month": MAX_PAGES})
    with assisted_workspace.transaction():
        (outcome,) = requesting.request_many(
            [UUID(second)], requested_by=None, ingestion_job_id=UUID(first)
        )
    assert outcome.error is None
    assert predict(assisted_workspace, first).status_code == 202
    run_jobs_of(assisted_workspace.org, "predictions")
    shown = [show_prediction(assisted_workspace, one)["status"] for one in (first, second)]
    assert sorted(shown) == ["completed", "failed"]
    assert _get_used(assisted_workspace) == MAX_PAGES
    assert predict(assisted_workspace, first).status_code == 402


def test_a_repeated_job_counts_once(assisted_workspace: Workspace) -> None:
    artifact_id = create_document(assisted_workspace)
    prediction_id = predict(assisted_workspace, artifact_id).json["data"]["id"]
    run_jobs_of(assisted_workspace.org, "predictions")
    with assisted_workspace.transaction():
        requesting.enqueue_prediction(UUID(prediction_id))
    assert run_jobs_of(assisted_workspace.org, "predictions") == 1
    assert _get_used(assisted_workspace) == 1
    response = assisted_workspace.org.api("admin").delete(f"/artifacts/{artifact_id}")
    assert response.status_code == 204
    assert _get_used(assisted_workspace) == 1
    assert find_usage_differences(assisted_workspace.org) == []


def test_many_requests_are_allowed_in_their_order(assisted_workspace: Workspace) -> None:
    ids = [UUID(create_document(assisted_workspace, TEXT.format(n))) for n in range(3)]
    set_plan(assisted_workspace.org, "team", {"ai_pages_per_month": 2})
    with assisted_workspace.transaction():
        outcomes = requesting.request_many(ids, requested_by=None, ingestion_job_id=ids[0])
    errors = [outcome.error and outcome.error["code"] for outcome in outcomes]
    assert errors == [None, None, "plan_limit_reached"]
