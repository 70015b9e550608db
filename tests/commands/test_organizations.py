"""`flask org`."""

import time

import pytest

from app.commands import organizations
from app.identity.control_plane import queries
from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.counts import run_sql
from tests.factories.emails import list_messages_to
from tests.factories.state_machines import copy_with


def _build_owner_options() -> tuple[str, ...]:
    return ("--owner-email", f"ada.{uuid7().hex}@test.example", "--owner-name", "Ada")


def test_create_list_show(flask, org: Org, work) -> None:
    slug = f"made-{uuid7().hex[-12:]}"
    owner = _build_owner_options()
    created = flask.json("org", "create", "Made here", "--slug", slug, *owner, "--plan", "team")
    assert (created["slug"], created["plan"], created["status"]) == (slug, "team", "active")
    assert created["owner"]["created"] is True
    work()
    assert len(list_messages_to(owner[1])) == 1
    rows = {row["slug"]: row for row in flask.json("org", "list")}
    assert (rows[slug]["members"], rows[slug]["name"]) == (1, "Made here")
    assert rows[org.slug]["members"] == 5
    table = flask.run_ok("org", "list", "--status", "active", "--plan", "team").stdout.splitlines()
    assert table[0].split()[:3] == ["slug", "name", "status"]
    (line,) = [line for line in table if line.startswith(slug)]
    assert line.split()[1:6] == ["Made", "here", "active", "team", "1"]
    shown = flask.run_ok("org", "show", slug).stdout
    assert f"owners             {owner[1]}" in shown
    assert flask.json("org", "show", slug)["owners"] == [owner[1]]


def test_the_list_goes_on_after_a_batch(flask, org: Org, other_org: Org, monkeypatch) -> None:
    everything = [row["slug"] for row in flask.json("org", "list")]
    monkeypatch.setattr(queries, "_BATCH_SIZE", 1)
    assert [row["slug"] for row in flask.json("org", "list")] == everything
    assert {org.slug, other_org.slug} <= set(everything)


def test_plan(flask, org: Org) -> None:
    limits = ("--limit", "members=20", "--limit", "webhooks=none")
    changed = flask.json("org", "plan", org.slug, "business", *limits)
    assert (changed["plan"], changed["limits"]) == ("business", {"members": 20, "webhooks": None})
    assert flask.json("org", "plan", org.slug, "free")["limits"] == {}
    for wrong in ("pages=1", "members", "members=-1", "members=1.5", "members=9" + "9" * 15):
        result = flask.run("org", "plan", org.slug, "free", "--limit", wrong)
        assert result.exit_code in (1, 2), wrong
    assert flask.run("org", "plan", org.slug, "gold").exit_code == 2


def test_suspend_and_reinstate(flask, org: Org) -> None:
    flask.run_ok("org", "suspend", org.slug, "--reason", "Not paid")
    refused = org.api("owner").post("/artifacts", json={"name": "a.txt", "text": "x"})
    assert refused.status_code == 403
    flask.run_ok("org", "reinstate", org.slug)
    assert (
        org.api("owner").post("/artifacts", json={"name": "a.txt", "text": "x"}).status_code == 201
    )
    assert "reason" in flask.get_refusal("org", "suspend", org.slug, "--reason", "a\nb")


def test_close_asks_first(flask, org: Org) -> None:
    message = flask.get_refusal("org", "close", org.slug, stdin="another\n")
    assert "Nothing was closed" in message
    assert org.api("viewer").get("/artifacts").status_code == 200
    closed = flask.run_ok("org", "close", org.slug, stdin=f"{org.slug}\n").stdout
    assert "closed" in closed
    assert org.api("owner").get("/artifacts").status_code == 403
    assert "closed" in flask.get_refusal("org", "close", org.slug, "--yes")


def test_a_closed_one_is_reopened_until_it_is_erased(flask, org: Org) -> None:
    assert "closed" in flask.get_refusal("org", "reopen", org.slug)
    flask.run_ok("org", "close", org.slug, "--yes")
    assert "active" in flask.run_ok("org", "reopen", org.slug).stdout
    assert org.api("viewer").get("/artifacts").status_code == 200
    shown = org.api("viewer").get(f"/organizations/{org.slug}").json["data"]
    assert (shown["closed_at"], shown["erase_after"]) == (None, None)


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "no-such-organization"),
        ("plan", "no-such-organization", "free"),
        ("suspend", "no-such-organization", "--reason", "x"),
        ("reinstate", "no-such-organization"),
        ("close", "no-such-organization", "--yes"),
        ("reopen", "no-such-organization"),
    ],
)
def test_unknown_organizations(flask, arguments: tuple[str, ...]) -> None:
    assert flask.get_refusal("org", *arguments) == "Error: There is no such organization.\n"


def test_what_is_refused_says_which_member(flask, org: Org) -> None:
    message = flask.get_refusal(
        "org", "create", "Taken", "--slug", org.slug, *_build_owner_options()
    )
    assert message == "Error: This slug is taken. Choose another one. (organization.slug)\n"
    message = flask.get_refusal("org", "create", "N\nBcc: x", *_build_owner_options())
    assert "(organization.name)" in message


def test_names_cannot_control_the_terminal(flask, org: Org) -> None:
    run_sql(org, "UPDATE organizations SET name = E'a\\x1b[2J\\u202eb' WHERE id = :org")
    shown = flask.run_ok("org", "show", org.slug).stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "a\ufffd[2J\ufffdb" in shown


def test_the_audit_log_says_that_it_was_the_command_line(flask, org: Org) -> None:
    flask.run_ok("org", "plan", org.slug, "team")
    entries = org.api("admin").get(f"/organizations/{org.slug}/audit-log").json["data"]
    entry = entries[0]
    assert entry["actor"] == {"kind": "control_plane", "id": None, "label": "command line"}
    assert entry["changes"]["plan"] == ["unlimited", "team"]
    assert entry["request_id"].startswith("command-")
    assert entry["operation"] == "set_organization_plan"


def test_erase_what_is_due(flask, org: Org, other_org: Org, work) -> None:
    for organization in (org, other_org):
        flask.run_ok("org", "close", organization.slug, "--yes")
    run_sql(org, "UPDATE organizations SET erase_after = now() WHERE id = :org")
    begun = {row["slug"]: row["status"] for row in flask.json("org", "erase-due")}
    assert begun[org.slug] == "closed"
    assert other_org.slug not in begun
    work()
    assert flask.json("org", "show", org.slug)["status"] == "erased"
    assert flask.json("org", "show", other_org.slug)["status"] == "closed"
    assert org.slug not in {row["slug"] for row in flask.json("org", "erase-due", "--wait")}


def test_waiting_ends_when_all_is_erased(flask, org: Org, work, monkeypatch) -> None:
    flask.run_ok("org", "close", org.slug, "--yes")
    run_sql(org, "UPDATE organizations SET erase_after = now() WHERE id = :org")
    # Its own sleep alone: other threads and the work itself may sleep too.
    monkeypatch.setattr(organizations, "time", copy_with(time, sleep=lambda _: work()))
    rows = {row["slug"]: row["status"] for row in flask.json("org", "erase-due", "--wait")}
    assert rows[org.slug] == "erased"
