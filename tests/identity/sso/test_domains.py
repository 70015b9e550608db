"""Domains are proven by a DNS record, looked up at a real server on loopback."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from app.identity.sso import domains, queries, service
from app.identity.sso.models import Domain, Flow
from app.kit import db, jobs, tenancy
from app.kit.errors import ApiError
from tests.factories import Org
from tests.factories.orgs import transaction_across_organizations
from tests.identity.sso.conftest import (
    Browser,
    Configure,
    Zone,
    build_sso_body,
    get_domain,
    mark_domains_verified,
    put,
    run_check,
)
from tests.identity.sso.hostile import Hostile


def _run_check(org: Org) -> dict[str, Any]:
    """Run the hourly job, and return the domain as it is afterwards."""
    run_check(org)
    return get_domain(org)


def test_a_record_proves_a_domain(
    org: Org, browser: Browser, configure: Configure, zone: Zone, domain: str
) -> None:
    listed_domain = configure(org, email_domains=[domain])["domains"][0]
    assert (listed_domain["domain"], listed_domain["verified_at"]) == (domain, None)
    assert listed_domain["problem"] == "The DNS record was not found."
    record = listed_domain["record"]
    assert (record["type"], record["name"]) == ("TXT", f"_labeling-challenge.{domain}")
    assert browser.post("/auth/sso/start", email=f"a@{domain}").status_code == 404
    zone.texts["unrelated.example"] = ["x"]
    zone.put(record)
    again = configure(org, email_domains=[domain])["domains"][0]
    assert again["verified_at"] is not None
    assert (again["problem"], again["record"]) == (None, record)
    url = browser.start(email=f"Somebody@{domain.upper()}")
    assert "login_hint=Somebody" in url


@pytest.mark.parametrize(
    "texts",
    [
        ["labeling-domain=another"],
        ["labeling-domain="],
        ["x" * 255, "v=spf1 -all"],
        ["\\000\\255"],
    ],
)
def test_a_record_that_proves_nothing(
    org: Org, configure: Configure, zone: Zone, domain: str, texts: list[str]
) -> None:
    zone.texts[f"_labeling-challenge.{domain}"] = texts
    assert configure(org, email_domains=[domain])["domains"][0]["verified_at"] is None


def test_the_record_of_another_organization(
    org: Org, other_org: Org, configure: Configure, zone: Zone, domain: str
) -> None:
    zone.put(configure(other_org, email_domains=[domain])["domains"][0]["record"])
    assert configure(org, email_domains=[domain])["domains"][0]["verified_at"] is None


def test_a_domain_belongs_to_one_organization(
    org: Org, other_org: Org, configure: Configure, zone: Zone, domain: str
) -> None:
    for organization in (org, other_org):
        zone.put(configure(organization, email_domains=[domain])["domains"][0]["record"])
        listed_domain = configure(organization, email_domains=[domain])["domains"][0]
    assert listed_domain["verified_at"] is None
    assert listed_domain["problem"] == "Another organization has verified this domain."
    assert configure(org, email_domains=[])["domains"] == []
    assert configure(other_org, email_domains=[domain])["domains"][0]["verified_at"] is not None


@pytest.mark.parametrize("vouch", [False, True])
def test_a_domain_of_a_closed_organization(
    org: Org, other_org: Org, configure: Configure, zone: Zone, domain: str, vouch: bool
) -> None:
    for organization in (org, other_org):
        zone.put(configure(organization, email_domains=[domain])["domains"][0]["record"])
    mark_domains_verified(org, domain)
    close = {"slug": org.slug}
    assert org.api("owner").post(f"/organizations/{org.slug}/close", close).status_code == 202
    if vouch:
        zone.texts.clear()
        mark_domains_verified(other_org, domain)
    assert configure(other_org, email_domains=[domain])["domains"][0]["verified_at"] is not None


@pytest.mark.parametrize("failing", ["failing", "silent"])
def test_a_dns_server_that_does_not_respond_proves_nothing(
    org: Org, configure: Configure, zone: Zone, domain: str, failing: str
) -> None:
    record = configure(org, email_domains=[domain])["domains"][0]["record"]
    getattr(zone, failing).add(record["name"])
    listed_domain = configure(org, email_domains=[domain])["domains"][0]
    assert listed_domain["problem"] == "The DNS did not respond."
    getattr(zone, failing).clear()
    zone.put(record)
    assert _run_check(org)["verified_at"] is not None
    getattr(zone, failing).add(record["name"])
    _age(org)
    assert _run_check(org)["verified_at"] is not None


def test_dns_servers_that_do_not_respond_delay_only_briefly(
    org: Org, configure: Configure, zone: Zone, domain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(domains, "REQUEST_TIMEOUT", 0.6)
    names = [f"n{number:02}.{domain}" for number in range(50)]
    zone.silent |= {f"{domains.RECORD_NAME}.{name}" for name in names}
    listed_domains = configure(org, email_domains=names)["domains"]
    assert {listed_domain["problem"] for listed_domain in listed_domains} == {
        "The DNS did not respond."
    }
    assert 0 < len(set(zone.asked)) < 50, "what is left is the hourly job's to ask"


def _age(org: Org) -> None:
    """Let the grace period end if it has begun."""
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        past = Domain.missing_since - domains.GRACE_PERIOD - timedelta(seconds=1)
        session.execute(update(Domain).values(missing_since=past))


def test_a_proof_expires_after_three_days_without_the_record(
    org: Org, configure: Configure, zone: Zone, domain: str
) -> None:
    record = configure(org, email_domains=[domain])["domains"][0]["record"]
    zone.put(record)
    assert _run_check(org)["verified_at"] is not None
    zone.texts.clear()
    missing = _run_check(org)
    assert missing["verified_at"] is not None
    assert missing["problem"] == "The DNS record was not found."
    zone.put(record)
    assert _run_check(org)["problem"] is None
    zone.texts.clear()
    _run_check(org)
    _age(org)
    assert _run_check(org)["verified_at"] is None


def test_the_hourly_job_checks_every_organization(
    app: Flask,
    org: Org,
    configure: Configure,
    zone: Zone,
    domain: str,
    work: Callable[[], None],
) -> None:
    zone.put(configure(org, email_domains=[domain])["domains"][0]["record"])
    with transaction_across_organizations(app):
        jobs.enqueue("sso.upkeep", {}, organization_id=None)
    work()
    assert get_domain(org)["verified_at"] is not None


def test_a_domain_that_is_listed_again_needs_its_new_record(
    org: Org, hostile: Hostile, zone: Zone, domain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check that began before has found the old record."""
    assert put(org, build_sso_body(hostile, email_domains=[domain])).status_code == 200
    zone.put(get_domain(org)["record"])
    check, answers = domains.check_domains, list[int]()

    def list_again(names: Any, **options: Any) -> Any:
        results = check(names, **options)
        if domain in {*names, *names.values()}:
            monkeypatch.setattr(domains, "check_domains", check)
            with ThreadPoolExecutor(1) as pool:  # The job's context is bound to this thread.
                for listed in ([], [domain]):
                    body = build_sso_body(hostile, email_domains=listed)
                    answers.append(pool.submit(put, org, body).result().status_code)
        return results

    monkeypatch.setattr(domains, "check_domains", list_again)
    assert _run_check(org)["verified_at"] is None
    assert answers == [200, 200]


