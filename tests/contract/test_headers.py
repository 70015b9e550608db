"""What every answer carries, and which origins may read it."""

import re

import pytest

from tests.factories import Org
from tests.factories.errors import check_error


def test_request_id_is_echoed_when_sane_and_made_otherwise(org: Org) -> None:
    api = org.api()
    assert (
        api.get("/organizations", headers={"X-Request-ID": "abc-1"}).headers["X-Request-ID"]
        == "abc-1"
    )
    made = api.get("/organizations", headers={"X-Request-ID": "x y\t"}).headers["X-Request-ID"]
    assert len(made) == 32
    assert made != api.get("/organizations").headers["X-Request-ID"]


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Authorization": "Bearer garbled"}, "invalid_credentials"),
        ({"Authorization": "Basic eDp5"}, "invalid_credentials"),
        ({"X-API-Key": "dl_unknown"}, "invalid_api_key"),
    ],
)
def test_whoever_is_not_known_is_told_how_to_prove_it(
    org: Org, headers: dict[str, str], code: str
) -> None:
    answer = org.anonymous().get("/artifacts", headers=headers)
    assert (answer.status_code, answer.json["error"]["code"]) == (401, code)
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_sessions_that_ended_and_wrong_passwords_are_told_too(org: Org) -> None:
    api = org.api("labeler")
    assert api.post("/auth/logout").status_code == 204
    wrong = {"email": org.email("viewer"), "password": "not the password"}
    for answer in (api.get("/artifacts"), org.anonymous().post("/auth/login", wrong)):
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_security_headers(org: Org) -> None:
    headers = org.api().get("/organizations").headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert headers["Cache-Control"] == "no-store"
    assert "Server" not in headers or "gunicorn" not in headers["Server"]


def test_cors_allows_exactly_the_contract_headers(org: Org) -> None:
    asked = {
        "Origin": "https://app.example",
        "Access-Control-Request-Method": "PATCH",
        "Access-Control-Request-Headers": "authorization, x-org-slug, x-evil",
    }
    answer = org.anonymous().request("OPTIONS", "/organizations", headers=asked)
    allowed = {h.strip().lower() for h in answer.headers["Access-Control-Allow-Headers"].split(",")}
    assert allowed <= {"content-type", "authorization", "x-request-id", "x-org-slug", "x-api-key"}
    assert {"authorization", "x-org-slug"} <= allowed
    assert answer.headers["Access-Control-Allow-Origin"] == "https://app.example"


def test_other_origins_may_read_the_headers_that_clients_need(org: Org) -> None:
    origin = {"Origin": "https://app.example"}
    keyed = {**origin, "Idempotency-Key": "k1"}
    body = {"name": "Second"}
    answers = [
        org.api().post("/organizations", body, headers=keyed),
        org.api().post("/organizations", body, headers=keyed),
        org.anonymous().get("/organizations", headers=origin),
        org.api().request("PATCH", "/auth/login", headers=origin),
    ]
    assert [answer.status_code for answer in answers] == [201, 201, 401, 405]
    sent = {name for answer in answers for name in answer.headers.keys()}  # noqa: SIM118 - pairs
    expected = {"Idempotency-Replayed", "WWW-Authenticate", "Allow", "ETag", "X-Request-ID"}
    assert expected <= sent
    # Limits are off in tests, so nothing sends these here.
    expected |= {"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After"}
    for answer in answers:
        assert set(answer.headers["Access-Control-Expose-Headers"].split(", ")) >= expected


def test_cors_refuses_other_origins(org: Org) -> None:
    answer = org.api().get("/organizations", headers={"Origin": "https://evil.example"})
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_method_not_allowed_says_what_is(org: Org) -> None:
    answer = org.api().request("PATCH", "/auth/login")
    check_error(answer, 405, "method_not_allowed")
    assert "POST" in answer.headers["Allow"]


def test_documentation_pages_load_nothing_from_elsewhere(org: Org) -> None:
    client = org.app.test_client()
    for page in ("/docs", "/redoc"):
        answer = client.get(page)
        assert answer.status_code == 200
        assert "http" not in answer.text.replace("http-equiv", "")
        assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    for asset in ("swagger-ui.css", "swagger-ui-bundle.js", "redoc.standalone.js", "init.js"):
        assert client.get(f"/docs/assets/{asset}").status_code == 200
    assert client.get("/docs/assets/nope.js").status_code == 404
    assert b"cdn." not in client.get("/docs/assets/redoc.standalone.js").data


@pytest.mark.parametrize("page", ["/docs", "/redoc"])
def test_documentation_pages_have_an_icon(page: str, org: Org) -> None:
    """Without one, a browser asks for /favicon.ico and reports that there is none."""
    client = org.app.test_client()
    match = re.search(r'<link rel="icon"[^>]* href="([^"]+)"', client.get(page).text)
    assert match is not None
    icon = client.get(match[1])
    assert (icon.status_code, icon.mimetype) == (200, "image/png")


def test_description_is_cached_by_its_tag(org: Org) -> None:
    client = org.app.test_client()
    tag = client.get("/openapi.json").headers["ETag"]
    assert client.get("/openapi.json", headers={"If-None-Match": tag}).status_code == 304
