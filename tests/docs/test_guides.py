"""The guides' walks, pasted, against the service that `make run` starts."""

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from jsonschema import validate

from app.engines.destinations.registry import TYPES as DESTINATIONS
from app.engines.sources.registry import TYPES
from devserver.process import find_free_port
from tests.docs.pasting import ROOT, blocks, paste
from tests.faults.conftest import Service, run_service
from tests.intake.connectors.servers import SERVERS

# Beside tests/faults, and not after all of them.
pytestmark = pytest.mark.xdist_group("services")


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """Run one service for all guides, as for a reader who follows one after the other."""
    with run_service(RATE_LIMITS="off", REGISTRATION="open") as service:
        yield service


def _follow(service: Service, script: str, *expected: str, **environ: str) -> str:
    """Paste a script, check that it succeeds and prints `expected`, and return its output."""
    script = script.replace("a-demo-password", service.password)
    finished = paste(script, BASE=service.base, **environ)
    assert finished.returncode == 0, finished.stdout
    for text in expected:
        assert text in finished.stdout, finished.stdout
    return finished.stdout


@pytest.fixture
def providers_installed() -> None:
    """The walk has make install them: that would take them from under the tests beside this one."""
    asked = ["make", "--question", ".venv/providers.stamp"]
    current = subprocess.run(asked, cwd=ROOT, check=False).returncode == 0
    assert current, "run `make .venv/providers.stamp` before the tests"


@pytest.mark.usefixtures("providers_installed")
def test_the_walk_through_identity(service: Service) -> None:
    script = blocks("docs/guides/identity.md", "walk")
    environ = {"MAIL": str(service.data_dir / "mail"), "PROVIDER_HOST": "127.0.0.2"}
    expected = ("reviewer", "Sam Saml", "token_expired", "permission_denied", "invalid_api_key")
    _follow(service, script, *expected, **environ)


def test_the_walk_through_labeling(service: Service) -> None:
    script = blocks("docs/guides/labeling.md", "walk")
    expected = ("stale_precondition", "required_fields_missing", "5 of 5", "disagreement", "done")
    _follow(service, script, *expected)


def test_the_walk_through_ai_assistance(service: Service) -> None:
    script = blocks("docs/guides/ai-assist.md", "walk")
    output = _follow(service, script)
    before, after = output.split("'created': 20", 1)
    assert "'model_version': 'rules-1'" in before, output
    assert "invoice_number | B-7633 | " in after, output
    assert "total | {'amount': '377.10', 'currency': 'EUR'} | " in after, output
    assert after.rstrip().endswith("20"), output


def test_the_walk_through_connectors(service: Service) -> None:
    script = blocks("docs/guides/connectors.md", "walk")
    expected = ("rent.txt | created", "'skipped': 2", "'included': True", "Letters | local")
    _follow(service, script, *expected, SOURCES=str(service.folder / "sources"))


def test_the_walk_through_exports(service: Service) -> None:
    script = blocks("docs/guides/exports.md", "walk")
    expected = ("tag_set_id,status", "exports.create", "manual | completed", "'row_count'", "204")
    _follow(service, script, *expected)


def test_the_destinations_of_exports_fit_their_schemas() -> None:
    commands = (ROOT / "docs/guides/exports.md").read_text()
    bodies = [json.loads(body) for body in re.findall(r"^deliver '(.*)'$", commands, re.MULTILINE)]
    assert [body["kind"] for body in bodies] == list(DESTINATIONS)
    for body in bodies:
        validate(body["settings"], DESTINATIONS[body["kind"]].settings_schema)


def test_the_commands_for_each_type_of_connector(service: Service, tmp_path: Path) -> None:
    page = "docs/guides/connectors.md"
    helpers, *_, connect = re.findall(r"```sh walk\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    commands = re.findall(r"^connect '(.*)'$", blocks(page, "source"), re.MULTILINE)
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(serve(tmp_path)).settings for name, serve in SERVERS.items()
        }
        script = helpers.replace("a-demo-password", service.password) + connect
        for command in commands:
            body = json.loads(command)
            validate(body["settings"], TYPES[body["type"]].settings_schema)
            body["settings"] = servers[body["type"]]
            script += f"connect {shlex.quote(json.dumps(body))}\n"
        finished = paste(script, BASE=service.base)
    assert finished.stdout.splitlines() == ["ok"] * len(commands), finished.stdout
    assert {json.loads(command)["type"] for command in commands} == set(SERVERS)


