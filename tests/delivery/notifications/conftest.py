"""Fixtures for notifications that are collected over a time window."""

from collections.abc import Callable
from typing import Any

import pytest

from app.delivery.notifications.service import mailing
from app.kit import db, tenancy
from tests.factories import Org
from tests.factories.emails import list_emails_to
from tests.factories.orgs import Api, get_data
from tests.factories.submitted import make_submitted_tag_sets
from tests.factories.workspace import Workspace


class Inbox:
    """Rejections in one organization, and the notifications about them."""

    def __init__(self, workspace: Workspace, work: Callable[[], None]) -> None:
        self.workspace = workspace
        self.work = work

    def reject(self, ids: list[str], *, send_to: str = "labeler", reason: str = "No total") -> None:
        """Reject tag sets with one request."""
        body = {"tag_set_ids": ids, "reason": reason, "send_to": send_to}
        answer = self.workspace.org.api("reviewer").post("/review-queue/bulk-reject", json=body)
        assert (answer.status_code, answer.json["data"]["failed"]) == (200, 0), answer.json

    def reject_new_tag_sets(self, count: int, *names: str) -> None:
        """Reject new tag sets of these users with one request, and run the jobs."""
        self.reject(make_submitted_tag_sets(self.workspace, count, *names))
        self.work()

    def list_notifications(self) -> list[tuple[str, str, int]]:
        """Return (user, title, count) of every notification, in order."""
        names = {user_id: name for name, user_id in self.workspace.org.users.items()}
        sql = "SELECT user_id, title, count AS number FROM notifications ORDER BY id"
        return [(names[row.user_id], row.title, row.number) for row in self.workspace.sql(sql)]

    def list_email_subjects(self, name: str) -> list[str]:
        """Return the subjects of a user's emails."""
        return [email.subject for email in list_emails_to(self.workspace.org.email(name))]

    def end_windows(self) -> None:
        """End all time windows, so that their notifications are due."""
        self.workspace.sql(
            "UPDATE notifications SET open_until = now() WHERE open_until IS NOT NULL"
        )

    def enqueue_due_emails(self) -> None:
        """Enqueue due emails, as the periodic job does."""
        with (
            self.workspace.org.app.app_context(),
            tenancy.across_organizations(reason="as the job does"),
            db.transaction(),
        ):
            mailing.enqueue_due_emails(db.checkpoint)

    def send_due_emails(self) -> None:
        """Enqueue and send due emails."""
        self.enqueue_due_emails()
        self.work()

    def send_all_emails(self) -> None:
        """End all time windows, and send the emails."""
        self.end_windows()
        self.send_due_emails()

    def pass_time(self, interval: str) -> None:
        """Move the notifications into the past, as if time had passed; then send due emails."""
        self.workspace.sql(
            "UPDATE notifications SET created_at = created_at - CAST(:by AS interval),"
            " open_until = open_until - CAST(:by AS interval)",
            by=interval,
        )
        self.send_due_emails()

    def read(self) -> None:
        """Mark all notifications as read."""
        self.workspace.sql("UPDATE notifications SET read_at = now() WHERE read_at IS NULL")

    def set_preferences(self, name: str, preferences: str) -> None:
        """Set the preferences (JSON) of a user."""
        sql = (
            "UPDATE users SET notification_preferences = CAST(:preferences AS jsonb) WHERE id = :id"
        )
        self.workspace.sql(sql, preferences=preferences, id=self.workspace.org.users[name])


def read_list(api: Api, query: str = "") -> Any:
    """Return the response of the list of a person's notifications."""
    answer = api.get(f"/notifications?{query}")
    assert answer.status_code == 200, answer.json
    return answer.json


def list_notifications(api: Api, query: str = "") -> list[dict[str, Any]]:
    """Return the notifications of a person that match a query string."""
    return list(read_list(api, query)["data"])


def count_unread(api: Api) -> int:
    """Return the number of a person's unread notifications."""
    return int(get_data(api.get("/notifications/unread-count"))["unread"])


@pytest.fixture
def workspace(org: Org) -> Workspace:
    return Workspace(org)


@pytest.fixture
def inbox(workspace: Workspace, work: Callable[[], None]) -> Inbox:
    return Inbox(workspace, work)
