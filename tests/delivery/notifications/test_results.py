"""Notifications of exports, of their deliveries, and of accepted invitations."""

from collections.abc import Callable
from uuid import UUID

from app.delivery.exports.service import running
from app.kit import events
from app.kit.ids import uuid7
from tests.delivery.notifications.conftest import list_notifications
from tests.factories import Org
from tests.factories.counts import run_sql
from tests.factories.emails import list_emails_to
from tests.factories.labels import make_labeled
from tests.factories.orgs import Api, get_data

Work = Callable[[], None]


def _create_export(api: Api) -> str:
    return str(get_data(api.post("/exports", {"format": "csv"}), 202)["id"])


def test_whoever_requested_an_export_is_notified_when_it_is_ready(org: Org, work: Work) -> None:
    make_labeled(org, 2)
    export_id = _create_export(org.api("reviewer"))
    work()
    (note,) = list_notifications(org.api("reviewer"))
    assert note["kind"] == "export_ready"
    assert note["title"] == "Your csv export is ready"
    assert note["body"].startswith("It contains 2 tag sets and can be downloaded until ")
    assert note["link"] == f"/api/v1/exports/{export_id}"
    assert org.api("reviewer").get(note["link"]).json["data"]["status"] == "completed"
    (message,) = list_emails_to(org.email("reviewer"))
    assert message.subject == "[Test] Your csv export is ready"
    assert f"/open/{org.slug}/exports/{export_id}?lang=en" in message.text
    assert list_notifications(org.api("owner")) == []


def test_whoever_requested_an_export_is_notified_when_it_fails(org: Org, work: Work) -> None:
    export_id = _create_export(org.api("reviewer"))
    run_sql(org, "UPDATE jobs SET due_at = NULL, status = 'failed' WHERE function = 'exports.run'")
    with org.transaction():
        running.fail(UUID(export_id), "StorageFull: no space")
    work()
    (note,) = list_notifications(org.api("reviewer"))
    assert (note["kind"], note["title"]) == ("export_failed", "Your csv export failed")
    assert note["body"] == "The file could not be stored. Retry later."
    assert note["link"] == f"/api/v1/exports/{export_id}"


def test_nobody_is_notified_of_the_export_of_an_api_key(org: Org, work: Work) -> None:
    _create_export(org.key("reviewer"))
    work()
    rows = run_sql(org, "SELECT status FROM exports")
    assert [row.status for row in rows] == ["completed"]
    assert list_notifications(org.api("owner")) == []


def test_an_invited_person_gets_the_email_only(org: Org, other_org: Org, work: Work) -> None:
    email = other_org.email("viewer")
    path = f"/organizations/{org.slug}/invitations"
    get_data(org.api("admin").post(path, {"email": email, "role": "reviewer"}), 201)
    work()
    assert list_notifications(other_org.api("viewer")) == []
    assert len(list_emails_to(email)) == 1


def test_whoever_invited_a_person_is_notified_of_the_acceptance_once(
    org: Org, other_org: Org, work: Work
) -> None:
    email = other_org.email("viewer")
    path = f"/organizations/{org.slug}/invitations"
    get_data(org.api("admin").post(path, {"email": email, "role": "reviewer"}), 201)
    work()
    (message,) = list_emails_to(email)
    get_data(other_org.api("viewer").post(f"/auth/invitations/{message.token}/accept", {}))
    work()
    (note,) = list_notifications(org.api("admin"))
    assert note["kind"] == "invitation"
    assert note["title"].endswith(" accepted your invitation")
    assert note["body"] == f"{email} is now a member of the organization."
    members = org.api("admin").get(note["link"]).json["data"]
    assert email in [member["user"]["email"] for member in members]
    assert list_notifications(org.api("owner")) == []
    (mail,) = list_emails_to(org.email("admin"))
    assert mail.subject.endswith(" accepted your invitation")


def test_nobody_is_notified_of_a_member_who_was_not_invited(org: Org, work: Work) -> None:
    with org.transaction():
        payload = {"user_id": org.users["viewer"], "role": "viewer", "invitation_id": None}
        events.emit("member.joined", payload)
    work()
    for role in ("owner", "admin", "viewer"):
        assert list_notifications(org.api(role)) == []


def _fail_delivery(org: Org, user: str) -> None:
    with org.transaction():
        events.emit(
            "scheduled_export.delivery_failed",
            {
                "scheduled_export_id": uuid7(),
                "job_id": uuid7(),
                "name": "Nightly",
                "error": {"code": "unreachable", "message": "The host did not respond in time."},
                "created_by": org.users[user],
            },
        )


def test_whoever_scheduled_an_export_is_notified_if_its_file_is_not_delivered(
    org: Org, work: Work
) -> None:
    _fail_delivery(org, "admin")
    work()
    (note,) = list_notifications(org.api("admin"))
    assert (note["kind"], note["title"]) == (
        "export_failed",
        "The file of Nightly could not be delivered",
    )
    assert note["body"] == "The host did not respond in time."
    assert note["link"].startswith("/api/v1/exports/")
    assert list_notifications(org.api("owner")) == []


def test_admins_are_notified_of_a_scheduled_export_whose_user_has_left(
    org: Org, work: Work
) -> None:
    api = org.api("admin")
    schedule = {"name": "Nightly", "format": "csv", "cron": "0 2 * * *"}
    scheduled = api.post("/exports/scheduled", schedule).json["data"]
    run = org.api("reviewer").post(f"/exports/scheduled/{scheduled['id']}/run").json["data"]
    one_time = _create_export(org.api("reviewer"))
    path = f"/organizations/{org.slug}/members/{org.users['reviewer']}"
    assert org.api("owner").delete(path).status_code == 204
    run_sql(org, "UPDATE jobs SET due_at = NULL, status = 'failed' WHERE function = 'exports.run'")
    with org.transaction():
        for export_id in (run["job_id"], one_time):
            running.fail(UUID(export_id), "StorageFull: no space")
    _fail_delivery(org, "reviewer")
    work()
    for role in ("owner", "admin"):
        notifications = list_notifications(org.api(role))
        titles = {note["title"] for note in notifications}
        assert titles == {"Your csv export failed", "The file of Nightly could not be delivered"}
        links = {note["link"] for note in notifications}
        assert f"/api/v1/exports/{run['job_id']}" in links
        assert f"/api/v1/exports/{one_time}" not in links