def test_the_walk_through_ingestion(service: Service) -> None:
    script = blocks("docs/guides/ingestion.md", "walk")
    labeled = ("tags.0.value must be", "{'customer': 'C-9'} | in_review", "submitted | import | 2")
    plain = ("'duplicate': 1", "ticket-1.txt | T-1", "unreadable", "conflict", "'stars': '5'")
    reprocessed = "processing\ncompleted\nreviews-1.txt | created | None"
    _follow(service, script, *plain, *labeled, reprocessed)


def test_the_walk_through_notifications(service: Service) -> None:
    script = blocks("docs/guides/notifications.md", "walk")
    lists = ("assignment | ", "demo", "/api/v1/", "unread: 0", "deleted: 204")
    emails = ("Stop these emails", "You will no longer receive", "{'in_app': True, 'email': False}")
    expected = (*lists, "'from': '20:00'", "One-Click", *emails)
    _follow(service, script, *expected, MAIL=str(service.data_dir / "mail"))


def test_the_walk_through_webhooks(service: Service) -> None:
    # The fixture's service delivers to its own address of loopback.
    address, port = "127.0.0.2", str(find_free_port())
    script = blocks("docs/guides/webhooks.md", "walk")
    environment = 'eval "$(.venv/bin/python -m devserver env)"'
    for written, ours in (
        ("127.0.0.1:9000", f"{address}:{port}"),
        ("--host 127.0.0.1 --port 9000", f"--host {address} --port {port}"),
        (environment, ""),
    ):
        assert written in script
        script = script.replace(written, ours)
    expected = (
        "signature: valid; Standard Webhooks: valid",
        "ok a body with other than ASCII characters",
        "{'done': 2, 'total': 2}",
        "'success_rate': 1.0",
    )
    output = _follow(service, script, *expected, **_settings(service))
    assert "DIFFERS" not in output


def _settings(service: Service) -> dict[str, str]:
    """Return the settings of a service, as `python -m devserver env` prints them."""
    names = ("PATH", "HOME", "BASE")
    settings = {name: value for name, value in service.environment().items() if name not in names}
    return {**settings, "FLASK_APP": str(ROOT / "wsgi.py")}


def test_the_walk_through_quality(service: Service) -> None:
    script = blocks("docs/guides/quality.md", "walk")
    expected = (
        "topic 0.67",
        "image/png",
        "refund-1.txt [('delivery', 2), ('billing', 1)]",
        "['Leo Labeler']",
        "insufficient_role",
        "gold 0.5 of 1",
        "image/svg+xml",
        "Rita Reviewer | decisions: 1",
    )
    _follow(service, script, *expected)


def test_the_walk_through_billing() -> None:
    # Of its own: what the other walks leave exceeds the limits of a plan that this one chooses.
    token = "control-plane-token-of-the-guides"
    billing_file = str(ROOT / "examples" / "billing.toml")
    with run_service(CONTROL_PLANE_TOKEN=token, BILLING_FILE=billing_file) as service:
        script = blocks("docs/guides/billing.md", "walk")
        environment = 'eval "$(.venv/bin/python -m devserver env)"'
        assert environment in script
        settings = {**_settings(service), "CONTROL_PLANE_TOKEN": token}
        output = _follow(service, script.replace(environment, ""), **settings)
    usage = ("documents_per_month | ", "webhooks | 0 | None | None", "'added': ")
    limits = ("business | 299.00 | 200", '"code":"plan_limit_reached"', '"plan":"team"')
    profile = ("is a tax number of DE, not of AT", "ATU13585627")
    changes = ("{'plan': 'business', 'effective_at': ", "Tarif team, 10.")
    files = ("'category': 'AE'", "%PDF-", "A part of the invoice has been credited", "refused")
    for text in (*usage, *limits, *profile, *changes, *files, "credit_note"):
        assert text in output, output
    (checksum,) = re.findall(r"^([0-9a-f]{64})  invoice.pdf$", output, re.MULTILINE)
    assert output.count(checksum) == 2
