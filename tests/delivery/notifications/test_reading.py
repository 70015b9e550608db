"""Reading, reading everything, and deleting: what it does to the list, the count and the emails."""

from typing import Any

import pytest
from sqlalchemy import text

from app.delivery.notifications.jobs import OLD_NOTIFICATIONS_CONDITION
from app.delivery.notifications.queries import changing
from app.kit import db, purging, tenancy
from tests.delivery.notifications.conftest import Inbox, count_unread, list_notifications
from tests.factories import Org
from tests.factories.counts import find_differences, run_sql
from tests.factories.notifications import insert_notifications
from tests.factories.orgs import get_data
from tests.factories.workspace import Workspace


def test_a_notification_is_read_and_unread_again(org: Org) -> None:
    api = org.api("labeler")
    (notification_id,) = insert_notifications(org, org.users["labeler"])
    path = f"/notifications/{notification_id}/read"
    read_at = get_data(api.post(path))["read_at"]
    assert read_at is not None
    assert count_unread(api) == 0
    # It keeps the time at which it was first read.
    for body in ({}, {"read": True}):
        assert api.post(path, body).json["data"]["read_at"] == read_at
    again = api.post(path, {"read": False})
    assert again.json["data"]["read_at"] is None
    assert list_notifications(api) == [again.json["data"]]
    assert count_unread(api) == 1
    assert find_differences(org) == []


def test_events_that_the_person_has_not_seen_stay_unread(
    workspace: Workspace, inbox: Inbox
) -> None:
    inbox.reject_new_tag_sets(1, "labeler")
    api = workspace.org.api("labeler")
    (notification,) = list_notifications(api)
    inbox.reject_new_tag_sets(1, "labeler")
    path = f"/notifications/{notification['id']}/read"
    answer = api.post(path, {"count": notification["count"]})
    assert (answer.status_code, answer.json["data"]["read_at"]) == (200, None)
    assert (answer.json["data"]["count"], count_unread(api)) == (2, 1)
    refused = api.delete(f"/notifications/{notification['id']}?count={notification['count']}")
    assert (refused.status_code, refused.json["error"]["code"]) == (409, "stale_precondition")
    assert refused.json["error"]["details"] == {"count": 2}
    assert api.post(path, {"count": 2}).json["data"]["read_at"] is not None
    # What was read stays read, with the time at which it was.
    assert api.post(path, {"count": 1}).json["data"]["read_at"] is not None
    assert count_unread(api) == 0


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"read": None}, "read"),
        ({"count": "many"}, "count"),
        ({"read": "no"}, "read"),
        ({"unread": True}, "unread"),
    ],
)
def test_a_wrong_body_names_its_member(org: Org, body: dict[str, Any], field: str) -> None:
    api = org.api("labeler")
    (notification_id,) = insert_notifications(org, org.users["labeler"])
    answer = api.post(f"/notifications/{notification_id}/read", body)
    assert (answer.status_code, answer.json["error"]["field"]) == (422, field)
    assert count_unread(api) == 1


@pytest.mark.parametrize("path", ["/notifications/x/read", "/notifications/%00/read"])
def test_what_is_no_id_is_not_found(org: Org, path: str) -> None:
    assert org.api("labeler").post(path).status_code == 404


def test_a_deleted_one_is_gone(org: Org) -> None:
    api = org.api("labeler")
    first, second = insert_notifications(org, org.users["labeler"], 2)
    assert api.delete(f"/notifications/{first}").status_code == 204
    assert api.delete(f"/notifications/{first}?count=1").status_code == 404
    assert api.delete(f"/notifications/{second}?count=0").status_code == 422
    assert [notification["id"] for notification in list_notifications(api)] == [second]
    assert count_unread(api) == 1
    assert api.delete(f"/notifications/{second}?count=1").status_code == 204
    assert find_differences(org) == []


