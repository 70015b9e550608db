"""Signing in at a real OpenID provider, from the start to the token."""

import pytest

from tests.factories import Org
from tests.factories.orgs import Api
from tests.identity.sso.conftest import Browser, Configure, person


@pytest.mark.parametrize("client", ["basic", "post", "public", "elliptic"])
def test_a_new_person_comes_in(
    org: Org, browser: Browser, configure: Configure, client: str
) -> None:
    configure(org, client=client, default_role="labeler")
    who = person()
    arrived = browser.whole(org, who)
    assert arrived.status_code == 200, arrived.json
    told = arrived.json["data"]
    assert (told["confirmation"], told["next"], told["expires_in"]) == (None, None, 60)
    answer = browser.exchange(told["code"])
    assert answer.status_code == 200, answer.json
    login = answer.json["data"]
    assert (login["user"]["email"], login["user"]["name"]) == (who.email, "Pat Example")
    assert login["organizations"] == [{"slug": org.slug, "name": "Test", "role": "labeler"}]
    api = Api(org.app.test_client(), login["access_token"], org.slug)
    assert api.get("/schemas").status_code == 200
