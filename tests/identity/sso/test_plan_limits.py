"""Single sign-on creates no member beyond those that the plan allows."""

from tests.factories import Org
from tests.factories.usage import find_usage_differences, set_plan
from tests.identity.sso.conftest import Browser, person


def _count_members(org: Org) -> int:
    listed = org.api("owner").get(f"/organizations/{org.slug}/members")
    return int(listed.json["meta"]["total"])


def test_a_new_person_is_refused_and_a_member_is_not(
    sso_org: Org, browser: Browser, other_browser: Browser
) -> None:
    members, first = _count_members(sso_org), person()
    set_plan(sso_org, "business", {"members": members + 1})
    browser.token(sso_org, first)
    arrived = other_browser.complete_sign_in(sso_org, person())
    assert (arrived.status_code, arrived.json["error"]["code"]) == (402, "plan_limit_reached")
    assert arrived.json["error"]["details"]["used"] == members + 1
    assert _count_members(sso_org) == members + 1
    browser.token(sso_org, first)
    assert find_usage_differences(sso_org) == []