def test_all_are_read_in_batches(org: Org, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changing, "BATCH_SIZE", 3)
    api = org.api("labeler")
    insert_notifications(org, org.users["labeler"], 7)
    insert_notifications(org, org.users["labeler"], 2, step="0 seconds")
    insert_notifications(org, org.users["labeler"], 2, read=True)
    insert_notifications(org, org.users["owner"], 2)
    assert api.post("/notifications/read-all").json["data"] == {"read": 9}
    assert count_unread(api) == 0
    assert all(notification["read_at"] for notification in list_notifications(api))
    assert api.post("/notifications/read-all").json["data"] == {"read": 0}
    assert count_unread(org.api("owner")) == 2
    assert find_differences(org) == []


def test_what_is_being_written_stays_unread(org: Org) -> None:
    """Another event is being added to it: the person has not seen that one."""
    api = org.api("labeler")
    changing_id, _ = insert_notifications(org, org.users["labeler"], 2)
    with org.app.app_context(), db.engine().connect() as other:
        other.execute(text("SET app.all_organizations = 'on'"))
        add = "UPDATE notifications SET count = 2, updated_at = now() WHERE id = :id"
        other.execute(text(add), {"id": changing_id})
        assert api.post("/notifications/read-all").json["data"] == {"read": 1}
        other.commit()
    (unread,) = [note for note in list_notifications(api) if note["read_at"] is None]
    assert (unread["id"], unread["count"]) == (changing_id, 2)
    assert count_unread(api) == 1


def test_what_arrives_between_two_batches_stays_unread(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changing, "BATCH_SIZE", 2)
    api, user = org.api("labeler"), org.users["labeler"]
    insert_notifications(org, user, 4)
    batches = []
    mark_batch_as_read = changing.mark_batch_as_read

    def read_and_insert(*args: Any) -> Any:
        batch = mark_batch_as_read(*args)
        if not batches:
            insert_notifications(org, user, title="Late", start="2026-05-04T12:00:00Z")
        batches.append(batch)
        return batch

    monkeypatch.setattr(changing, "mark_batch_as_read", read_and_insert)
    assert api.post("/notifications/read-all").json["data"] == {"read": 4}
    unread = [note["title"] for note in list_notifications(api) if note["read_at"] is None]
    assert unread == ["Late 1"]


@pytest.mark.parametrize("how", ["read", "read-all", "delete"])
def test_no_email_is_sent_of_what_was_read_or_deleted(
    workspace: Workspace, inbox: Inbox, how: str
) -> None:
    inbox.reject_new_tag_sets(2, "labeler")
    api = workspace.org.api("labeler")
    (note,) = list_notifications(api)
    assert note["count"] == 2
    answer = {
        "read": lambda: api.post(f"/notifications/{note['id']}/read"),
        "read-all": lambda: api.post("/notifications/read-all"),
        "delete": lambda: api.delete(f"/notifications/{note['id']}"),
    }[how]()
    assert answer.status_code in (200, 204)
    inbox.send_all_emails()
    assert inbox.list_email_subjects("labeler") == []


def test_what_was_marked_as_unread_in_time_is_mailed(workspace: Workspace, inbox: Inbox) -> None:
    inbox.reject_new_tag_sets(2, "labeler")
    api = workspace.org.api("labeler")
    (note,) = list_notifications(api)
    for read in (True, False):
        assert api.post(f"/notifications/{note['id']}/read", {"read": read}).status_code == 200
    inbox.send_all_emails()
    assert len(inbox.list_email_subjects("labeler")) == 1


def test_old_ones_are_purged_in_batches(org: Org, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.kit.purging.BATCH_SIZE", 2)
    api, user = org.api("labeler"), org.users["labeler"]
    insert_notifications(org, user, 5, start="2020-01-01T00:00:00Z")
    insert_notifications(org, user, 1, title="Recent", start="now")
    everything = tenancy.across_organizations(reason="as the job does")
    with org.app.app_context(), everything, db.transaction():
        purging.purge("notifications", OLD_NOTIFICATIONS_CONDITION, db.checkpoint, {"days": 365})
    assert [notification["title"] for notification in list_notifications(api)] == ["Recent 1"]
    assert count_unread(api) == 1
    assert find_differences(org) == []
    assert run_sql(org, "SELECT FROM notifications WHERE created_at < '2021-01-01'") == []
