"""Open invitations end with their inviter's right to invite, and with a removal of the invited."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.identity.control_plane import accounts
from app.kit import db, tenancy
from tests.factories import Org
from tests.identity.invitations.conftest import Desk, address, code

End = Callable[[Desk], None]


def _remove(desk: Desk) -> None:
    path = f"/organizations/{desk.org.slug}/members/{desk.org.users['admin']}"
    assert desk.org.api("owner").delete(path).status_code == 204


def _leave(desk: Desk) -> None:
    path = f"/organizations/{desk.org.slug}/members/{desk.org.users['admin']}"
    assert desk.org.api("admin").delete(path).status_code == 204


def _demote(desk: Desk) -> None:
    _change_role(desk, "admin", "reviewer")


def _disable(desk: Desk) -> None:
    with desk.org.app.app_context(), db.transaction():
        accounts.disable_user(desk.org.email("admin"))


def _change_role(desk: Desk, name: str, role: str) -> None:
    path = f"/organizations/{desk.org.slug}/members/{desk.org.users[name]}"
    answer = desk.org.api("owner").patch(path, json={"role": role})
    assert answer.status_code == 200, answer.json


def _revoked(answer: Any) -> None:
    assert (answer.status_code, code(answer)) == (409, "conflict")
    assert answer.json["error"]["details"] == {"state": "revoked"}


@pytest.mark.parametrize("end", [_remove, _leave, _demote, _disable], ids=lambda e: e.__name__)
def test_an_invitation_ends_with_its_inviter(desk: Desk, other_org: Org, end: End) -> None:
    other_email = address()
    assert desk.invite(other_email, by="owner").status_code == 201
    token = desk.invited(address(), by="admin")
    end(desk)
    _revoked(desk.offer(token))
    _revoked(desk.join(token))
    listed = desk.org.api("owner").get(desk.path).json["data"]
    assert [one["email"] for one in listed] == [other_email]
    ended = desk.org.api("owner").get(f"{desk.path}?status=revoked").json["data"]
    assert [one["invited_by"]["id"] for one in ended] == [str(desk.org.users["admin"])]


def test_a_demoted_owner_leaves_no_invitation_to_own(desk: Desk) -> None:
    to_own, to_label = desk.invited(address(), "owner", by="owner"), desk.invited(address())
    desk.org.add_user("second", "owner")
    path = f"/organizations/{desk.org.slug}/members/{desk.org.users['owner']}"
    assert desk.org.api("second").patch(path, json={"role": "admin"}).status_code == 200
    _revoked(desk.offer(to_own))
    assert desk.offer(to_label).status_code == 200


def test_a_promotion_ends_nothing(desk: Desk) -> None:
    token = desk.invited(address(), by="admin")
    _change_role(desk, "admin", "owner")
    assert desk.offer(token).status_code == 200


def test_an_invitation_from_before_the_removal_lets_nobody_in_again(desk: Desk) -> None:
    """Somebody was invited, joined another way and was removed."""
    email = desk.org.email("labeler")
    with desk.org.app.app_context(), db.transaction() as session:
        session.execute(
            text("UPDATE users SET email = :e, email_key = :e WHERE id = :u"),
            {"e": f"was.{email}", "u": desk.org.users["labeler"]},
        )
    token = desk.invited(email, "owner", by="owner")
    with desk.org.app.app_context(), db.transaction() as session:
        session.execute(
            text("UPDATE users SET email = :e, email_key = :e WHERE id = :u"),
            {"e": email, "u": desk.org.users["labeler"]},
        )
    path = f"/organizations/{desk.org.slug}/members/{desk.org.users['labeler']}"
    assert desk.org.api("admin").delete(path).status_code == 204
    _revoked(desk.offer(token))


def test_inviting_while_one_is_removed_leaves_nothing_open(app: Flask, desk: Desk) -> None:
    emails = [address() for _ in range(6)]
    with ThreadPoolExecutor(4) as pool:
        sent = [pool.submit(desk.invite, email, by="admin") for email in emails[:3]]
        gone = pool.submit(_remove, desk)
        sent += [pool.submit(desk.invite, email, by="admin") for email in emails[3:]]
        gone.result()
        assert {one.result().status_code for one in sent} <= {201, 403}
    assert desk.org.api("owner").get(desk.path).json["data"] == []
    with app.app_context(), tenancy.organization(desk.org.id):
        held = db.session().scalar(
            text("SELECT count(*) FROM invitations WHERE revoked_at IS NULL")
        )
    assert held == 0
