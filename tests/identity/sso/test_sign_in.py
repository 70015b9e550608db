"""What a verified identity leads to: accounts, links, memberships, roles and teams."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from threading import Event
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask
from sqlalchemy import select, text
from werkzeug.test import TestResponse

from app.identity.auth.models import Session
from app.identity.organizations.models import Membership, Organization
from app.identity.users.models import User
from app.kit import container, db, outbound_slots, tenancy
from tests.factories import Org, drain, make_org
from tests.factories.emails import list_emails_to
from tests.factories.errors import check_error
from tests.factories.orgs import PASSWORD, Api, get_data
from tests.factories.waiting import wait_until
from tests.identity.sso.conftest import (
    Browser,
    Configure,
    Person,
    build_sso_body,
    count_identities,
    mark_domains_verified,
    person,
    put,
)
from tests.identity.sso.hostile import Hostile, Raw, serve


def _get_api(org: Org, token: str) -> Api:
    return Api(org.app.test_client(), token, org.slug)


def _get_role(org: Org, email: str) -> str | None:
    """Return the role of the account with this address, or None without a membership."""
    with org.app.app_context(), tenancy.organization(org.id):
        return db.session().scalar(
            select(Membership.role)
            .join(User, User.id == Membership.user_id)
            .where(User.email == email)
        )


def _get_user_id(org: Org, token: str) -> str:
    return str(_get_api(org, token).get("/auth/session").json["data"]["user"]["id"])


def _remove(org: Org, user_id: str, by: str = "admin") -> None:
    path = f"/organizations/{org.slug}/members/{user_id}"
    assert org.api(by).delete(path).status_code == 204


def _add_membership(org: Org, email: str, role: str) -> UUID:
    """Make the account with this address a member, and return its id."""
    with org.transaction() as session:
        user = session.scalars(select(User).where(User.email == email)).one()
        session.add(Membership(user_id=user.id, role=role))
        return user.id


def _member(org: Org, name: str) -> Person:
    """Return a member of `org` as a person at a provider that knows their address."""
    return person(email=org.email(name))


def _check_denied(answer: TestResponse, words: str) -> None:
    assert words in check_error(answer, 403, "permission_denied")["message"]


def _log_out_at_provider(browser: Browser) -> Browser:
    """Return the same browser, logged out at the provider."""
    browser.provider.cookies.clear()
    return browser


def test_the_default_role(sso_org: Org, browser: Browser) -> None:
    who = person()
    browser.token(sso_org, who)
    assert _get_role(sso_org, who.email) == "viewer"


def test_a_new_account_is_verified_only_in_a_proven_domain(
    org: Org, browser: Browser, configure: Configure, domain: str
) -> None:
    configure(org, email_domains=[domain, "other.example"])
    mark_domains_verified(org, domain)
    ours, outsider = person(domain), person("other.example")
    for who in (ours, outsider):
        browser.token(org, who)
        _log_out_at_provider(browser)
    with org.app.app_context():
        verified = {
            user.email: user.email_verified_at is not None
            for user in db.session().scalars(
                select(User).where(User.email.in_([ours.email, outsider.email]))
            )
        }
    assert verified == {ours.email: True, outsider.email: False}


def test_groups_set_and_lower_the_role(org: Org, browser: Browser, configure: Configure) -> None:
    mapping = [
        {"group": "staff", "role": "labeler"},
        {"group": "leads", "role": "reviewer"},
        {"group": "it", "role": "admin"},
    ]
    configure(org, group_mapping=mapping, default_role="viewer")
    who = person()
    for groups, role in (
        ("staff,leads", "reviewer"),
        ("staff,it", "admin"),
        ("staff", "labeler"),
        ("nobody", "viewer"),
    ):
        token = _log_out_at_provider(browser).token(org, who.with_changes(groups=groups))
        assert _get_role(org, who.email) == role
        listed = _get_api(org, token).get("/auth/session").json["data"]["organizations"]
        assert listed == [{"slug": org.slug, "name": "Test", "role": role}]


def test_without_mapped_roles_an_assigned_role_stays(sso_org: Org, browser: Browser) -> None:
    who = person()
    browser.token(sso_org, who)
    with sso_org.transaction() as session:
        user = session.scalars(select(User).where(User.email == who.email)).one()
        session.scalars(
            select(Membership).where(Membership.user_id == user.id)
        ).one().role = "reviewer"
    _log_out_at_provider(browser).token(sso_org, who.with_changes(groups="x"))
    assert _get_role(sso_org, who.email) == "reviewer"


def test_groups_add_and_remove_teams(org: Org, browser: Browser, configure: Configure) -> None:
    owner = org.api("owner")
    teams = {
        name: owner.post("/teams", json={"name": name}).json["data"]["id"]
        for name in ("north", "south", "hand-made")
    }
    mapping = [{"group": name, "team_id": teams[name]} for name in ("north", "south")]
    configure(org, group_mapping=mapping)
    who = person()

    def list_team_names() -> set[str]:
        listed = owner.get("/organizations/" + org.slug + "/members").json["data"]
        mine = next(member for member in listed if member["user"]["email"] == who.email)
        return {team["name"] for team in mine["teams"]}

    browser.token(org, who.with_changes(groups="north,unknown"))
    assert list_team_names() == {"north"}
    with org.app.app_context(), tenancy.organization(org.id):
        user_id = db.session().scalars(select(User.id).where(User.email == who.email)).one()
    body = {"members": [{"user_id": str(user_id)}]}
    added = owner.post(f"/teams/{teams['hand-made']}/members", json=body)
    assert added.status_code in (200, 201), added.json
    _log_out_at_provider(browser).token(org, who.with_changes(groups="south"))
    assert list_team_names() == {"south", "hand-made"}
    assert owner.delete(f"/teams/{teams['south']}").status_code == 204
    _log_out_at_provider(browser).token(org, who.with_changes(groups="south,north"))
    assert list_team_names() == {"north", "hand-made"}


def test_owners_stay_owners(org: Org, browser: Browser, configure: Configure) -> None:
    configure(org, group_mapping=[{"group": "staff", "role": "viewer"}], require_group=True)
    who = _member(org, "owner")
    token = _sign_in_with_confirmation(org, browser, who)
    assert _get_role(org, who.email) == "owner"
    assert _get_api(org, token).get("/schemas").status_code == 200


@pytest.mark.parametrize("groups", [None, "", "others"])
def test_a_required_group_is_enforced(
    org: Org, browser: Browser, configure: Configure, groups: str | None
) -> None:
    configure(org, group_mapping=[{"group": "staff", "role": "viewer"}], require_group=True)
    who = person() if groups is None else person(groups=groups)
    _check_denied(browser.complete_sign_in(org, who), "groups")
    assert _get_role(org, who.email) is None
    with org.app.app_context():
        sql = text("SELECT FROM users WHERE email = :email")
        assert db.session().execute(sql, {"email": who.email}).first() is None


def test_a_lost_group_ends_the_membership_and_every_session(
    org: Org, browser: Browser, configure: Configure
) -> None:
    configure(org, group_mapping=[{"group": "staff", "role": "labeler"}], require_group=True)
    who = person()
    token = browser.token(org, who.with_changes(groups="staff"))
    assert _get_api(org, token).get("/schemas").status_code == 200
    _check_denied(
        _log_out_at_provider(browser).complete_sign_in(org, who.with_changes(groups="none")),
        "groups",
    )
    assert _get_role(org, who.email) is None
    check_error(_get_api(org, token).get("/schemas"), 401, "token_expired")
    _log_out_at_provider(browser).token(org, who.with_changes(groups="staff"))
    assert _get_role(org, who.email) == "labeler", "whom the policy removed, it may let in again"


def test_a_person_in_too_many_groups_keeps_the_membership(
    org: Org, browser: Browser, hostile: Hostile
) -> None:
    """Microsoft Entra ID only refers to the groups of a person who is in more than 200."""
    hostile.userinfo = {"sub": "many"}
    mapping = [{"group": "staff", "role": "reviewer"}]
    get_data(put(org, build_sso_body(hostile, group_mapping=mapping, require_group=True)))

    def follow_redirect(**claims: Any) -> TestResponse:
        hostile.claims = {"sub": "many", "email": "many@people.example", **claims}
        return browser.complete_sign_in_at(hostile, org)

    assert follow_redirect(groups=[*map(str, range(1200)), "staff"]).status_code == 200
    reference = {"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "x"}}}
    _check_denied(follow_redirect(**reference), "did not send your groups")
    assert _get_role(org, "many@people.example") == "reviewer"
    # Without a mapping, groups are not needed.
    assert put(org, build_sso_body(hostile)).status_code == 200
    assert follow_redirect(**reference).status_code == 200


def test_a_removed_person_cannot_rejoin_by_signing_in(sso_org: Org, browser: Browser) -> None:
    who = person()
    _remove(sso_org, _get_user_id(sso_org, browser.token(sso_org, who)))
    _check_denied(browser.complete_sign_in(sso_org, who), "removed")
    assert _get_role(sso_org, who.email) is None


def _invite(org: Org, email: str, **members: Any) -> None:
    path = f"/organizations/{org.slug}/invitations"
    get_data(org.api("owner").post(path, json={"email": email, **members}), 201)


def test_an_invitation_lets_them_rejoin_with_its_role(
    org: Org, browser: Browser, verified_domain: str
) -> None:
    team = org.api("owner").post("/teams", json={"name": "North"}).json["data"]["id"]
    who = person(verified_domain)
    user_id = _get_user_id(org, browser.token(org, who))
    _remove(org, user_id)
    _invite(org, who.email, role="reviewer", team_ids=[team])
    browser.token(org, who)
    assert _get_role(org, who.email) == "reviewer"
    assert org.api("owner").get(f"/teams/{team}").json["data"]["member_count"] == 1
    _remove(org, user_id)
    _check_denied(browser.complete_sign_in(org, who), "removed")


def test_an_owner_invitation_is_not_accepted_by_signing_in(sso_org: Org, browser: Browser) -> None:
    who = person()
    _invite(sso_org, who.email, role="owner")
    browser.token(sso_org, who)
    assert _get_role(sso_org, who.email) == "viewer"


def test_an_account_of_another_organization_is_not_linked(
    sso_org: Org, other_org: Org, browser: Browser
) -> None:
    _check_denied(browser.complete_sign_in(sso_org, _member(other_org, "viewer")), "not a member")
    assert _get_role(sso_org, other_org.email("viewer")) is None
    assert count_identities(sso_org) == 0


def test_an_address_of_a_proven_domain_is_linked(
    org: Org, other_org: Org, browser: Browser, verified_domain: str
) -> None:
    email = f"somebody@{verified_domain}"
    user_id = other_org.add_user("elsewhere", "viewer")
    _rename(other_org, user_id, email)
    token = browser.token(org, person(email=email))
    assert _get_user_id(org, token) == str(user_id)
    assert _get_role(org, email) == "viewer"


def test_an_unverified_earlier_registration_loses_access(
    org: Org, browser: Browser, verified_domain: str
) -> None:
    """Otherwise a stranger could share the account with the employee to whom it is linked later."""
    who = person(verified_domain)
    squatter = Api(org.app.test_client(), None, None)
    body = {"email": who.email, "password": "the squatter chose this", "name": "Pat"}
    squatter_token = squatter.post("/auth/register", json=body).json["data"]["access_token"]
    drain(org.app)
    token = browser.token(org, who)
    me = _get_api(org, token).get("/users/me").json["data"]
    assert (me["email"], me["email_verified"]) == (who.email, True)
    check_error(_get_api(org, squatter_token).get("/schemas"), 401, "token_expired")
    login = {name: body[name] for name in ("email", "password")}
    assert squatter.post("/auth/login", json=login).status_code == 401
    mailed = {"token": list_emails_to(who.email)[-1].token}
    assert mailed["token"]
    assert squatter.post("/auth/email-change/confirm", json=mailed).status_code == 400


def test_a_verified_account_keeps_its_password_when_linked(
    org: Org, browser: Browser, verified_domain: str
) -> None:
    email = f"viewer@{verified_domain}"
    _rename(org, org.users["viewer"], email)
    browser.token(org, _member(org, "viewer"))
    assert org.api("viewer").get("/schemas").status_code == 200
    body = {"email": email, "password": PASSWORD}
    assert org.anonymous().post("/auth/login", json=body).status_code == 200


def _rename(org: Org, user_id: Any, email: str) -> None:
    with org.app.app_context(), db.transaction() as session:
        session.get_one(User, user_id).email = email


def test_a_lookalike_address_is_refused(org: Org, browser: Browser, verified_domain: str) -> None:
    _rename(org, org.users["viewer"], f"paypal@{verified_domain}")
    who = person(email=f"p\u0430ypal@{verified_domain}")
    _check_denied(browser.complete_sign_in(org, who), "account")


def _sign_in_with_confirmation(org: Org, browser: Browser, who: Person) -> str:
    """Sign in to an account that must be confirmed by email, and return the access token."""
    data = get_data(browser.complete_sign_in(org, who))
    assert (data["code"], data["confirmation"]) == (None, "email")
    return str(get_data(browser.exchange(_get_mailed_code(org, who.email)))["access_token"])


def _get_mailed_code(org: Org, email: str) -> str:
    """Send the pending emails, and return the token or code in the last one to `email`."""
    drain(org.app)
    message = list_emails_to(email)[-1]
    match = re.search(r"(?:token|code)=([\w-]{43})", message.text)
    assert match is not None, message.text
    return match[1]


def test_a_members_account_is_linked_once_they_confirm(sso_org: Org, browser: Browser) -> None:
    who = _member(sso_org, "labeler")
    token = _sign_in_with_confirmation(sso_org, browser, who)
    assert _get_user_id(sso_org, token) == str(sso_org.users["labeler"])
    assert _get_role(sso_org, who.email) == "labeler", "no role was mapped"
    _log_out_at_provider(browser).token(sso_org, who)  # From now on no confirmation is needed.


def test_a_confirmation_requires_the_browser_of_the_sign_in(
    sso_org: Org, browser: Browser, other_browser: Browser
) -> None:
    """Whoever runs the provider cannot make a member confirm with a click only."""
    who = _member(sso_org, "labeler")
    assert browser.complete_sign_in(sso_org, who).json["data"]["confirmation"] == "email"
    other_browser.start(sso_org)
    assert other_browser.exchange(_get_mailed_code(sso_org, who.email)).status_code == 401
    assert count_identities(sso_org) == 0


def test_a_confirmation_returns_to_the_application(sso_org: Org, browser: Browser) -> None:
    who = _member(sso_org, "labeler")
    url = browser.start(sso_org, redirect_uri="https://app.example/back", next="/here")
    answer = browser.follow_redirect(browser.sign_in(url, who))
    assert (answer.status_code, answer.headers["Location"]) == (
        303,
        "https://app.example/back?error=confirmation_required&next=%2Fhere",
    )
    assert browser.exchange(_get_mailed_code(sso_org, who.email)).status_code == 200
    assert "https://app.example/back?code=" in list_emails_to(who.email)[-1].text


def test_an_owner_confirms_even_in_a_proven_domain(
    org: Org, browser: Browser, verified_domain: str
) -> None:
    """An administrator chooses the provider, and must not become an owner by it."""
    _rename(org, org.users["owner"], f"boss@{verified_domain}")
    _rename(org, org.users["labeler"], f"labeler@{verified_domain}")
    browser.token(org, _member(org, "labeler"))
    _sign_in_with_confirmation(org, _log_out_at_provider(browser), _member(org, "owner"))


def test_a_domain_that_is_not_listed(org: Org, browser: Browser, configure: Configure) -> None:
    configure(org, email_domains=["only.example"])
    _check_denied(browser.complete_sign_in(org, person("people.example")), "domain")
    _log_out_at_provider(browser).token(org, person("only.example"))


def test_an_address_that_the_provider_has_not_verified(sso_org: Org, browser: Browser) -> None:
    _check_denied(browser.complete_sign_in(sso_org, person(email_verified="false")), "not verified")
    _log_out_at_provider(browser).token(sso_org, person(email_verified="true"))


@pytest.mark.parametrize("email", ["nonsense", "a@b", "@x.example", "a b@x.example"])
def test_an_invalid_address(sso_org: Org, browser: Browser, email: str) -> None:
    _check_denied(browser.complete_sign_in(sso_org, person(email=email)), "address")


def test_no_address_at_all(org: Org, browser: Browser, configure: Configure) -> None:
    configure(org, oidc={"scopes": ["openid", "profile"]})
    _check_denied(browser.complete_sign_in(org, person()), "not return an email address")


def test_an_invalid_name(sso_org: Org, browser: Browser) -> None:
    names = (("A\r\nBcc: x\u202e B", "A Bcc: x B"), (" \n ", None), ("A\x00", None))
    for name, shown in names:
        who = person(name=name)
        token = _log_out_at_provider(browser).token(sso_org, who)
        user_name = _get_api(sso_org, token).get("/auth/session").json["data"]["user"]["name"]
        assert user_name == (shown or who.email.partition("@")[0])


def test_a_disabled_account(sso_org: Org, browser: Browser) -> None:
    who = person()
    browser.token(sso_org, who)
    code = browser.complete_sign_in(sso_org, who).json["data"]["code"]
    with sso_org.app.app_context(), db.transaction() as session:
        user = session.scalars(select(User).where(User.email == who.email)).one()
        user.disabled_at = db.utc_now()
    _check_denied(browser.complete_sign_in(sso_org, who), "disabled")
    _check_denied(browser.exchange(code), "no longer available")


@pytest.mark.parametrize(("status", "opens"), [("suspended", True), ("closed", False)])
def test_an_organization_that_is_not_active(
    sso_org: Org, browser: Browser, status: str, opens: bool
) -> None:
    who = person()
    browser.token(sso_org, who)
    answered = browser.sign_in(browser.start(sso_org), who)
    with sso_org.app.app_context(), db.transaction() as session:
        session.get_one(Organization, sso_org.id).status = status
    assert browser.follow_redirect(answered).status_code == (200 if opens else 403)
    begun = browser.post("/auth/sso/start", org_slug=sso_org.slug)
    assert begun.status_code == (200 if opens else 404)
    if opens:
        arrived = _log_out_at_provider(browser).complete_sign_in(sso_org, person())
        _check_denied(arrived, "suspended")


def test_a_session_is_limited_to_the_providers_organization(
    sso_org: Org, other_org: Org, browser: Browser
) -> None:
    """An administrator of one organization cannot reach another one through its members."""
    who = person()
    browser.token(sso_org, who)
    _add_membership(other_org, who.email, "owner")
    code = browser.complete_sign_in(sso_org, who).json["data"]["code"]
    login = browser.exchange(code).json["data"]
    assert [organization["slug"] for organization in login["organizations"]] == [sso_org.slug]
    api = Api(sso_org.app.test_client(), login["access_token"], other_org.slug)
    check_error(api.get("/schemas"), 403, "permission_denied")
    assert [o["slug"] for o in api.get("/organizations").json["data"]] == [sso_org.slug]
    listed = api.get("/auth/session").json["data"]["organizations"]
    assert [o["slug"] for o in listed] == [sso_org.slug]


def test_a_limited_session_cannot_read_the_rest_of_the_account(
    sso_org: Org, other_org: Org, browser: Browser
) -> None:
    who = person()
    browser.token(sso_org, who)
    user_id = _add_membership(other_org, who.email, "owner")
    in_an_hour = db.utc_now() + timedelta(hours=1)
    elsewhere = Session(user_id=user_id, expires_at=in_an_hour, ip_address="192.0.2.7")
    with sso_org.app.app_context(), db.transaction() as session:
        session.add(elsewhere)
        session.flush()
        hidden_id = elsewhere.id
    api = _get_api(sso_org, browser.token(sso_org, who))
    listed = api.get("/auth/sessions").json["data"]
    assert [session["ip_address"] for session in listed] == ["127.0.0.1"] * 2
    assert api.delete(f"/auth/sessions/{hidden_id}").status_code == 404
    assert api.delete(f"/auth/sessions/{listed[1]['id']}").status_code == 204
    third = make_org(sso_org.app)
    _invite(third, who.email, role="labeler")
    path = f"/auth/invitations/{_get_mailed_code(sso_org, who.email)}/accept"
    joined = get_data(api.post(path, json={}))
    assert [organization["slug"] for organization in joined["organizations"]] == [sso_org.slug]
    assert _get_role(third, who.email) == "labeler"
    assert api.post("/auth/sessions/revoke-all").json["data"]["revoked"] == 1
    assert api.get("/auth/session").status_code == 401
    with sso_org.app.app_context():
        assert db.session().get_one(Session, hidden_id).revoked_at is None


def test_a_session_of_an_enforced_domain_is_not_limited(
    org: Org, other_org: Org, browser: Browser, configure: Configure, domain: str
) -> None:
    """There is no other way to sign in to the account then."""
    configure(org, email_domains=[domain], enforced=True)
    mark_domains_verified(org, domain)
    who = person(domain)
    token = browser.token(org, who)
    _add_membership(other_org, who.email, "viewer")
    api = Api(org.app.test_client(), token, other_org.slug)
    assert api.get("/schemas").status_code == 200


def test_concurrent_first_sign_ins_create_one_account(
    app: Flask, sso_org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbound_slots, "SLOT_TIMEOUT", 60)
    who = person()
    browsers = [Browser(app) for _ in range(4)]
    answered = [
        client_browser.sign_in(client_browser.start(sso_org), who) for client_browser in browsers
    ]

    def follow_redirect(pair: tuple[Browser, str]) -> int:
        return pair[0].follow_redirect(pair[1]).status_code

    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(follow_redirect, zip(browsers, answered, strict=True)))
    assert statuses == [200] * 4
    assert count_identities(sso_org) == 1


def test_the_audit_log_records_who_signed_in(sso_org: Org, browser: Browser) -> None:
    who = person()
    browser.token(sso_org, who)
    listed = sso_org.api("owner").get(f"/organizations/{sso_org.slug}/audit-log").json["data"]
    joined = next(e for e in listed if e["action"].startswith("members.") and e["changes"])
    assert joined["actor"]["label"] == who.email
    assert SECRET_WORDS not in str(listed)


SECRET_WORDS = "a secret: with"


def test_passwords_work_where_nothing_is_enforced(sso_org: Org, browser: Browser) -> None:
    answer = browser.post("/auth/login", email=sso_org.email("viewer"), password=PASSWORD)
    assert answer.status_code == 200


def test_slow_providers_do_not_block_other_requests(
    sso_org: Org, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An administrator may choose a provider that never responds."""
    monkeypatch.setattr(outbound_slots, "SLOT_TIMEOUT", 0.01)
    who = person()
    with ExitStack() as slow:
        for _ in range(container.settings().web_threads // 2):
            slow.enter_context(outbound_slots.hold_slot(uuid4()))
        turned_away = browser.complete_sign_in(sso_org, who)
        assert turned_away.status_code == 503, turned_away.json
        assert "Too many requests" in turned_away.json["error"]["message"]
        assert turned_away.json["error"]["details"] == {"reason": "busy"}
        body = {"kind": "oidc", "oidc": {"issuer": "http://127.0.0.2:9", "client_id": "x"}}
        assert put(sso_org, body).status_code == 503
        assert sso_org.api("viewer").get("/schemas").status_code == 200
    _log_out_at_provider(browser).token(sso_org, who)


def test_a_slow_provider_leaves_slots_to_other_organizations(
    org: Org, other_org: Org, browser: Browser, hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert put(other_org, build_sso_body(hostile)).status_code == 200
    query = hostile.build_callback_query(browser.start(other_org))
    opened, slow = Event(), Hostile()

    def answer(_path: str, _form: dict[str, str]) -> Raw:
        assert opened.wait(60)
        return Raw(b"", 404)

    monkeypatch.setattr(slow, "answer", answer)
    slot_count = container.settings().web_threads // 2
    with serve(slow), ThreadPoolExecutor(slot_count) as pool:
        requests = [pool.submit(put, org, build_sso_body(slow)) for _ in range(slot_count)]
        wait_until(
            lambda: slow.asked.total() + sum(future.done() for future in requests) == slot_count,
            "the slow requests",
        )
        callback = browser.send_callback(query)
        opened.set()
        statuses = {future.result().status_code for future in requests}
    assert callback.status_code == 200, callback.json
    assert statuses == {400, 503}
