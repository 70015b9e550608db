"""Digests and quiet hours: one email at its time, with everything that is still unread."""

from datetime import timedelta

import pytest

from app.kit import db
from tests.delivery.notifications.conftest import Inbox
from tests.factories.emails import list_emails_to
from tests.factories.orgs import Org, get_data
from tests.factories.workspace import Workspace

PREFERENCES = "/notifications/delivery-preferences"


def _prefer(org: Org, frequency: str, quiet: tuple[int, int] | None = None) -> None:
    """Set the preferences of the labeler; quiet hours are in minutes from now."""
    hours = None
    if quiet is not None:
        begin, end = (db.utc_now() + timedelta(minutes=minutes) for minutes in quiet)
        hours = {"from": begin.strftime("%H:%M"), "to": end.strftime("%H:%M")}
    body = {"email_frequency": frequency, "quiet_hours": hours}
    get_data(org.api("labeler").put(PREFERENCES, body))


def _mention(inbox: Inbox, *bodies: str) -> None:
    """Mention the labeler in comments, each on another tag set, and run the jobs."""
    workspace = inbox.workspace
    mentions = [str(workspace.org.users["labeler"])]
    for body in bodies:
        path = f"/tag-sets/{workspace.submitted()['id']}/comments"
        answer = workspace.org.api("reviewer").post(path, {"body": body, "mentions": mentions})
        assert answer.status_code == 201, answer.json
    inbox.work()


@pytest.mark.parametrize("frequency", ["hourly", "daily"])
def test_a_digest_has_everything_of_all_kinds(
    workspace: Workspace, inbox: Inbox, frequency: str
) -> None:
    _prefer(workspace.org, frequency)
    inbox.reject_new_tag_sets(3, "labeler")
    _mention(inbox, "First?", "Second?")
    inbox.end_windows()
    # The windows have ended, but not the hour or the day: the clock may be close to one, so that
    # only an email of all of them would be right.
    inbox.send_due_emails()
    early = inbox.list_email_subjects("labeler")
    inbox.pass_time("1 hour" if frequency == "hourly" else "1 day")
    (email,) = list_emails_to(workspace.org.email("labeler"))
    assert early in ([], [email.subject])
    assert email.subject.endswith(", and 2 more notifications")
    for expected in ("First?", "Second?", "3 of your tag sets were sent back"):
        assert expected in email.text
    inbox.pass_time("1 day")
    assert len(inbox.list_email_subjects("labeler")) == 1


def test_a_digest_counts_more_than_it_quotes(workspace: Workspace, inbox: Inbox) -> None:
    _prefer(workspace.org, "daily")
    _mention(inbox, "First?")
    workspace.sql(
        "INSERT INTO notifications (organization_id, id, user_id, kind, title, body, in_app,"
        " by_mail, open_until, created_at, updated_at)"
        " SELECT organization_id, gen_random_uuid(), user_id, 'export_ready', 'Export ' || i, '',"
        " in_app, by_mail, open_until, created_at, updated_at"
        " FROM notifications CROSS JOIN generate_series(1, 40) AS i"
    )
    inbox.pass_time("1 day")
    (email,) = list_emails_to(workspace.org.email("labeler"))
    assert email.subject.endswith(", and 40 more notifications")
    assert email.text.count("Export ") == 20


def test_what_was_read_is_not_in_the_digest(workspace: Workspace, inbox: Inbox) -> None:
    _prefer(workspace.org, "daily")
    _mention(inbox, "First?", "Second?")
    api = workspace.org.api("labeler")
    newest, _ = api.get("/notifications").json["data"]
    assert api.post(f"/notifications/{newest['id']}/read").status_code == 200
    inbox.pass_time("1 day")
    (email,) = list_emails_to(workspace.org.email("labeler"))
    assert "First?" in email.text
    assert "Second?" not in email.text
    assert "more" not in email.subject


@pytest.mark.parametrize(("read_count", "email_count"), [(1, 1), (2, 0)])
def test_a_digest_of_which_all_was_read_is_not_sent(
    workspace: Workspace, inbox: Inbox, read_count: int, email_count: int
) -> None:
    _prefer(workspace.org, "daily")
    _mention(inbox, "First?", "Second?")
    inbox.workspace.sql(
        "UPDATE notifications SET created_at = created_at - interval '1 day',"
        " open_until = open_until - interval '1 day'"
    )
    inbox.enqueue_due_emails()
    api = workspace.org.api("labeler")
    for note in api.get("/notifications").json["data"][:read_count]:
        assert api.post(f"/notifications/{note['id']}/read").status_code == 200
    inbox.work()
    assert len(inbox.list_email_subjects("labeler")) == email_count


