"""What comes in numbers is one notification and one email to each person, whatever dies."""

from collections import Counter

import pytest

from app.kit import container
from tests.delivery.notifications.conftest import Inbox
from tests.factories.emails import list_emails_to
from tests.factories.routing import Router
from tests.factories.submitted import make_submitted_tag_sets
from tests.factories.workspace import Workspace


def test_of_three_hundred_rejections_three_labelers_get_one_email_each(
    workspace: Workspace, inbox: Inbox
) -> None:
    names = ("labeler", "second", "third")
    for name in names[1:]:
        workspace.org.add_user(name, "labeler")
    inbox.reject_new_tag_sets(300, *names)
    title = "100 of your tag sets were sent back"
    assert Counter(inbox.list_notifications()) == {(name, title, 100): 1 for name in names}
    assert [inbox.list_email_subjects(name) for name in names] == [[], [], []]
    inbox.send_all_emails()
    assert [inbox.list_email_subjects(name) for name in names] == [[f"[Test] {title}"]] * 3
    (row,) = workspace.sql(
        "SELECT body, link FROM notifications WHERE user_id = :id",
        id=workspace.org.users["labeler"],
    )
    first, then, named = row.body.split("\n\n")
    assert (first, then) == ("No total", "Correct them and submit them again.")
    assert named.startswith("Bill ")
    assert named.endswith(", …")
    assert named.count("Bill ") == 3
    assert row.link == "/api/v1/users/me/assignments?kind=label"
    inbox.send_all_emails()
    assert [len(inbox.list_email_subjects(name)) for name in names] == [1, 1, 1]


def test_a_queue_worked_through_one_by_one_is_one_notification(
    workspace: Workspace, inbox: Inbox
) -> None:
    ids = make_submitted_tag_sets(workspace, 4, "labeler")
    for number, one in enumerate(ids):
        inbox.reject([one], send_to="pool", reason=f"Reason {number}")
        inbox.work()
    assert inbox.list_notifications() == [("labeler", "4 of your tag sets were rejected", 4)]
    (row,) = workspace.sql("SELECT body, link FROM notifications")
    # They have no reason in common.
    assert "Reason" not in row.body
    labeler = workspace.org.users["labeler"]
    assert row.link == f"/api/v1/tag-sets?status=rejected&labeler_id={labeler}"
    items = workspace.org.api("labeler").get(row.link.removeprefix("/api/v1")).json["data"]
    assert {one["id"] for one in items} == set(ids)


def test_documents_that_come_one_by_one_are_one_notification(
    workspace: Workspace, inbox: Inbox
) -> None:
    router = Router(workspace)
    router.rule(user_id=str(workspace.org.users["labeler"]), due_in_hours=24)
    for number in range(5):
        assert router.route(workspace.artifact(name=f"Bill {number}")) == 1
        inbox.work()
    assert inbox.list_notifications() == [("labeler", "5 documents were assigned to you", 5)]
    (row,) = workspace.sql("SELECT body FROM notifications")
    assert row.body == "Bill 0, Bill 1, Bill 2, …"


def test_an_email_closes_and_what_comes_next_is_another_one(
    workspace: Workspace, inbox: Inbox
) -> None:
    ids = make_submitted_tag_sets(workspace, 3, "labeler")
    inbox.reject(ids[:2])
    inbox.work()
    inbox.send_all_emails()
    inbox.reject(ids[2:])
    inbox.work()
    assert [(name, count) for name, _, count in inbox.list_notifications()] == [
        ("labeler", 2),
        ("labeler", 1),
    ]
    inbox.send_all_emails()
    assert len(inbox.list_email_subjects("labeler")) == 2


def test_what_was_read_takes_no_more_and_is_not_mailed(workspace: Workspace, inbox: Inbox) -> None:
    ids = make_submitted_tag_sets(workspace, 3, "labeler")
    inbox.reject(ids[:2])
    inbox.work()
    inbox.read()
    inbox.reject(ids[2:])
    inbox.work()
    assert [count for _, _, count in inbox.list_notifications()] == [2, 1]
    inbox.send_all_emails()
    (subject,) = inbox.list_email_subjects("labeler")
    assert subject.startswith("[Test] Your labels for Bill ")


def test_all_of_a_kind_goes_in_one_email(workspace: Workspace, inbox: Inbox) -> None:
    ids = make_submitted_tag_sets(workspace, 4, "labeler")
    inbox.reject(ids[:2])
    inbox.work()
    inbox.reject(ids[2:], send_to="pool", reason="Not a bill")
    inbox.work()
    # The window of the second one is not over.
    workspace.sql(
        "UPDATE notifications SET open_until = now() WHERE message = 'label_sets_sent_back'"
    )
    inbox.send_due_emails()
    (email,) = list_emails_to(workspace.org.email("labeler"))
    sent_back = "2 of your tag sets were sent back"
    assert email.subject == f"[Test] {sent_back}, and 1 more notification"
    said = email.text.replace("\r\n", "\n")
    assert said.startswith(f"{sent_back}\nNo total\n\nCorrect them")
    address = container.settings().public_url
    page = f"{address}/open/{workspace.org.slug}/users/me/assignments?kind=label&lang=en"
    assert f"{page}\n" in said
    assert "2 of your tag sets were rejected\nNot a bill\n\n" in said
    inbox.send_all_emails()
    assert len(inbox.list_email_subjects("labeler")) == 1


@pytest.mark.parametrize(
    ("chosen", "in_app", "email_count"),
    [
        ('{"review_rejected": {"email": false}}', [True], 0),
        ('{"review_rejected": {"in_app": false}}', [False], 1),
        ('{"review_rejected": {"in_app": false, "email": false}}', [], 0),
    ],
)
def test_each_reads_where_they_want_to(
    workspace: Workspace,
    inbox: Inbox,
    chosen: str,
    in_app: list[bool],
    email_count: int,
) -> None:
    inbox.set_preferences("labeler", chosen)
    inbox.reject_new_tag_sets(2, "labeler")
    assert [row.in_app for row in workspace.sql("SELECT in_app FROM notifications")] == in_app
    inbox.send_all_emails()
    assert len(inbox.list_email_subjects("labeler")) == email_count


@pytest.mark.parametrize("how", ["chose", "left", "disabled"])
def test_who_wants_or_may_have_no_email_any_more_gets_none(
    workspace: Workspace, inbox: Inbox, how: str
) -> None:
    inbox.reject_new_tag_sets(2, "labeler")
    labeler = workspace.org.users["labeler"]
    address = workspace.org.email("labeler")
    if how == "chose":
        inbox.set_preferences("labeler", '{"review_rejected": {"email": false}}')
    elif how == "left":
        path = f"/organizations/{workspace.org.slug}/members/{labeler}"
        assert workspace.org.api("owner").delete(path).status_code == 204
    else:
        workspace.sql("UPDATE users SET disabled_at = now() WHERE id = :id", id=labeler)
    inbox.send_all_emails()
    assert list_emails_to(address) == []


def test_emails_are_in_the_readers_language(workspace: Workspace, inbox: Inbox) -> None:
    workspace.sql(
        "UPDATE users SET locale = 'de-AT' WHERE id = :id", id=workspace.org.users["labeler"]
    )
    inbox.reject_new_tag_sets(2, "labeler")
    inbox.send_all_emails()
    (email,) = list_emails_to(workspace.org.email("labeler"))
    assert email.subject == "[Test] 2 deiner Tag-Sets wurden zurückgegeben"
    assert "Öffnen:" in email.text.splitlines()
