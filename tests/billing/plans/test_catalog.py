"""The file of plans: what it may say, and what is refused with the place of the mistake."""

from decimal import Decimal
from pathlib import Path

import pytest

from app.billing.plans import catalog
from app.billing.plans.catalog import CatalogError, Charge
from app.engines.invoices.charges import Tier
from app.identity.control_plane.service import LIMITS
from app.kit.plan_limits import Meter
from app.kit.settings import PLANS

OPEN = '{ unit_price = "1" }'
BOUND = '{ up_to = 2, unit_price = "1" }'
CHARGE = '{ meter = "members", included = 1, tiers = [{ unit_price = "1" }] }'


def build_charge(*tiers: str) -> str:
    """Return a line that gives a plan a charge with these tiers."""
    return f'charges = [{{ meter = "members", included = 1, tiers = [{", ".join(tiers)}] }}]'


def build_file(folder: Path, changes: str = "", *, drop: str = "", charges: str = "[]") -> Path:
    """Write a file in which `team` has `charges` and the lines `changes`, without plan `drop`."""
    blocks = []
    for name in PLANS:
        if name == drop:
            continue
        own = {"name": f'"{name}"', "version": "1", "currency": '"EUR"', "price": '"0"'}
        own |= {"is_public": "true", "charges": charges if name == "team" else "[]"}
        if name == "team":
            for line in filter(None, changes.splitlines()):
                member, value = line.split(" = ", 1)
                own[member] = value
        lines = [f"{member} = {value}" for member, value in own.items() if value != "-"]
        blocks.append("\n".join(["[[plans]]", *lines]))
    path = folder / "plans.toml"
    path.write_text("\n\n".join(blocks), encoding="utf-8")
    return path


def test_the_built_in_plans() -> None:
    plans = catalog.read_catalog(catalog.BUILT_IN_PATH)
    assert tuple(plans) == PLANS
    assert set(plans["unlimited"][1].limits.values()) == {None}
    assert [name for name in PLANS if not plans[name][1].is_public] == ["unlimited"]
    for versions in plans.values():
        for plan in versions.values():
            assert set(plan.limits) == set(LIMITS) == set(Meter)
            for charge in plan.charges:
                limit = plan.limits[charge.meter]
                assert limit is None or charge.included < limit


def test_a_plan_survives_the_form_in_which_it_is_stored() -> None:
    for versions in catalog.read_catalog(catalog.BUILT_IN_PATH).values():
        for plan in versions.values():
            assert catalog.parse_plan(catalog.format_plan(plan), "stored") == plan


def test_amounts_and_tiers_are_exact(tmp_path: Path) -> None:
    tiers = '[{ up_to = 10, unit_price = "0.1" }, { unit_price = "0.000000001" }]'
    path = build_file(
        tmp_path, charges=f'[{{ meter = "stored_bytes", included = 5, unit = 7, tiers = {tiers} }}]'
    )
    [charge] = catalog.read_catalog(path)["team"][1].charges
    expected = (Tier(Decimal(10), Decimal("0.1")), Tier(None, Decimal("0.000000001")))
    assert charge == Charge("stored_bytes", 5, expected, 7)


def test_the_newest_version_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = build_file(tmp_path)
    newer = '\n[[plans]]\nname = "team"\nversion = 10\ncurrency = "EUR"\nprice = "5"\n'
    path.write_text(path.read_text() + newer + "is_public = true\n")
    plans = catalog.read_catalog(path)
    monkeypatch.setattr(catalog, "load_catalog", lambda: plans)
    assert catalog.get_plan("team").version == 10
    assert plans["team"][1].price == 0
    assert [plan.version for plan in catalog.list_plans()] == [1, 10, 1, 1, 1]
    with pytest.raises(LookupError):
        catalog.get_plan("gold")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ("price = 4.9", "price must be a decimal number in quotes"),
        ('price = "-1"', "price must be a decimal number in quotes"),
        ('price = "1e5"', "price must be a decimal number in quotes"),
        ('price = "\u0661"', "price must be a decimal number in quotes"),
        ("version = 0", "version must be a whole number from 1"),
        ("version = 2147483648", "version must be a whole number from 1 to 2147483647"),
        ("version = true", "version must be a whole number from 1"),
        ('currency = "eur"', "currency must be an ISO 4217 code"),
        ("currency = 978", "currency must be an ISO 4217 code"),
        ('is_public = "yes"', "is_public must be true or false"),
        ('name = "gold"', "name must be one of free, team"),
        ("name = []", "name must be one of free, team"),
        ("limits = { seats = 4 }", "unknown keys: seats"),
        ("limits = { members = -1 }", "limit members must be a whole number from 0"),
        ("limits = { stored_bytes = 9007199254740992 }", "limit stored_bytes must be"),
        ("limits = 3", "limits must be a table"),
        ("price = -", "missing keys: price"),
        ("colour = 1", "unknown keys: colour"),
        ("charges = 1", "charges must be a list"),
        (f"charges = [{CHARGE}, {CHARGE}]", "charges must be for different meters"),
        ('charges = [{ meter = "seats", included = 1, tiers = [] }]', "'seats' is not a meter"),
        ("charges = [{ meter = [], included = 1, tiers = [] }]", "is not a meter"),
        ('charges = [{ meter = "members", included = 1, tiers = [] }]', "up_to must increase"),
        (build_charge(BOUND), "the last tier must omit it"),
        (build_charge(OPEN, OPEN), "only the last tier may omit up_to"),
        (build_charge(BOUND, BOUND, OPEN), "up_to must increase"),
        ("charges = [ 4 ]", "charge must be a table"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, changes: str, message: str) -> None:
    with pytest.raises(CatalogError) as refused:
        catalog.read_catalog(build_file(tmp_path, changes))
    assert message in str(refused.value)


def test_mistakes_of_the_whole_file(tmp_path: Path) -> None:
    path = build_file(tmp_path, drop="business")
    with pytest.raises(CatalogError, match="these plans are missing: business"):
        catalog.read_catalog(path)
    for name, content in {"a": "[[plans", "b": "plans = 3", "c": "[plans]", "d": "x = 1"}.items():
        broken = tmp_path / name
        broken.write_text(content)
        with pytest.raises(CatalogError):
            catalog.read_catalog(broken)
    with pytest.raises(CatalogError, match="cannot be read"):
        catalog.read_catalog(tmp_path / "absent")
    twice = build_file(tmp_path, 'name = "free"')
    with pytest.raises(CatalogError, match="version 1 of free is defined twice"):
        catalog.read_catalog(twice)
