"""Configuring single sign-on: requirements for providers and for administrators."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.identity.sso import fetching, oidc
from app.kit import container, db, outbound_slots, tenancy
from app.kit.egress import Egress, Policy
from tests.factories import Org
from tests.factories.errors import check_error
from tests.identity.sso.conftest import (
    SECRET,
    Browser,
    Configure,
    build_sso_body,
    enqueue_check,
    person,
    put,
    run_check,
)
from tests.identity.sso.hostile import HOST, Hostile, Raw, new_key

ROOT = Path(__file__).parents[3]
_WORKER = """
import os
from app.factory import create_app
from tests.factories.work import drain

drain(create_app(os.environ, with_api=False))
"""
"""Runs the due jobs as a worker process does, which has no routes."""


def _check_refused(answer: TestResponse, field: str, words: str = "") -> None:
    error = check_error(answer, 400, "validation_error", field=field)
    assert words in error["message"], error


def _get(org: Org) -> TestResponse:
    return org.api("admin").get(f"/organizations/{org.slug}/sso")


def test_there_is_no_configuration_at_first(org: Org) -> None:
    assert _get(org).status_code == 404


@pytest.mark.parametrize(
    ("role", "code"), [("labeler", "insufficient_role"), (None, "permission_denied")]
)
def test_an_admin_who_is_demoted_or_removed_meanwhile_configures_nothing(
    org: Org, hostile: Hostile, monkeypatch: pytest.MonkeyPatch, role: str | None, code: str
) -> None:
    original = oidc.check

    owner, path = org.api("owner"), f"/organizations/{org.slug}/members/{org.users['admin']}"

    def check(settings: dict[str, Any]) -> Any:
        with ThreadPoolExecutor(1) as pool:
            change = partial(owner.patch, json={"role": role}) if role else owner.delete
            assert pool.submit(change, path).result().status_code in (200, 204)
        return original(settings)

    monkeypatch.setattr(oidc, "check", check)
    check_error(put(org, build_sso_body(hostile), "admin"), 403, code)
    assert org.api("owner").get(f"/organizations/{org.slug}/sso").status_code == 404


def test_the_configuration_is_returned(org: Org, configure: Configure, issuer: str) -> None:
    team = org.api("owner").post("/teams", json={"name": "North"}).json["data"]["id"]
    mapping = [
        {"group": "staff", "role": "labeler", "team_id": None},
        {"group": "north", "role": None, "team_id": team},
    ]
    made = configure(
        org,
        default_role="reviewer",
        require_group=True,
        enforced=True,
        email_domains=["Example.COM.", "b\u00fccher.example"],
        group_mapping=mapping,
    )
    assert made == _get(org).json["data"]
    assert made["oidc"] == {
        "issuer": issuer,
        "client_id": "basic",
        "has_client_secret": True,
        "scopes": ["openid", "email", "profile"],
        "groups_claim": "groups",
        "redirect_uri": made["oidc"]["redirect_uri"],
    }
    assert made["oidc"]["redirect_uri"].endswith(f"/api/v1/auth/sso/oidc/callback?org={org.slug}")
    assert (made["kind"], made["saml"], made["revision"]) == ("oidc", None, 1)
    assert (made["default_role"], made["require_group"], made["enforced"]) == (
        "reviewer",
        True,
        True,
    )
    assert made["email_domains"] == ["example.com", "xn--bcher-kva.example"]
    assert made["group_mapping"] == mapping


def test_the_secret_is_never_returned(org: Org, configure: Configure) -> None:
    assert SECRET not in str(configure(org))
    assert SECRET not in _get(org).text
    with org.app.app_context(), tenancy.organization(org.id):
        stored = db.session().scalar(text("SELECT client_secret FROM sso_configurations"))
    assert SECRET not in stored
    assert container.keyring().decrypt(stored).decode() == SECRET


def test_the_secret_stays_with_its_provider_and_client(
    org: Org, configure: Configure, hostile: Hostile
) -> None:
    configure(org)
    kept = configure(org, default_role="labeler", oidc={"client_secret": None})
    assert not kept["oidc"]["has_client_secret"], "null takes it away"
    configure(org)
    other = _get(org).json["data"]["oidc"]
    same = put(org, {"kind": "oidc", "oidc": other})
    assert same.json["data"]["oidc"]["has_client_secret"]
    for change in ({"client_id": "post"}, {"issuer": hostile.issuer}):
        configure(org)
        answer = put(org, {"kind": "oidc", "oidc": {**other, **change}})
        assert answer.json["data"]["oidc"]["has_client_secret"] is False, change


def test_a_stale_revision(org: Org, issuer: str) -> None:
    body = {"kind": "oidc", "oidc": {"issuer": issuer, "client_id": "public"}}
    assert put(org, {**body, "revision": 3}).json["error"]["code"] == "stale_precondition"
    assert put(org, body).json["data"]["revision"] == 1
    assert put(org, {**body, "revision": 1, "default_role": "admin"}).json["data"]["revision"] == 2
    stale = put(org, {**body, "revision": 1})
    assert (stale.status_code, stale.json["error"]["details"]) == (409, {"current_revision": 2})


def test_concurrent_first_writes_do_not_overwrite_each_other(
    org: Org, issuer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbound_slots, "SLOT_TIMEOUT", 60)
    body = {"kind": "oidc", "oidc": {"issuer": issuer, "client_id": "public"}, "revision": 0}
    roles = ["viewer", "labeler", "reviewer", "admin"]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda r: put(org, {**body, "default_role": r}), roles))
    won = [a for a in answers if a.status_code == 200]
    assert len(won) == 1
    assert {a.status_code for a in answers} == {200, 409}
    assert _get(org).json["data"]["default_role"] == won[0].json["data"]["default_role"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"oidc": None}, "oidc"),
        ({"saml": {"metadata_url": "https://idp.example/"}}, "saml"),
        ({"group_mapping": [{"group": "x"}]}, "group_mapping.0"),
        ({"group_mapping": [{"group": "x", "team_id": str(uuid4())}]}, "group_mapping.0.team_id"),
        ({"email_domains": ["ok.example", "localhost"]}, "email_domains.1"),
        ({"email_domains": ["a..b"]}, "email_domains.0"),
        ({"email_domains": ["192.0.2.1"]}, "email_domains.0"),
        ({"email_domains": ["a b.example"]}, "email_domains.0"),
        ({"email_domains": ["x" * 64 + ".example"]}, "email_domains.0"),
        ({"email_domains": ["*.example"]}, "email_domains.0"),
    ],
)
def test_inconsistent_members_are_refused(
    org: Org, issuer: str, change: dict[str, Any], field: str
) -> None:
    body = {"kind": "oidc", "oidc": {"issuer": issuer, "client_id": "public"}}
    _check_refused(put(org, {**body, **change}), field)
    assert _get(org).status_code == 404


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": "ldap"}, "kind"),
        ({"default_role": "owner"}, "default_role"),
        ({"group_mapping": [{"group": "x", "role": "owner"}]}, "group_mapping.0.role"),
        ({"oidc": {"issuer": "https://x.example"}}, "oidc.client_id"),
        ({"surprise": 1}, "surprise"),
        ({"email_domains": ["x.example"] * 51}, "email_domains"),
    ],
)
def test_invalid_members_are_refused(
    org: Org, issuer: str, change: dict[str, Any], field: str
) -> None:
    body = {"kind": "oidc", "oidc": {"issuer": issuer, "client_id": "public"}}
    check_error(put(org, {**body, **change}), 422, "unprocessable", field=field)


def test_the_team_of_another_organization(org: Org, other_org: Org, issuer: str) -> None:
    team = other_org.api("owner").post("/teams", json={"name": "North"}).json["data"]["id"]
    body = {"kind": "oidc", "oidc": {"issuer": issuer, "client_id": "public"}}
    mapping = [{"group": "x", "team_id": team}]
    _check_refused(put(org, {**body, "group_mapping": mapping}), "group_mapping.0.team_id")


def test_scopes_without_openid(org: Org, issuer: str) -> None:
    settings = {"issuer": issuer, "client_id": "public", "scopes": ["email"]}
    _check_refused(put(org, {"kind": "oidc", "oidc": settings}), "oidc.scopes")


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"issuer": "https://other.example"}, "not exactly the configured issuer"),
        ({"issuer": None}, "not exactly the configured issuer"),
        ({"issuer": ["x"]}, "not exactly the configured issuer"),
        ({"response_types_supported": ["id_token"]}, "code flow"),
        ({"response_types_supported": "code"}, "code flow"),
        ({"code_challenge_methods_supported": ["plain"]}, "PKCE"),
        ({"id_token_signing_alg_values_supported": ["HS256", "none"]}, "algorithm"),
        ({"id_token_signing_alg_values_supported": None}, "algorithm"),
        ({"id_token_signing_alg_values_supported": [7, {}]}, "algorithm"),
        ({"token_endpoint": None}, "token_endpoint"),
        ({"token_endpoint": 7}, "token_endpoint"),
        ({"token_endpoint": "http://127.0.0.1:1/token"}, "public address"),
        ({"token_endpoint": "http://169.254.169.254/latest"}, "public address"),
        ({"jwks_uri": "http://[::1]:1/"}, "public address"),
        ({"jwks_uri": "file:///etc/passwd"}, ""),
        ({"jwks_uri": "http://[x/"}, ""),
        ({"userinfo_endpoint": "http://10.0.0.1/"}, "public address"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "authorization_endpoint"),
        ({"authorization_endpoint": "http://user@idp.example/"}, "authorization_endpoint"),
        ({"authorization_endpoint": "http://idp.example/\u2028"}, "authorization_endpoint"),
        ({"authorization_endpoint": "http://[x/"}, "authorization_endpoint"),
    ],
    ids=str,
)
def test_invalid_metadata_is_refused(
    org: Org, hostile: Hostile, metadata: dict[str, Any], words: str
) -> None:
    hostile.metadata = metadata
    _check_refused(put(org, build_sso_body(hostile)), "oidc.issuer", words)
    assert _get(org).status_code == 404


_DISCOVERY = "/.well-known/openid-configuration"


@pytest.mark.parametrize("path", [_DISCOVERY, "/jwks"])
@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (Raw(b"<html>"), "not JSON"),
        (Raw(b"[]"), "not a JSON object"),
        (Raw(b"[" * 100_000), "not JSON"),
        (Raw(b'{"a": "\xff"}'), "not JSON"),
        (Raw(b" " * (fetching.MAX_RESPONSE_BYTES + 10)), "too large"),
        (Raw(b"{}", 500), "status 500"),
        (Raw(b"{}", 404), "status 404"),
        (Raw(b"", 302, {"Location": "http://127.0.0.1:1/secret"}), "status 302"),
        (Raw(b"{}", 200, {"Content-Encoding": "gzip"}), ""),
        (Raw(b"{}", 200), ""),
    ],
    ids=lambda value: str(value)[:24],
)
def test_invalid_responses_are_refused(
    org: Org, hostile: Hostile, path: str, raw: Raw, words: str
) -> None:
    hostile.raw[path] = raw
    _check_refused(put(org, build_sso_body(hostile)), "oidc.issuer", words)


def test_a_slow_response_times_out(
    org: Org, hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "TIMEOUT_SECONDS", 0.5)
    hostile.raw[_DISCOVERY] = Raw(b"{" + b" " * 200, drip=0.1)
    _check_refused(put(org, build_sso_body(hostile)), "oidc.issuer", "received in time")


@pytest.mark.parametrize("path", ["/token", "/jwks", "/userinfo"])
@pytest.mark.parametrize(
    "raw",
    [
        Raw(b"garbage"),
        Raw(b"", 302, {"Location": "http://127.0.0.1:1/secret"}),
        Raw(b"{" + b" " * 100, drip=0.1),
        Raw(b"", 503),
    ],
    ids=["garbage", "redirect", "drip", "down"],
)
def test_a_provider_that_fails_in_the_middle(
    org: Org,
    browser: Browser,
    hostile: Hostile,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    raw: Raw,
) -> None:
    assert put(org, build_sso_body(hostile)).status_code == 200
    hostile.key = new_key("two")  # so that keys are requested
    hostile.claims = {"email": None}  # so that userinfo is requested
    hostile.userinfo = {"sub": "mallory", "email": person().email}
    hostile.raw[path] = raw
    query = hostile.build_callback_query(browser.start(org))
    with monkeypatch.context() as impatient:
        impatient.setattr(fetching, "TIMEOUT_SECONDS", 0.5)
        answer = browser.send_callback(query)
    assert (answer.status_code, answer.json["error"]["code"]) == (503, "service_unavailable")
    assert int(answer.headers["Retry-After"]) > 0
    assert "127.0.0.1" not in answer.text
    del hostile.raw[path]
    answer = browser.complete_sign_in_at(hostile, org)
    assert answer.status_code == 200, answer.json


@pytest.mark.parametrize(
    "issuer",
    [
        "http://127.0.0.1:1",
        "http://169.254.169.254",
        "http://localhost:1",
        "ftp://idp.example",
        "https://user@idp.example",
        "https://idp.example/?a=b",
        "https://idp.example/#x",
        "https://[x",
        "https://id\u0440.example",
        "nonsense",
        "https://no.such.host.invalid",
    ],
)
def test_issuers_to_which_no_request_is_sent(org: Org, issuer: str) -> None:
    settings = {"issuer": issuer, "client_id": "x"}
    _check_refused(put(org, {"kind": "oidc", "oidc": settings}), "oidc.issuer")


def test_plain_http_where_the_operator_does_not_allow_it(
    org: Org, hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = Policy(allowed_networks=container.settings().egress_allowed_networks)
    monkeypatch.setitem(vars(container.current()), "egress", Egress(policy))
    _check_refused(put(org, build_sso_body(hostile)), "oidc.issuer")
    assert hostile.asked[_DISCOVERY] == 0


def test_http_endpoints_of_an_https_issuer(
    org: Org, hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The discovery document is stubbed, because only an https issuer could return it."""
    policy = Policy(allowed_networks=container.settings().egress_allowed_networks)
    monkeypatch.setitem(vars(container.current()), "egress", Egress(policy))
    issuer = f"https://{HOST}"
    document = {**hostile.document(), "issuer": issuer}
    monkeypatch.setattr(oidc, "fetch_object", lambda *_, **__: document)
    settings = {"issuer": issuer, "client_id": "x"}
    _check_refused(
        put(org, {"kind": "oidc", "oidc": settings}), "oidc.issuer", "authorization_endpoint"
    )
    document["authorization_endpoint"] = "https://idp.example/authorize"
    _check_refused(put(org, {"kind": "oidc", "oidc": settings}), "oidc.issuer", "https")


