"""The organization's plan, the plans that can be chosen, and versions that stay as they were."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from app.billing.plans import catalog, queries
from app.billing.plans.models import PlanVersion
from app.factory import create_app
from app.kit import db
from app.kit.plan_limits import Meter
from app.kit.settings import SettingsError
from tests.factories import Org
from tests.factories.orgs import get_data
from tests.factories.usage import set_plan


def get_plan(org: Org) -> dict[str, Any]:
    return dict(get_data(org.api("viewer").get("/billing/plan")))


def test_the_default_plan_has_no_limits(org: Org) -> None:
    assert get_plan(org) == {
        "name": "unlimited",
        "version": 1,
        "price": {"amount": "0.00", "currency": "EUR"},
        "limits": dict.fromkeys(Meter),
        "charges": [],
        "limits_set_by_operator": [],
        "scheduled_change": None,
    }


def test_limits_that_the_operator_has_set(org: Org) -> None:
    set_plan(org, "free", {"members": 12, "webhooks": None})
    data = get_plan(org)
    assert (data["name"], data["price"]["amount"]) == ("free", "0.00")
    assert (data["limits"]["members"], data["limits"]["webhooks"]) == (12, None)
    assert data["limits"]["documents_per_month"] == 100
    assert data["limits_set_by_operator"] == ["members", "webhooks"]


def test_plans_that_can_be_chosen(org: Org) -> None:
    api = org.api("viewer")
    listed = api.get("/billing/plans").json
    names = ["free", "team", "business", "enterprise"]
    assert [plan["name"] for plan in listed["data"]] == names
    assert (listed["meta"]["total"], [plan["rank"] for plan in listed["data"]]) == (4, [1, 2, 3, 4])
    team = listed["data"][1]
    assert team["price"] == {"amount": "49.00", "currency": "EUR"}
    assert team["charges"][1] == {
        "meter": "documents_per_month",
        "included": 1000,
        "unit": 1,
        "tiers": [
            {"up_to": 5000, "unit_price": "0.05"},
            {"up_to": None, "unit_price": "0.04"},
        ],
    }
    first = api.get("/billing/plans?sort=name&page_size=3").json
    second = api.get(f"/billing/plans?sort=name&page_size=3&cursor={first['meta']['next_cursor']}")
    paged = [*first["data"], *second.json["data"]]
    assert [plan["name"] for plan in paged] == sorted(names)


def test_a_version_stays_as_it_was_when_it_was_first_used(app: Flask) -> None:
    used = replace(catalog.get_plan("team"), version=900, price=Decimal("12.5"))
    with app.app_context(), db.transaction():
        queries.store_plan(used)
        # The operator changes the price of a version, which must not happen; it has no effect.
        queries.store_plan(replace(used, price=Decimal(99)))
    with app.app_context():
        stored = db.session().get_one(PlanVersion, ("team", 900))
        assert catalog.parse_plan(stored.definition, "stored") == used


@pytest.mark.parametrize(
    "change", ["UPDATE plan_versions SET version = 2", "DELETE FROM plan_versions"]
)
def test_the_service_cannot_change_a_version(app: Flask, change: str) -> None:
    with app.app_context():
        with pytest.raises(ProgrammingError, match="permission denied"):
            db.session().execute(text(change))
        db.session().rollback()


def test_the_operator_replaces_the_plans(environ: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "plans.toml"
    content = catalog.BUILT_IN_PATH.read_text().replace('price = "49.00"', 'price = "59.00"')
    path.write_text(content)
    app = create_app({**environ, "PLANS_FILE": str(path)})
    try:
        with app.app_context():
            assert catalog.get_plan("team").price == 59
    finally:
        create_app(environ)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "PLANS_FILE must be the absolute path of a file that exists"),
        ("plans = []", "PLANS_FILE these plans are missing: free, team"),
        ("[[plans", "PLANS_FILE cannot be read"),
    ],
)
def test_the_service_does_not_start_with_a_bad_file(
    environ: dict[str, str], tmp_path: Path, content: str | None, message: str
) -> None:
    path = tmp_path / "plans.toml"
    if content is not None:
        path.write_text(content)
    try:
        with pytest.raises(SettingsError, match=message):
            create_app({**environ, "PLANS_FILE": str(path)})
    finally:
        create_app(environ)
