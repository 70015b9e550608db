"""Logging in, asking whom a token belongs to, logging out."""

import time

import jwt
import pytest

from app.identity.users.models import User
from app.kit import container, db
from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.orgs import PASSWORD


def test_login_answers_token_user_and_organizations(org: Org) -> None:
    email = org.email("labeler")
    answer = org.anonymous().post("/auth/login", {"email": email.upper(), "password": PASSWORD})
    assert answer.status_code == 200
    data = answer.json["data"]
    assert data["token_type"] == "bearer"
    assert data["expires_in"] == 8 * 3600
    assert data["user"] == {"id": str(org.users["labeler"]), "email": email, "name": "Labeler"}
    assert data["organizations"] == [{"slug": org.slug, "name": "Test", "role": "labeler"}]
    key = container.settings().secret_key
    claims = jwt.decode(data["access_token"], key, algorithms=["HS256"], issuer="labeling")
    assert {"sub", "email", "jti", "tv", "sid", "iat", "exp", "iss"} <= set(claims)


@pytest.mark.parametrize("password", ["wrong-password", PASSWORD + " "])
def test_wrong_password_is_refused(org: Org, password: str) -> None:
    answer = org.anonymous().post(
        "/auth/login", {"email": org.email("labeler"), "password": password}
    )
    check_error(answer, 401, "invalid_credentials")


def test_unknown_address_answers_like_a_wrong_password(org: Org) -> None:
    """To the byte; that it takes the same time is test_timing's, and waiting test_slow_down's."""
    api = org.anonymous()
    answers = [
        api.post("/auth/login", {"email": email, "password": "wrong-password"})
        for email in (org.email("labeler"), f"{uuid7().hex}@test.example", "no address")
    ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.data for answer in answers}) == 1
    assert len({tuple(sorted(answer.headers.keys())) for answer in answers}) == 1


def test_the_session_names_the_user_of_the_token(org: Org) -> None:
    answer = org.api("viewer").get("/auth/session")
    assert answer.json["data"]["user"]["id"] == str(org.users["viewer"])
    assert answer.json["data"]["organizations"][0]["role"] == "viewer"


def test_logout_ends_the_session_at_once(org: Org) -> None:
    api = org.api("labeler")
    assert api.get("/auth/session").status_code == 200
    assert api.post("/auth/logout").status_code == 204
    check_error(api.get("/auth/session"), 401, "token_expired")


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "é"])
def test_garbled_token_is_refused(org: Org, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    check_error(org.anonymous().get("/auth/session", headers=headers), 401, "invalid_credentials")


def test_token_of_another_algorithm_is_refused(org: Org) -> None:
    claims = jwt.decode(org.tokens["owner"], options={"verify_signature": False})
    forged = jwt.encode(claims, None, algorithm="none")
    headers = {"Authorization": f"Bearer {forged}"}
    answer = org.anonymous().get("/auth/session", headers=headers)
    assert answer.json["error"]["code"] == "invalid_credentials"


def test_expired_token_says_so(org: Org) -> None:
    claims = jwt.decode(org.tokens["owner"], options={"verify_signature": False})
    claims["exp"] = int(time.time()) - 1
    old = jwt.encode(claims, container.settings().secret_key, algorithm="HS256")
    answer = org.anonymous().get("/auth/session", headers={"Authorization": f"Bearer {old}"})
    assert answer.json["error"]["code"] == "token_expired"


def test_raised_token_version_ends_every_token(org: Org) -> None:
    with org.app.app_context(), db.transaction() as session:
        session.get_one(User, org.users["labeler"]).token_version += 1
    assert org.api("labeler").get("/auth/session").json["error"]["code"] == "token_expired"


def test_an_api_key_nobody_made_is_refused(org: Org) -> None:
    answer = org.anonymous().get("/auth/session", headers={"X-API-Key": "dl_nope"})
    check_error(answer, 401, "invalid_api_key")