def test_a_provider_is_checked_again(org: Org, browser: Browser, hostile: Hostile) -> None:
    """Endpoints are updated.

    A provider that fails does not change what an administrator configured.
    """

    assert put(org, build_sso_body(hostile)).status_code == 200
    hostile.metadata["authorization_endpoint"] = f"{hostile.issuer}/moved"
    run_check(org)
    assert browser.start(org).startswith(f"{hostile.issuer}/moved?")
    before = _get(org).json["data"]
    hostile.metadata["issuer"] = "https://other.example"
    run_check(org)
    hostile.raw[_DISCOVERY] = Raw(b"", 500)
    run_check(org)
    assert _get(org).json["data"] == before


def test_a_worker_checks_a_provider_again(
    org: Org, browser: Browser, hostile: Hostile, environ: dict[str, str]
) -> None:
    assert put(org, build_sso_body(hostile)).status_code == 200
    hostile.metadata["authorization_endpoint"] = f"{hostile.issuer}/moved"
    enqueue_check(org)
    subprocess.run(
        [sys.executable, "-c", _WORKER], env={**os.environ, **environ}, cwd=ROOT, check=True
    )
    assert browser.start(org).startswith(f"{hostile.issuer}/moved?")


def test_a_query_of_the_authorization_endpoint_stays(
    org: Org, browser: Browser, hostile: Hostile
) -> None:
    hostile.metadata["authorization_endpoint"] = f"{hostile.issuer}/authorize?tenant=a%20b"
    assert put(org, build_sso_body(hostile)).status_code == 200
    assert "tenant=a%20b&" in browser.start(org).replace("a+b", "a%20b")


def test_the_other_kind_of_client_authentication(
    org: Org, browser: Browser, hostile: Hostile
) -> None:
    hostile.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
    assert put(org, build_sso_body(hostile)).status_code == 200
    browser.complete_sign_in_at(hostile, org)
    assert hostile.forms[-1]["client_secret"] == "s"
    assert hostile.authorizations[-1] is None
    hostile.metadata["token_endpoint_auth_methods_supported"] = None
    assert put(org, build_sso_body(hostile)).status_code == 200
    browser.complete_sign_in_at(hostile, org)
    assert "client_secret" not in hostile.forms[-1]
    assert hostile.authorizations[-1] == "Basic bGFiZWxpbmc6cw=="


def test_two_organizations_with_one_provider_keep_apart(
    org: Org, other_org: Org, browser: Browser, configure: Configure
) -> None:
    for organization in (org, other_org):
        configure(organization)
    who = person()
    first = browser.complete_sign_in(org, who)
    assert first.status_code == 200
    refused = browser.complete_sign_in(other_org, who)
    assert refused.status_code == 403, "an address alone does not carry over"
