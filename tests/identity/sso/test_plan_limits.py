"""Single sign-on creates no member beyond those that the plan allows."""

from tests.factories import Org
from tests.factories.usage import find_usage_differences, set_plan
from tests.identity.sso.conftest import Browser, Configure, person


def _count_members(org: Org) -> int:
    listed = org.api("owner").get(f"/organizations/{org.slug}/members")
    return int(listed.json["meta"]["total"])


def test_a_new_person_is_refused_and_a_member_is_not(
    org: Org, browser: Browser, other_browser: Browser, configure: Configure
) -> None:
    configure(org)
    members, first = _count_members(org), person()
    set_plan(org, "business", {"members": members + 1})
    browser.token(org, first)
    arrived = other_browser.complete_sign_in(org, person())
    assert (arrived.status_code, arrived.json["error"]["code"]) == (402, "plan_limit_reached")
    assert arrived.json["error"]["details"]["used"] == members + 1
    assert _count_members(org) == members + 1
    browser.token(org, first)
    assert find_usage_differences(org) == []