def test_a_kind_that_was_turned_off_is_not_in_the_digest(
    workspace: Workspace, inbox: Inbox
) -> None:
    _prefer(workspace.org, "daily")
    inbox.reject_new_tag_sets(2, "labeler")
    _mention(inbox, "First?")
    inbox.set_preferences("labeler", '{"mention": {"email": false}}')
    inbox.pass_time("1 day")
    (email,) = list_emails_to(workspace.org.email("labeler"))
    assert email.subject == "[Test] 2 of your tag sets were sent back"


def test_each_organization_has_its_own_digest(
    workspace: Workspace, other_org: Org, inbox: Inbox
) -> None:
    labeler = workspace.org.users["labeler"]
    _prefer(workspace.org, "daily")
    other = Workspace(other_org)
    other.sql(
        "INSERT INTO memberships (organization_id, user_id, role, created_at)"
        " VALUES (:org, :id, 'labeler', now())",
        org=other_org.id,
        id=labeler,
    )
    other_org.users["labeler"] = labeler
    other_inbox = Inbox(other, inbox.work)
    _mention(inbox, "Here?")
    _mention(other_inbox, "There?")
    other_inbox.pass_time("1 day")
    inbox.pass_time("1 day")
    emails = list_emails_to(workspace.org.email("labeler"))
    assert len(emails) == 2
    for email in emails:
        assert ("Here?" in email.text) is not ("There?" in email.text)


@pytest.mark.parametrize("grouped", [True, False])
def test_emails_wait_for_the_end_of_the_quiet_hours(
    workspace: Workspace, inbox: Inbox, grouped: bool
) -> None:
    _prefer(workspace.org, "immediate", quiet=(-60, 60))
    if grouped:
        inbox.reject_new_tag_sets(2, "labeler")
        inbox.end_windows()
    else:
        _mention(inbox, "Now?")
    for _ in range(2):
        inbox.send_due_emails()
    assert inbox.list_email_subjects("labeler") == []
    (note,) = workspace.sql("SELECT open_until - now() AS left FROM notifications")
    assert timedelta(minutes=57) < note.left <= timedelta(minutes=60)
    # Time cannot be turned forward for the database, so the quiet hours are moved instead.
    _prefer(workspace.org, "immediate", quiet=(-120, -60))
    inbox.send_due_emails()
    assert len(inbox.list_email_subjects("labeler")) == 1


def test_outside_of_the_quiet_hours_emails_are_immediate(
    workspace: Workspace, inbox: Inbox
) -> None:
    _prefer(workspace.org, "immediate", quiet=(60, 120))
    _mention(inbox, "Now?")
    assert len(inbox.list_email_subjects("labeler")) == 1


def test_a_new_preference_applies_to_pending_emails(workspace: Workspace, inbox: Inbox) -> None:
    _prefer(workspace.org, "daily")
    _mention(inbox, "First?", "Second?")
    inbox.enqueue_due_emails()
    assert inbox.list_email_subjects("labeler") == []
    _prefer(workspace.org, "immediate")
    inbox.send_due_emails()
    (email,) = list_emails_to(workspace.org.email("labeler"))
    assert email.subject.endswith(", and 1 more notification")


def test_others_are_not_delayed(workspace: Workspace, inbox: Inbox) -> None:
    _prefer(workspace.org, "daily")
    workspace.org.add_user("second", "labeler")
    inbox.reject_new_tag_sets(4, "labeler", "second")
    inbox.send_all_emails()
    assert len(inbox.list_email_subjects("second")) == 1
    # Unless it is eight o'clock this very moment.
    pending = workspace.sql("SELECT count(*) FROM notifications WHERE open_until > now()")
    assert pending[0].count + len(inbox.list_email_subjects("labeler")) == 1


@pytest.mark.parametrize("is_queued", [True, False])
def test_after_the_closing_of_an_organization_no_emails_are_sent(
    workspace: Workspace, inbox: Inbox, is_queued: bool
) -> None:
    inbox.reject_new_tag_sets(2, "labeler")
    inbox.end_windows()
    if is_queued:
        inbox.enqueue_due_emails()
    workspace.sql("UPDATE organizations SET status = 'closed' WHERE id = :id", id=workspace.org.id)
    inbox.send_due_emails()
    assert inbox.list_email_subjects("labeler") == []
