"""The `flask sso` commands: complete command lines, and a separate process."""

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import Result
from flask import Flask

from app.identity.sso import domains
from app.kit import db
from tests.factories import Org
from tests.factories.counts import run_sql
from tests.identity.sso.conftest import Configure, Zone, get_domain

ROOT = Path(__file__).parents[3]


def _run(app: Flask, *arguments: str) -> Result:
    return app.test_cli_runner().invoke(args=["sso", "verify-domain", *arguments])


def _process(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [str(Path(sys.executable).parent / "flask"), "sso", "verify-domain", *arguments],
        cwd=ROOT,
        env={**base, **environ},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("enforced", [False, True])
def test_a_record_is_looked_up(
    app: Flask, org: Org, configure: Configure, zone: Zone, domain: str, enforced: bool
) -> None:
    listed_domain = configure(org, email_domains=[domain], enforced=enforced)["domains"][0]
    missing = _run(app, org.slug, domain, "--json")
    assert missing.exit_code == 3, missing.output
    assert json.loads(missing.stdout) == {"domain": domain, "proven": False}
    zone.put(listed_domain["record"])
    result = _run(app, org.slug, domain.upper())
    assert result.exit_code == 0, result.output
    assert get_domain(org)["verified_at"] is not None


def test_the_latest_dns_result_is_stored(
    app: Flask, org: Org, configure: Configure, zone: Zone, domain: str
) -> None:
    """A different result is stored even if it does not prove the domain."""
    zone.failing.add(f"_labeling-challenge.{domain}.")
    zone.failing.add(f"_labeling-challenge.{domain}")
    listed_domain = configure(org, email_domains=[domain])["domains"][0]
    assert listed_domain["problem"] == "The DNS did not respond."
    zone.failing.clear()
    result = _run(app, org.slug, domain)
    assert result.exit_code == 3, result.output
    assert get_domain(org)["problem"] == "The DNS record was not found."


def test_a_missing_record_ends_the_proof(
    app: Flask, org: Org, configure: Configure, zone: Zone, domain: str
) -> None:
    zone.put(configure(org, email_domains=[domain])["domains"][0]["record"])
    assert _run(app, org.slug, domain).exit_code == 0
    zone.texts.clear()
    noted = _run(app, org.slug, domain)
    assert noted.exit_code == 0, noted.output
    assert get_domain(org)["problem"] == "The DNS record was not found."
    past = db.utc_now() - domains.GRACE_PERIOD - timedelta(minutes=1)
    run_sql(org, "UPDATE sso_domains SET missing_since = :past", past=past)
    assert _run(app, org.slug, domain).exit_code == 3
    assert get_domain(org)["verified_at"] is None


def test_a_domain_that_another_organization_has_proven(
    app: Flask, org: Org, other_org: Org, configure: Configure, domain: str
) -> None:
    for organization in (org, other_org):
        configure(organization, email_domains=[domain])
    assert _run(app, org.slug, domain, "--vouch").exit_code == 0
    taken = _run(app, other_org.slug, domain, "--vouch")
    assert taken.exit_code == 3, taken.output
    assert "Another organization" in get_domain(other_org)["problem"]


def test_an_unlisted_domain_is_refused_with_a_message(
    app: Flask, org: Org, configure: Configure, domain: str
) -> None:
    configure(org, email_domains=[domain])
    for slug, name in ((org.slug, "unlisted.example"), ("no-such", domain), (org.slug, "no name")):
        for options in ((), ("--vouch",)):
            refused = _run(app, slug, name, *options)
            assert (refused.exit_code, refused.stdout) == (1, ""), refused.output
            assert refused.stderr.startswith("Error: ")


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("enforced", [False, True])
def test_vouching_in_a_separate_process(
    environ: dict[str, str], org: Org, configure: Configure, domain: str, enforced: bool
) -> None:
    configure(org, email_domains=[domain], enforced=enforced)
    set_email = "UPDATE users SET email = :email, email_key = :email WHERE id = :id"
    run_sql(org, set_email, email=f"viewer@{domain}", id=org.users["viewer"])
    vouched = _process(environ, org.slug, domain, "--vouch", "--json")
    assert vouched.returncode == 0, vouched.stderr
    assert json.loads(vouched.stdout) == {"domain": domain, "proven": True}
    assert get_domain(org)["verified_at"] is not None
    # Passwords are turned off now, so sessions that were opened by password have ended.
    assert org.api("viewer").get("/schemas").status_code == (401 if enforced else 200)
    log = f"/organizations/{org.slug}/audit-log?action=sso_domains.verify"
    actors = {entry["actor"]["kind"] for entry in org.api("owner").get(log).json["data"]}
    assert actors == {"control_plane"}
    refused = _process(environ, org.slug, "unlisted.example", "--vouch")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "Traceback" not in refused.stderr
