"""The billing profile: what it accepts, and what it refuses."""

from functools import partial
from typing import Any

import pytest

from tests.billing.conftest import Customer
from tests.factories import Org
from tests.factories.invoices import PROFILE
from tests.factories.orgs import get_data
from tests.factories.queueing import run_concurrently

PATH = "/billing/profile"


def test_a_profile_that_was_never_set(org: Org) -> None:
    answer = org.api("admin").get(PATH)
    assert answer.status_code == 200
    assert answer.json["data"] == {
        **dict.fromkeys(("name", "address", "tax_number", "email", "created_at", "updated_at")),
        "currency": "EUR",
        "time_zone": "UTC",
        "language": "en",
        "revision": 0,
    }


def test_setting_and_replacing_the_profile(org: Org) -> None:
    api = org.api("admin")
    answer = api.put(PATH, json=PROFILE)
    assert answer.status_code == 200, answer.json
    assert answer.headers["ETag"] == '"1"'
    data = answer.json["data"]
    assert {name: data[name] for name in PROFILE} == PROFILE
    assert api.get(PATH).json["data"] == data
    less = {key: PROFILE[key] for key in ("name", "address", "email", "currency")}
    profile = get_data(api.put(PATH, json=less, headers={"If-Match": '"1"'}))
    assert (
        profile["tax_number"],
        profile["time_zone"],
        profile["language"],
        profile["revision"],
    ) == (
        *(None, "UTC"),
        *("en", 2),
    )


def test_an_outdated_revision(org: Org) -> None:
    api = org.api("admin")
    for revision in (1, 7):
        answer = api.put(PATH, json={**PROFILE, "revision": revision})
        assert (answer.status_code, answer.json["error"]["code"]) == (409, "stale_precondition")
        assert answer.json["error"]["details"] == {"current_revision": 0}
    assert api.put(PATH, json={**PROFILE, "revision": 0}).status_code == 200
    answer = api.put(PATH, json={**PROFILE, "revision": 0})
    assert answer.json["error"]["details"] == {"current_revision": 1}
    assert api.get(PATH).json["data"]["revision"] == 1


def test_of_two_first_writers_one_wins(org: Org) -> None:
    clients = [org.api("admin") for _ in range(2)]
    calls = [partial(api.put, PATH, json={**PROFILE, "revision": 0}) for api in clients]
    assert sorted(answer.status_code for answer in run_concurrently(*calls)) == [200, 409]


@pytest.mark.parametrize(
    ("members", "status", "field"),
    [
        ({"tax_number": "ATU13585628"}, 400, "tax_number"),
        ({"tax_number": "DE136695976"}, 400, "tax_number"),
        ({"tax_number": "<b>"}, 400, "tax_number"),
        ({"tax_number": ""}, 422, "tax_number"),
        ({"address": {"lines": ["A"], "city": "B", "country": "ZZ"}}, 400, "address.country"),
        ({"address": {"lines": ["A"], "city": "B", "country": "at"}}, 400, "address.country"),
        ({"address": {"lines": [], "city": "B", "country": "AT"}}, 422, "address.lines"),
        ({"address": {"lines": ["A"] * 4, "city": "B", "country": "AT"}}, 422, "address.lines"),
        ({"address": {"lines": [" "], "city": "B", "country": "AT"}}, 422, "address.lines.0"),
        ({"address": {"lines": ["A"], "country": "AT"}}, 422, "address.city"),
        ({"address": {"lines": ["a\ufffe"], "city": "B", "country": "AT"}}, 400, "address.lines.0"),
        ({"name": "\uffff x"}, 400, "name"),
        ({"name": "\u200b"}, 422, "name"),
        ({"email": "nobody"}, 400, "email"),
        ({"currency": "EU"}, 422, "currency"),
        ({"currency": "ABC"}, 400, "currency"),
        ({"time_zone": "Europe/Atlantis"}, 400, "time_zone"),
        ({"language": "tlh"}, 422, "language"),
        ({"colour": "red"}, 422, "colour"),
    ],
)
def test_what_is_refused(org: Org, members: dict[str, Any], status: int, field: str) -> None:
    api = org.api("admin")
    answer = api.put(PATH, json={**PROFILE, **members})
    assert (answer.status_code, answer.json["error"]["field"]) == (status, field), answer.json
    assert api.get(PATH).json["data"]["revision"] == 0


@pytest.mark.parametrize(
    ("country", "number", "stored"),
    [
        ("DE", "DE 136 695 976", "DE136695976"),
        ("DE", "136695976", "DE136695976"),
        ("GR", "094259216", "EL094259216"),
        ("US", "12-3456789", "12-3456789"),
        ("CH", "CHE-107.787.577 MWST", "CHE107787577MWST"),
    ],
)
def test_the_spelling_of_a_tax_number(org: Org, country: str, number: str, stored: str) -> None:
    address = {"lines": ["A"], "city": "B", "country": country}
    answer = org.api("admin").put(PATH, json={**PROFILE, "address": address, "tax_number": number})
    assert get_data(answer)["tax_number"] == stored


def test_the_currency_must_be_that_of_a_plan_with_a_price(customer: Customer) -> None:
    api = customer.org.api("admin")
    answer = api.put(PATH, json={**PROFILE, "currency": "USD"})
    assert (answer.status_code, answer.json["error"]["field"]) == (400, "currency")
    assert answer.json["error"]["details"] == {"plan": "team", "currency": "EUR"}
    customer.set_plan("unlimited")
    assert api.put(PATH, json={**PROFILE, "currency": "KWD"}).status_code == 200


def test_the_currency_must_be_that_of_a_scheduled_plan(org: Org) -> None:
    customer = Customer(org)
    customer.set_plan("free")
    customer.set_profile()
    body = {"plan": "team", "when": "period_end"}
    assert org.api("owner").post("/billing/plan/change", body).status_code == 200
    answer = org.api("admin").put(PATH, json={**PROFILE, "currency": "USD"})
    assert (answer.status_code, answer.json["error"]["field"]) == (400, "currency")
    assert answer.json["error"]["details"] == {"plan": "team", "currency": "EUR"}
    assert org.api("owner").post("/billing/plan/change", {"plan": "free"}).status_code == 200
    assert org.api("admin").put(PATH, json={**PROFILE, "currency": "USD"}).status_code == 200


def test_names_in_any_script(org: Org) -> None:
    for name in ("شركة الأمل", "株式会社サンプル", "Пример", "Πλάτων", "#let x = [1]"):
        answer = org.api("admin").put(PATH, json={**PROFILE, "name": name})
        assert answer.json["data"]["name"] == name
