"""Notifications: once for each user, in the application and by email."""

import json
from collections.abc import Callable
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.delivery.notifications.models import Notification
from app.delivery.notifications.service import sending
from app.kit import container, db, tenancy
from app.kit.emails import MessageTemplates
from app.kit.mail import MailFailed
from app.kit.permissions import Role
from tests.factories import Org, run_jobs_of
from tests.factories.counts import run_sql
from tests.factories.emails import list_emails_to

WORDS = '[plain]\nsubject = "{title}"\ntext = "{body}"\n'


@pytest.fixture(autouse=True)
def _replace_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the messages with one whose subject and text a test chooses."""
    (tmp_path / "en.toml").write_text(WORDS)
    monkeypatch.setattr(sending, "messages", MessageTemplates(tmp_path))


def _notify(org: Org, title: str = "Somebody asks", body: str | None = None, **rest: Any) -> int:
    with org.transaction():
        values = {"title": title, "body": body}
        return sending.notify("plain", **{"kind": "mention", "values": values, **rest})


def _list_notifications(org: Org) -> list[Notification]:
    with org.app.app_context(), tenancy.organization(org.id):
        return list(db.session().scalars(select(Notification).order_by(Notification.id)))


def _list_emails(org: Org) -> list[EmailMessage]:
    folder = container.settings().data_dir / "mail"
    ids = {f"notification-{notification.id}" for notification in _list_notifications(org)}
    return [
        message_from_bytes((folder / f"{name}.eml").read_bytes(), policy=policy.default)
        for name in sorted(ids)
        if (folder / f"{name}.eml").exists()
    ]


def _remove(org: Org, name: str) -> None:
    path = f"/organizations/{org.slug}/members/{org.users[name]}"
    assert org.api("owner").delete(path).status_code == 204


def _disable(org: Org, name: str) -> None:
    run_sql(org, "UPDATE users SET disabled_at = now() WHERE id = :id", id=org.users[name])


def _prefer(org: Org, name: str, **chosen: dict[str, bool]) -> None:
    sql = "UPDATE users SET notification_preferences = CAST(:chosen AS jsonb) WHERE id = :id"
    run_sql(org, sql, chosen=json.dumps(chosen), id=org.users[name])


def _unsubscribe(org: Org, name: str) -> None:
    _prefer(org, name, mention={"email": False})


def test_all_members_with_a_role_are_notified(org: Org, work: Callable[[], None]) -> None:
    org.add_user("second", "owner")
    assert _notify(org, role=Role.owner, body="Look at it.", link="/api/v1/artifacts/1") == 2
    notifications = _list_notifications(org)
    assert {row.user_id for row in notifications} == {org.users["owner"], org.users["second"]}
    assert {(row.kind, row.title, row.body, row.read_at) for row in notifications} == {
        ("mention", "Somebody asks", "Look at it.", None)
    }
    work()
    mails = _list_emails(org)
    assert {mail["To"] for mail in mails} == {org.email("owner"), org.email("second")}
    assert {mail["Subject"] for mail in mails} == {"[Test] Somebody asks"}
    link = f"{container.settings().public_url}/open/{org.slug}/artifacts/1?lang=en"
    for mail in mails:
        plain, html = mail.get_body(("plain",)), mail.get_body(("html",))
        assert plain.get_content().splitlines()[:5] == ["Look at it.", "", "Open:", link, ""]
        assert f'href="{link}"' in html.get_content()
        assert "<bdi>Look at it.</bdi>" in html.get_content()


def test_named_users_are_notified_and_other_users_are_not(org: Org, other_org: Org) -> None:
    named = [org.users["viewer"], other_org.users["viewer"]]
    assert _notify(org, user_ids=named) == 1
    assert [row.user_id for row in _list_notifications(org)] == [org.users["viewer"]]
    assert _list_notifications(other_org) == []


def test_users_are_notified_once_for_each_cause(org: Org, work: Callable[[], None]) -> None:
    assert _notify(org, role=Role.owner, unique_key="cause-1") == 1
    assert _notify(org, role=Role.owner, unique_key="cause-1") == 0
    assert _notify(org, role=Role.owner, unique_key="cause-2") == 1
    work()
    assert len(_list_notifications(org)) == len(_list_emails(org)) == 2


def test_disabled_users_are_not_notified(org: Org) -> None:
    _disable(org, "owner")
    assert _notify(org, role=Role.owner) == 0


def test_mail_goes_to_those_who_want_it(org: Org, work: Callable[[], None]) -> None:
    for name in ("second", "third", "fourth"):
        org.add_user(name, "owner")
    _unsubscribe(org, "second")
    _prefer(org, "third", mention={"in_app": False})
    _prefer(org, "fourth", mention={"in_app": False, "email": False})
    assert _notify(org, role=Role.owner) == 3
    work()
    assert {row.user_id for row in _list_notifications(org)} == {
        org.users[name] for name in ("owner", "second", "third")
    }
    assert {mail["To"] for mail in _list_emails(org)} == {org.email("owner"), org.email("third")}


def test_who_left_before_the_email_was_due_gets_none(org: Org, work: Callable[[], None]) -> None:
    org.add_user("second", "owner")
    assert _notify(org, role=Role.owner) == 2
    _remove(org, "second")
    work()
    assert [mail["To"] for mail in _list_emails(org)] == [org.email("owner")]


def test_of_work_nobody_is_mailed_unasked(org: Org, work: Callable[[], None]) -> None:
    org.add_user("second", "owner")
    _prefer(org, "second", assignment={"email": True})
    assert _notify(org, role=Role.owner, kind="assignment") == 2
    work()
    assert [mail["To"] for mail in _list_emails(org)] == [org.email("second")]


def test_a_notification_that_is_rolled_back_is_not_stored(
    org: Org, work: Callable[[], None]
) -> None:
    with org.app.app_context(), tenancy.organization(org.id):
        values = {"title": "no", "body": None}
        sending.notify("plain", kind="mention", values=values, role=Role.owner)
        db.session().rollback()
    work()
    assert _list_notifications(org) == []


@pytest.mark.parametrize(("permanent", "status"), [(False, "queued"), (True, "completed")])
def test_a_mail_that_fails_is_tried_again_unless_it_is_hopeless(
    org: Org,
    work: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    permanent: bool,
    status: str,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MailFailed("the server does not want it", permanent=permanent)

    monkeypatch.setattr(container.current().mailer, "send", fail)
    _notify(org, role=Role.owner)
    work()
    sql = "SELECT status FROM jobs WHERE organization_id = :org AND function = 'letters.send'"
    assert [job.status for job in run_sql(org, sql)] == [status]


def test_a_title_of_several_lines_is_one_subject(org: Org, work: Callable[[], None]) -> None:
    _notify(org, role=Role.owner, title="One\r\nBcc: everybody@example.com")
    work()
    (mail,) = _list_emails(org)
    assert mail["Subject"] == "[Test] One Bcc: everybody@example.com"
    assert mail["Bcc"] is None


@pytest.mark.parametrize("is_queued", [False, True])
@pytest.mark.parametrize("method", ["read", "delete"])
def test_what_was_read_before_its_email_is_sent_is_not_sent(
    org: Org, method: str, is_queued: bool
) -> None:
    org.add_user("second", "labeler")
    first, second = org.users["labeler"], org.users["second"]
    assert _notify(org, user_ids=[first, second]) == 2
    if is_queued:
        run_jobs_of(org, "notifications")
    (notification,) = (row for row in _list_notifications(org) if row.user_id == first)
    path, api = f"/notifications/{notification.id}", org.api("labeler")
    answer = api.delete(path) if method == "delete" else api.post(f"{path}/read")
    assert answer.status_code in (200, 204)
    run_jobs_of(org, "notifications")
    assert run_jobs_of(org, "bulk_mail") == (2 if is_queued else 1)
    assert list_emails_to(org.email("labeler")) == []
    assert len(list_emails_to(org.email("second"))) == 1


def test_what_is_unread_again_is_sent(org: Org, work: Callable[[], None]) -> None:
    assert _notify(org, user_ids=[org.users["labeler"]]) == 1
    (notification,) = _list_notifications(org)
    for is_read in (True, False):
        path = f"/notifications/{notification.id}/read"
        assert org.api("labeler").post(path, {"read": is_read}).status_code == 200
    work()
    assert len(_list_emails(org)) == 1


@pytest.mark.parametrize("leave", [_remove, _disable, _unsubscribe])
def test_who_leaves_while_the_mail_waits_gets_none(
    org: Org, leave: Callable[[Org, str], None]
) -> None:
    org.add_user("second", "labeler")
    assert _notify(org, user_ids=[org.users["second"]]) == 1
    run_jobs_of(org, "notifications")
    leave(org, "second")
    assert run_jobs_of(org, "bulk_mail") == 1
    assert _list_emails(org) == []
    (job,) = run_sql(org, "SELECT args FROM jobs WHERE queue = 'bulk_mail'")
    assert "sealed" not in job.args


def test_mail_that_waits_goes_to_the_new_address(org: Org) -> None:
    org.add_user("second", "labeler")
    assert _notify(org, user_ids=[org.users["second"]]) == 1
    run_jobs_of(org, "notifications")
    run_sql(org, "UPDATE users SET email = 'new-' || email WHERE id = :id", id=org.users["second"])
    assert run_jobs_of(org, "bulk_mail") == 1
    (mail,) = _list_emails(org)
    assert mail["To"] == org.email("second")
    assert mail["To"].startswith("new-")