def test_expired_rows_are_deleted(
    app: Flask, sso_org: Org, browser: Browser, work: Callable[[], None]
) -> None:
    for _ in range(2):
        browser.start(sso_org)
    with transaction_across_organizations(app) as session:
        oldest = session.scalars(
            select(Flow).where(Flow.organization_id == sso_org.id).order_by(Flow.id)
        ).first()
        assert oldest is not None
        oldest.expires_at = db.utc_now()
        jobs.enqueue("sso.upkeep", {}, organization_id=None)
    work()
    with app.app_context(), tenancy.organization(sso_org.id):
        assert [flow.id == oldest.id for flow in db.session().scalars(select(Flow))] == [False]


def test_the_operator_can_vouch_for_a_domain(
    org: Org, configure: Configure, zone: Zone, domain: str
) -> None:
    """For networks whose names no public DNS server knows."""
    configure(org, email_domains=[domain])
    with org.app.app_context(), tenancy.organization(org.id), db.transaction():
        assert service.verify_domain(domain) is False
        assert service.verify_domain(domain, vouch=True) is True
    assert _run_check(org)["verified_at"] is not None
    _age(org)
    assert _run_check(org)["verified_at"] is not None
    refused = pytest.raises(ApiError, match="record does not exist")
    with org.app.app_context(), tenancy.organization(org.id), refused:
        service.verify_domain("unlisted.example")


def test_the_operator_vouches_on_the_command_line(
    app: Flask, org: Org, configure: Configure, zone: Zone, domain: str
) -> None:
    configure(org, email_domains=[domain])
    command = ["sso", "verify-domain", org.slug, domain]
    looked_up = app.test_cli_runner().invoke(args=command)
    assert looked_up.exit_code == 3, looked_up.output
    vouched = app.test_cli_runner().invoke(args=[*command, "--vouch", "--json"])
    assert vouched.exit_code == 0, vouched.output
    assert json.loads(vouched.stdout) == {"domain": domain, "proven": True}
    assert get_domain(org)["verified_at"] is not None


def test_a_proven_domain_stays_proven_when_the_list_changes(
    org: Org, configure: Configure, zone: Zone, domain: str
) -> None:
    zone.put(configure(org, email_domains=[domain])["domains"][0]["record"])
    first = configure(org, email_domains=[domain])["domains"][0]
    again = configure(org, email_domains=[domain, "b.example"], default_role="admin")["domains"]
    assert first in again


def test_of_two_organizations_that_prove_a_domain_at_once_the_later_one_learns_of_it(
    org: Org,
    other_org: Org,
    hostile: Hostile,
    zone: Zone,
    domain: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for organization in (org, other_org):
        assert put(organization, build_sso_body(hostile, email_domains=[domain])).status_code == 200
    mark_domains_verified(org, domain)
    zone.put(get_domain(other_org)["record"])
    # The other organization has not seen the proof yet.
    monkeypatch.setattr(queries, "is_verified_by_another_organization", lambda *_: False)
    answer = put(other_org, build_sso_body(hostile, email_domains=[domain], default_role="labeler"))
    assert answer.status_code == 200, answer.json
    listed_domain = get_domain(other_org)
    assert listed_domain["verified_at"] is None
    assert listed_domain["problem"] == "Another organization has verified this domain."
    assert get_domain(org)["verified_at"] is not None


def test_closed_organizations_are_not_checked(sso_org: Org) -> None:
    def is_checked() -> bool:
        with sso_org.app.app_context(), tenancy.across_organizations(reason="a test"):
            return sso_org.id in queries.list_configured_organization_ids()

    assert is_checked()
    path = f"/organizations/{sso_org.slug}/close"
    assert sso_org.api("owner").post(path, json={"slug": sso_org.slug}).status_code == 202
    assert not is_checked()
