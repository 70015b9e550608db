"""An organization read and changed: its name, and its settings member by member."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import text

from app.kit import container, db
from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.workspace import Workspace

DEFAULTS = {
    "locale": "en",
    "time_zone": "UTC",
    "retention_days": None,
    "claim_minutes": 30,
    "draft_hours": 24,
    "allow_self_review": False,
    "ai_provider": {"kind": "builtin", "base_url": None, "model": None, "api_key_set": False},
}
URL = "https://127.0.0.2/v1"
"""Nobody listens there; the tests' policy lets it be reached."""


def _path(org: Org) -> str:
    return f"/organizations/{org.slug}"


def _patch(org: Org, **settings: Any) -> Any:
    return org.api("admin").patch(_path(org), json={"settings": settings})


def _get_provider_key(org: Org) -> str | None:
    with org.app.app_context():
        statement = text("SELECT ai_provider_key FROM organizations WHERE id = :id")
        encrypted_key: str | None = db.session().scalar(statement, {"id": org.id})
        return (
            None if encrypted_key is None else container.keyring().decrypt(encrypted_key).decode()
        )


def test_every_member_is_shown_with_what_holds_where_nothing_was_set(org: Org) -> None:
    answer = org.api("viewer").get(_path(org))
    assert answer.json["data"]["settings"] == DEFAULTS
    assert answer.json["data"]["role"] == "viewer"
    assert answer.headers["ETag"] == '"1"'
    listed = org.api("viewer").get("/organizations").json["data"]
    assert listed == [answer.json["data"]]


def test_settings_are_merged_member_by_member(org: Org) -> None:
    assert _patch(org, locale="de-at", claim_minutes=5).status_code == 200
    answer = _patch(org, time_zone="Europe/Vienna", retention_days=30)
    assert answer.json["data"]["settings"] == {
        **DEFAULTS,
        "locale": "de-AT",
        "claim_minutes": 5,
        "draft_hours": 24,
        "time_zone": "Europe/Vienna",
        "retention_days": 30,
    }
    assert _patch(org, retention_days=None).json["data"]["settings"]["retention_days"] is None


def test_a_name_is_changed_and_a_slug_never(org: Org) -> None:
    api = org.api("admin")
    answer = api.patch(_path(org), json={"name": "Büro"})
    assert (answer.json["data"]["name"], answer.json["data"]["slug"]) == ("Büro", org.slug)
    refused = api.patch(_path(org), json={"slug": "another-slug"})
    assert refused.status_code == 422


@pytest.mark.parametrize("name", ["", "   ", "a\r\nBcc: x@y.example", "\x07", "x" * 201])
def test_names_that_could_not_stand_in_a_mail_are_refused(org: Org, name: str) -> None:
    assert org.api("admin").patch(_path(org), json={"name": name}).status_code == 422


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("locale", "xx"),
        ("time_zone", "Mars/Base"),
        ("retention_days", 0),
        ("retention_days", 40_000),
        ("claim_minutes", 0),
        ("claim_minutes", 1441),
        ("draft_hours", 0),
        ("draft_hours", 8761),
    ],
)
def test_values_outside_their_range_are_named(org: Org, member: str, value: Any) -> None:
    check_error(_patch(org, **{member: value}), 400, "validation_error", field=f"settings.{member}")
    assert org.api().get(_path(org)).json["data"]["settings"] == DEFAULTS


def test_two_writers_of_one_revision_have_one_winner(org: Org) -> None:
    def write(name: str) -> int:
        body = {"name": name, "revision": 1}
        return org.api("admin").patch(_path(org), json=body).status_code

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(write, ["One", "Two"])) == [200, 409]
    stale = org.api("admin").patch(_path(org), json={"name": "x"}, headers={"If-Match": '"1"'})
    assert stale.json["error"]["details"] == {"current_revision": 2}


def test_the_providers_key_is_kept_encrypted_and_never_shown(org: Org) -> None:
    provider = {"kind": "openai_compatible", "base_url": URL, "model": "m", "api_key": "sk-secret"}
    answer = _patch(org, ai_provider=provider)
    shown = answer.json["data"]["settings"]["ai_provider"]
    expected = {"kind": "openai_compatible", "base_url": URL, "model": "m", "api_key_set": True}
    assert shown == expected
    assert b"sk-secret" not in answer.data
    assert _get_provider_key(org) == "sk-secret"
    assert _patch(org, ai_provider={"model": "n"}).status_code == 200
    settings = org.api().get(_path(org)).json["data"]["settings"]
    assert _patch(org, **settings).json["data"]["settings"] == settings
    assert _get_provider_key(org) == "sk-secret"
    _patch(org, ai_provider={"api_key": None})
    assert _get_provider_key(org) is None


def test_a_key_is_not_sent_to_another_host_than_it_was_given_for(org: Org) -> None:
    provider = {"kind": "openai_compatible", "base_url": URL, "model": "m", "api_key": "sk-secret"}
    _patch(org, ai_provider=provider)
    _patch(org, ai_provider={"base_url": f"{URL}/other"})
    assert _get_provider_key(org) == "sk-secret"
    _patch(org, ai_provider={"base_url": "https://127.0.0.2:8443/v1"})
    assert _get_provider_key(org) is None


@pytest.mark.parametrize(
    ("provider", "field"),
    [
        ({"kind": "openai_compatible"}, "base_url"),
        ({"kind": "openai_compatible", "base_url": URL}, "model"),
        ({"base_url": "https://169.254.169.254/"}, "base_url"),
        ({"base_url": "file:///etc/passwd"}, "base_url"),
        ({"base_url": "https://[::1/"}, "base_url"),
    ],
)
def test_a_provider_must_be_whole_and_outside(
    org: Org, provider: dict[str, Any], field: str
) -> None:
    answer = _patch(org, ai_provider=provider)
    check_error(answer, 400, "validation_error", field=f"settings.ai_provider.{field}")


def test_claims_last_as_long_as_the_settings_say(org: Org) -> None:
    _patch(org, claim_minutes=7)
    workspace = Workspace(org)
    artifact = workspace.artifact()
    assert org.api("labeler").post(f"/artifacts/{artifact}/claim").status_code == 200
    statement = (
        "SELECT claim_expires_at - now() > interval '6 minutes'"
        " AND claim_expires_at - now() <= interval '7 minutes' FROM artifacts WHERE id = :id"
    )
    assert workspace.sql(statement, id=artifact)[0][0] is True


def test_self_review_follows_the_settings(org: Org) -> None:
    workspace = Workspace(org)
    mine = workspace.submitted(by="reviewer")
    accept = f"/tag-sets/{mine['id']}/accept"
    assert org.api("reviewer").post(accept, json={}).status_code == 403
    _patch(org, allow_self_review=True)
    assert org.api("reviewer").post(accept, json={}).status_code == 200
