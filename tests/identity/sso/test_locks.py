"""Users, identities and memberships are locked in one order, so that requests do not deadlock."""

from typing import Any

import pytest

from app.identity.auth import credentials
from app.identity.organizations import queries as organization_queries
from app.identity.sso import queries
from app.identity.users import queries as user_queries
from app.kit import db
from tests.factories import Org
from tests.factories.orgs import Api, get_data
from tests.identity.sso.conftest import Browser, build_sso_body, person, put
from tests.identity.sso.hostile import Hostile


@pytest.mark.parametrize("lock", ["lock_membership", "lock_identity"])
def test_a_sign_in_that_ends_a_membership(
    org: Org, browser: Browser, hostile: Hostile, run_while_locked: Any, lock: str
) -> None:
    """A change of the profile and a confirmation of the address update the same rows."""
    policy = {"group_mapping": [{"group": "staff", "role": "viewer"}], "require_group": True}
    assert put(org, build_sso_body(hostile, **policy)).status_code == 200
    claims = {"sub": "member", "email": person().email}
    hostile.claims = {**claims, "groups": ["staff"]}
    answer = browser.complete_sign_in_at(hostile, org)
    login = browser.exchange(answer.json["data"]["code"]).json["data"]

    def rename() -> None:
        with org.app.app_context(), db.transaction():
            user = user_queries.lock(login["user"]["id"])
            assert user is not None
            user.name = "Another Name"
            db.session().flush()

    def confirm_address() -> None:
        with org.app.app_context(), db.transaction():
            user = user_queries.get(login["user"]["id"])
            assert user is not None
            credentials.mark_verified(user)

    call = {"lock_membership": rename, "lock_identity": confirm_address}[lock]
    started = run_while_locked(queries, lock, call)
    hostile.claims = {**claims, "groups": ["none"]}
    refused = browser.complete_sign_in_at(hostile, org)
    assert (refused.status_code, refused.json["error"]["code"]) == (403, "permission_denied")
    started[0].result(60)


def test_an_invitation_beside_a_change_of_the_profile(org: Org, run_while_locked: Any) -> None:
    """The invitation refers to its sender, whose membership it has locked."""
    client = Api(org.app.test_client(), org.tokens["admin"], org.slug)
    started = run_while_locked(
        organization_queries,
        "lock_role",
        lambda: client.patch("/users/me", json={"name": "Another Name"}),
    )
    body = {"email": f"new@{org.slug}.example", "role": "viewer"}
    get_data(org.api("admin").post(f"/organizations/{org.slug}/invitations", json=body), 201)
    assert started[0].result(60).status_code == 200
