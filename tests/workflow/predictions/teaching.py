"""Invoices of three layouts, accepted tag sets of them, and the models that learn from them."""

from typing import Any
from uuid import UUID

from tests.factories import run_jobs_of
from tests.factories.workspace import Workspace, tag
from tests.workflow.actions import accept, submit_tags
from tests.workflow.predictions.conftest import predict, show_prediction

VENDORS = ("Blue Anchor", "North Wind", "Old Harbour")


def write_invoice(number: int) -> tuple[str, list[Any]]:
    """Return the text of an invoice of one of three layouts, and its tags."""
    code, amount = f"RX-{4000 + 37 * number}", f"{20 + number}.{number % 10}5"
    vendor = VENDORS[number % 3]
    lines = [
        [vendor, f"Invoice No {code}", f"Amount due EUR {amount}"],
        [f"Bill {code}", vendor, "Thank you", f"To pay: EUR {amount}"],
        [vendor, "Rope 3 pieces", f"Sum EUR {amount}", f"Our reference {code}"],
    ][number % 3]
    money = {"amount": amount, "currency": "EUR"}
    return "\n".join(lines), [tag("number", code), tag("total", money)]


def create_invoice(workspace: Workspace, number: int) -> UUID:
    """Create a document with the text of an invoice, and return its id."""
    text, _ = write_invoice(number)
    return workspace.artifact(workspace.schema_id, text=text, page_count=1)  # type: ignore[attr-defined]


def accept_tags(workspace: Workspace, artifact_id: UUID, tags: list[Any]) -> None:
    """Label a document, and accept the tag set."""
    sent = submit_tags(workspace, artifact_id, tags)
    assert accept(workspace, sent).status_code == 200


def accept_invoices(workspace: Workspace, *numbers: int) -> list[UUID]:
    """Create and label invoices, and accept the tag sets; return the documents."""
    created = []
    for number in numbers:
        artifact_id = create_invoice(workspace, number)
        accept_tags(workspace, artifact_id, write_invoice(number)[1])
        created.append(artifact_id)
    run_jobs_of(workspace.org, "default", "bulk")
    return created


def list_accepted(workspace: Workspace) -> list[UUID]:
    """Return the ids of the accepted tag sets, the oldest first."""
    sql = "SELECT id FROM tag_sets WHERE status = 'accepted' ORDER BY created_at, id"
    return [tag_set_id for (tag_set_id,) in workspace.sql(sql)]


def list_models(workspace: Workspace) -> list[Any]:
    """Return id, state, version, number of documents and F1 of the models, the oldest first."""
    return workspace.sql(
        "SELECT id, state, version, document_count, f1 FROM extraction_models ORDER BY created_at"
    )


def count_trainings(workspace: Workspace) -> int:
    """Return the number of trainings that are queued."""
    sql = "SELECT count(*) FROM jobs WHERE queue = 'training' AND organization_id = :org"
    return int(workspace.sql(f"{sql} AND finished_at IS NULL", org=workspace.org.id)[0][0])


def predict_artifact(workspace: Workspace, artifact_id: UUID) -> Any:
    """Predict a document, and return the prediction that it shows."""
    assert predict(workspace, str(artifact_id)).status_code == 202
    run_jobs_of(workspace.org, "predictions")
    return show_prediction(workspace, str(artifact_id))
