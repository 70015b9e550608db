"""`flask keys`, `audit`, `billing`, `mail`, `sso`; help, errors and real processes."""

import json
import os
import subprocess
from pathlib import Path

import click
import pytest
from cryptography.fernet import Fernet
from flask import Flask

from app.commands import COMMAND_GROUPS
from app.kit import container
from app.kit.ids import uuid7
from app.kit.mail import Mailer
from app.kit.secrets import Keyring
from devserver.process import find_free_port
from tests.commands.conftest import PROGRAM, ROOT, build_environment, run_process
from tests.factories import Org
from tests.factories.emails import list_messages_to
from tests.factories.mail import Inbox, build_inbox_server, get_body
from tests.factories.workspace import Workspace


def _list_commands(group: click.Group, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    paths = [(*path, group.name or "")]
    for command in group.commands.values():
        if isinstance(command, click.Group):
            paths += _list_commands(command, paths[0])
        else:
            paths.append((*paths[0], command.name or ""))
    return paths


ALL = [path for group in COMMAND_GROUPS for path in _list_commands(group)]


def test_which_commands_there_are() -> None:
    assert {" ".join(path) for path in ALL} >= {
        *("org create", "org list", "org show", "org plan", "org suspend", "org reinstate"),
        *("org close", "org erase-due", "user create", "user list", "user disable", "user enable"),
        *("user set-password", "user sessions list", "user sessions revoke", "keys rotate"),
        *("audit verify", "audit tail", "sso verify-domain", "mail test", "billing close-period"),
        "routing apply",
        "counts verify",
        "counts rebuild",
    }


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_each_has_help(flask, path: tuple[str, ...]) -> None:
    shown = flask.run_ok(*path, "--help").stdout
    assert shown.startswith("Usage:")
    assert len(shown.splitlines()) > 3


@pytest.mark.parametrize(
    "arguments",
    [
        ("org", "show", "\udcff"),
        ("user", "list", "--org", "\udcff"),
        ("audit", "verify", "\udcff"),
        ("mail", "test", "x\udcff@test.example", "--queue"),
        ("mail", "test", "x@test.example", "--locale", "\udcff", "--queue"),
        ("mail", "test", "nobody", "--queue"),
    ],
    ids=ascii,
)
def test_arguments_that_cannot_be_are_refused_in_words(flask, arguments: tuple[str, ...]) -> None:
    assert flask.get_refusal(*arguments).startswith("Error: ")


def test_rotate_keys(flask, org: Org, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = {"url": "http://127.0.0.2:9/", "events": ["export.completed"]}
    assert org.api("owner").post("/webhooks", json=hook).status_code == 201
    settings, old = container.settings(), container.keyring()
    fresh = Fernet.generate_key().decode()
    keyring = Keyring(settings.secret_key, [fresh, *settings.encryption_keys])
    monkeypatch.setitem(vars(container.current()), "keyring", keyring)
    before = {row["place"]: row for row in _rotate_keys(flask, "--dry-run")}
    assert before["webhooks.secret"]["rotated"] >= 1
    rotated = {row["place"]: row for row in _rotate_keys(flask)}
    assert rotated["webhooks.secret"]["rotated"] == before["webhooks.secret"]["rotated"]
    assert sum(row["rotated"] for row in _rotate_keys(flask)) == 0
    back = Keyring(settings.secret_key, [*settings.encryption_keys, fresh])
    monkeypatch.setitem(vars(container.current()), "keyring", back)
    _rotate_keys(flask)
    monkeypatch.setitem(vars(container.current()), "keyring", old)


def _rotate_keys(flask, *options: str) -> list[dict]:
    result = flask.run("keys", "rotate", "--json", *options)
    # 3: another test may have left what no key reads.
    assert result.exit_code in (0, 3), result.output
    return json.loads(result.stdout)


def test_verify_audit(flask, org: Org) -> None:
    org.api("owner").patch(f"/organizations/{org.slug}", json={"name": "Other"})
    report = flask.json("audit", "verify", org.slug)
    assert (report["ok"], report["chains"], report["findings"]) == (True, 1, [])
    assert "0 faults" in flask.run_ok("audit", "verify", org.slug).stdout
    assert "no such organization" in flask.get_refusal("audit", "verify", "nope")


def test_tail_audit(flask, org: Org) -> None:
    for name in ("First", "Second"):
        org.api("owner").patch(f"/organizations/{org.slug}", json={"name": name})
    lines = flask.run_ok("audit", "tail", org.slug, "-n", "1", "--json").stdout.splitlines()
    (entry,) = [json.loads(line) for line in lines]
    assert entry["changes"]["name"] == ["First", "Second"]
    shown = flask.run_ok("audit", "tail", org.slug).stdout.splitlines()
    assert "organizations.update" in shown[-1]
    assert "no such organization" in flask.get_refusal("audit", "tail", "nope")
    assert flask.run_ok("audit", "tail", "-n", "5").exit_code == 0


def test_close_a_period(flask) -> None:
    assert flask.json("billing", "close-period", "1990-05")["organizations"] == 0
    assert "(period)" in flask.get_refusal("billing", "close-period", "2999-05")
    assert "(period)" in flask.get_refusal("billing", "close-period", "May")


def test_mail_without_a_server(flask, app: Flask, work) -> None:
    shown = flask.run_ok("mail", "test", "mail.test@test.example").stdout
    path = Path(shown.removeprefix("SMTP_URL is not set. The email was written to ").strip())
    assert path.exists()
    flask.run_ok("mail", "test", "queued@test.example", "--queue")
    work()
    assert "was not sent" in flask.get_refusal("mail", "test", "a@b.c, d@e.f")


def test_mail_through_a_server(flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inbox, address = Inbox(), f"anna.{uuid7().hex}@test.example"
    server = build_inbox_server(inbox)
    mailer = Mailer(f"smtp://127.0.0.1:{server.port}", tmp_path, "no-reply@labels.example")
    monkeypatch.setitem(vars(container.current()), "mailer", mailer)
    assert "was not sent: the mail server" in flask.get_refusal("mail", "test", address)
    server.start()
    try:
        flask.run_ok("mail", "test", address)
        inbox.recipient_response = "550 no"
        assert "recipient refused (550)" in flask.get_refusal("mail", "test", address)
    finally:
        server.stop()
    (message,) = inbox.messages
    assert "does" in get_body(message, "plain")
    assert list_messages_to(address) == []


def test_verify_a_domain_that_is_not_listed(flask, org: Org) -> None:
    output = flask.get_refusal("sso", "verify-domain", org.slug, "example.com")
    assert "no such domain" in output
    assert flask.get_refusal("sso", "verify-domain", org.slug, "no domain")
    assert "no such organization" in flask.get_refusal(
        "sso", "verify-domain", "nope", "example.com"
    )


@pytest.mark.usefixtures("app")
def test_in_a_process_of_its_own(environ: dict[str, str], org: Org) -> None:
    finished = run_process(environ, "org", "show", org.slug, "--json")
    assert finished.returncode == 0, finished.stderr
    assert json.loads(finished.stdout)["slug"] == org.slug
    refused = run_process(environ, "org", "show", "no-such-organization")
    assert (refused.returncode, refused.stdout) == (1, "")


def _read_until_closed(terminal: int) -> bytes:
    """All that is drawn: one read gives a part, and a full terminal would hold the program up."""
    drawn = b""
    try:
        while part := os.read(terminal, 65_536):
            drawn += part
    except OSError:
        pass  # Linux's way to say that the other end is closed
    finally:
        os.close(terminal)
    return drawn


def test_a_bar_is_drawn_in_a_terminal_only(flask, environ: dict[str, str], org: Org) -> None:
    master_fd, terminal_fd = os.openpty()
    with subprocess.Popen(
        [PROGRAM, "audit", "verify", org.slug],
        cwd=ROOT,
        env=build_environment(environ),
        stdout=subprocess.PIPE,
        stderr=terminal_fd,
    ) as process:
        os.close(terminal_fd)
        drawn = _read_until_closed(master_fd).decode()
        written, _ = process.communicate(timeout=60)
    assert "Verifying" in drawn
    assert "100%" in drawn
    assert b"Verifying" not in written
    assert b" chains, " in written
    assert "Verifying" not in flask.run_ok("audit", "verify", org.slug).stderr


@pytest.mark.usefixtures("app")
def test_a_database_that_is_not_there(environ: dict[str, str]) -> None:
    url = f"postgresql://nobody:wrong@127.0.0.1:{find_free_port()}/none"
    refused = run_process({**environ, "DATABASE_URL": url}, "org", "list")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "The database cannot be reached." in refused.stderr
    assert "wrong" not in refused.stderr


def test_all_groups_are_listed(flask) -> None:
    shown = flask.run_ok("--help").stdout
    for group in COMMAND_GROUPS:
        assert f"  {group.name} " in shown


def test_settings_that_are_not_usable() -> None:
    refused = run_process({}, "org", "list")
    assert refused.returncode != 0
    assert "DATABASE_URL must be set" in refused.stderr


def test_route_what_waits(flask, org: Org) -> None:
    workspace = Workspace(org)
    ids = [workspace.artifact() for _ in range(3)]
    rule = {"name": "All", "action": {"user_id": str(org.users["labeler"])}}
    assert org.api("admin").post("/routing-rules", json=rule).status_code == 201
    assert flask.json("routing", "apply", org.slug) == {"matched": 3}
    shown = [org.api("viewer").get(f"/artifacts/{artifact_id}").json["data"] for artifact_id in ids]
    assignees = [{"user_id": str(org.users["labeler"]), "team_id": None}]
    assert [artifact["assignees"] for artifact in shown] == [assignees] * 3
    assert flask.run_ok("routing", "apply", org.slug).stdout == "matched  0\n"
    assert "no such organization" in flask.get_refusal("routing", "apply", "nope")
