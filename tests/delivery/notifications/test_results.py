"""Notifications of exports and invitations."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from app.delivery.exports.service import running
from app.kit import db, tenancy
from tests.factories import Org
from tests.factories.counts import run_sql
from tests.factories.emails import list_emails_to
from tests.factories.labels import make_labeled
from tests.factories.orgs import Api

Work = Callable[[], None]


def _notes(api: Api) -> list[dict[str, Any]]:
    answer = api.get("/notifications")
    assert answer.status_code == 200, answer.json
    found: list[dict[str, Any]] = answer.json["data"]
    return found


def _export(api: Api) -> str:
    answer = api.post("/exports", {"format": "csv"})
    assert answer.status_code == 202, answer.json
    return str(answer.json["data"]["id"])


def test_whoever_requested_an_export_is_told_that_it_is_ready(org: Org, work: Work) -> None:
    make_labeled(org, 2)
    export_id = _export(org.api("reviewer"))
    work()
    (note,) = _notes(org.api("reviewer"))
    assert note["kind"] == "export_ready"
    assert note["title"] == "Your csv export is ready"
    assert note["body"].startswith("It contains 2 tag sets and can be downloaded until ")
    assert note["link"] == f"/api/v1/exports/{export_id}"
    assert org.api("reviewer").get(note["link"]).json["data"]["status"] == "completed"
    (letter,) = list_emails_to(org.email("reviewer"))
    assert letter.subject == "[Test] Your csv export is ready"
    assert f"/open/{org.slug}/exports/{export_id}?lang=en" in letter.text
    assert _notes(org.api("owner")) == []


def test_whoever_requested_an_export_is_told_that_it_failed(org: Org, work: Work) -> None:
    export_id = _export(org.api("reviewer"))
    run_sql(org, "UPDATE jobs SET due_at = NULL, status = 'failed' WHERE function = 'exports.run'")
    with org.app.app_context(), tenancy.organization(org.id), db.transaction():
        running.fail(UUID(export_id), "StorageFull: no space")
    work()
    (note,) = _notes(org.api("reviewer"))
    assert (note["kind"], note["title"]) == ("export_failed", "Your csv export failed")
    assert note["body"] == "The file could not be stored."
    assert note["link"] == f"/api/v1/exports/{export_id}"


def test_of_the_export_of_an_api_key_nobody_is_told(org: Org, work: Work) -> None:
    _export(org.key("reviewer"))
    work()
    rows = run_sql(org, "SELECT status FROM exports")
    assert [row.status for row in rows] == ["completed"]
    assert _notes(org.api("owner")) == []


def _invite(org: Org, email: str) -> str:
    path = f"/organizations/{org.slug}/invitations"
    answer = org.api("admin").post(path, {"email": email, "role": "reviewer"})
    assert answer.status_code == 201, answer.json
    return str(answer.json["data"]["id"])


def test_an_invited_user_is_told_in_the_application(org: Org, other_org: Org, work: Work) -> None:
    email = other_org.email("viewer")
    _invite(org, email)
    work()
    api = other_org.api("viewer")
    (note,) = _notes(api)
    assert (note["kind"], note["title"]) == ("invitation", "Admin invited you to Test")
    assert note["organization"]["slug"] == org.slug
    assert note["body"].startswith("You can join as reviewer.\n\nOpen the link in the email")
    assert email in note["body"]
    assert note["link"] is None
    # The invitation is the only email.
    (letter,) = list_emails_to(email)
    assert letter.token
    assert letter.token not in note["body"]


@pytest.mark.parametrize("how", ["revoked", "turned off", "look-alike", "no account"])
def test_whoever_is_not_invited_any_more_or_no_user_is_not_told(
    org: Org, other_org: Org, work: Work, how: str
) -> None:
    email = other_org.email("viewer")
    if how == "turned off":
        chosen = {"invitation": {"in_app": False}}
        changed = other_org.api("viewer").patch("/users/me/notification-preferences", chosen)
        assert changed.status_code == 200
    if how == "look-alike":
        email = email.replace("viewer", "v\u0456ewer")
    if how == "no account":
        email = f"x{email}"
    invitation = _invite(org, email)
    if how == "revoked":
        path = f"/organizations/{org.slug}/invitations/{invitation}"
        assert org.api("admin").delete(path).status_code == 204
    work()
    assert _notes(other_org.api("viewer")) == []
    assert run_sql(org, "SELECT FROM notifications") == []


def test_an_invitation_sent_again_is_told_once(org: Org, other_org: Org, work: Work) -> None:
    email = other_org.email("viewer")
    _invite(org, email)
    _invite(org, email)
    work()
    assert len(_notes(other_org.api("viewer"))) == 1
    assert len(list_emails_to(email)) == 2
