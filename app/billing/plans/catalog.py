"""The plan catalog: a TOML file that is read once.

The file named by PLANS_FILE replaces the built-in file. The file contains one or more versions of
each plan. A published version is never changed: a new price or limit needs a new version.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from app.engines.invoices.charges import Tier
from app.kit import container, toml_files
from app.kit.plan_limits import Meter
from app.kit.settings import PLANS

BUILT_IN_PATH = Path(__file__).parent / "catalogue.toml"
MAX_QUANTITY = 2**53 - 1
"""The maximum limit or quantity: the largest integer that all JSON parsers represent exactly."""
MAX_VERSION = 2**31 - 1
_AMOUNT_PATTERN = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_CURRENCY_PATTERN = re.compile(r"[A-Z]{3}")


class CatalogError(ValueError):
    """A plan file or a stored plan is invalid or cannot be read; the message says where and why."""


_toml = toml_files.Validator(CatalogError)


@dataclass(frozen=True)
class Charge:
    """The price for usage of a meter beyond the `included` quantity, in graduated tiers.

    `included` is a quantity as the meter counts it, for example in bytes. `unit` is the quantity to
    which the unit price of a tier applies, for example 2**30 bytes.
    """

    meter: str
    included: int
    tiers: tuple[Tier, ...]
    unit: int


@dataclass(frozen=True)
class Plan:
    """A version of a plan. `price` is per month, and a limit of None means no limit.

    If `is_public` is false, only the operator can assign the plan.
    """

    name: str
    version: int
    currency: str
    price: Decimal
    limits: Mapping[str, int | None]
    charges: tuple[Charge, ...]
    is_public: bool


def get_plan(name: str) -> Plan:
    """Return the newest version of a plan from the plan file.

    Raises LookupError for a name that is not in `PLANS`, and CatalogError if the file cannot be
    read or is invalid.
    """
    versions = load_catalog()[name]
    return versions[max(versions)]


def list_plans() -> list[Plan]:
    """Return the newest version of each plan, in the order of `PLANS`."""
    return [get_plan(name) for name in PLANS]


def load_catalog() -> Mapping[str, Mapping[int, Plan]]:
    """Return all plans in the configured or built-in file, by name and version.

    Raises CatalogError if the file cannot be read or is invalid.
    """
    return read_catalog(Path(container.settings().plans_file or BUILT_IN_PATH))


@cache
def read_catalog(path: Path) -> Mapping[str, Mapping[int, Plan]]:
    """Read a plan file, and return its plans by name and version.

    Each file is read once. Raises CatalogError if the file cannot be read, is invalid, or has no
    version of one of the plans in `PLANS`.
    """
    content = _toml.read(path)
    plans_by_name: dict[str, dict[int, Plan]] = {name: {} for name in PLANS}
    _toml.check_table(content, "the file", {"plans"})
    for number, table in enumerate(_check_list(content.get("plans"), "plans"), start=1):
        plan = parse_plan(table, f"plan {number}")
        if plan.version in plans_by_name[plan.name]:
            raise CatalogError(f"version {plan.version} of {plan.name} is defined twice")
        plans_by_name[plan.name][plan.version] = plan
    if missing_names := [name for name, versions in plans_by_name.items() if not versions]:
        raise CatalogError(f"these plans are missing: {', '.join(missing_names)}")
    return MappingProxyType(plans_by_name)


def parse_plan(definition: object, location: str) -> Plan:
    """Parse a plan from a TOML table or a stored definition.

    Raises CatalogError if the plan is invalid. `location` identifies the plan in messages until
    its name and version are known.
    """
    optional = {"limits", "charges"}
    required = Plan.__dataclass_fields__.keys() - optional
    table = _toml.check_table(definition, location, required, optional)
    name, is_public, currency = table["name"], table["is_public"], table["currency"]
    if not isinstance(name, str) or name not in PLANS:
        raise CatalogError(f"{location}: name must be one of {', '.join(PLANS)}")
    location = f"{name}, version {table['version']}"
    if not isinstance(is_public, bool):
        raise CatalogError(f"{location}: is_public must be true or false")
    if not isinstance(currency, str) or not _CURRENCY_PATTERN.fullmatch(currency):
        raise CatalogError(f"{location}: currency must be an ISO 4217 code, for example EUR")
    charges = _check_list(table.get("charges", []), f"{location}: charges")
    plan = Plan(
        name=name,
        version=_toml.check_integer(table["version"], f"{location}: version", 1, MAX_VERSION),
        currency=currency,
        price=_parse_amount(table["price"], f"{location}: price"),
        limits=_parse_limits(table.get("limits", {}), location),
        charges=tuple(_parse_charge(charge, location) for charge in charges),
        is_public=is_public,
    )
    meters = [charge.meter for charge in plan.charges]
    if len(set(meters)) < len(meters):
        raise CatalogError(f"{location}: charges must be for different meters")
    return plan


def format_plan(plan: Plan) -> dict[str, Any]:
    """Format a plan as a JSON object that `parse_plan` can read."""
    return {
        "name": plan.name,
        "version": plan.version,
        "currency": plan.currency,
        "price": f"{plan.price:f}",
        "limits": {name: limit for name, limit in plan.limits.items() if limit is not None},
        "charges": [
            {
                "meter": charge.meter,
                "included": charge.included,
                "unit": charge.unit,
                "tiers": [
                    {
                        "up_to": None if tier.up_to is None else int(tier.up_to),
                        "unit_price": f"{tier.unit_price:f}",
                    }
                    for tier in charge.tiers
                ],
            }
            for charge in plan.charges
        ],
        "is_public": plan.is_public,
    }


def _parse_limits(value: object, location: str) -> Mapping[str, int | None]:
    table = _toml.check_table(value, f"{location}: limits", set(), set(Meter))
    limits: dict[str, int | None] = dict.fromkeys(map(str, Meter))
    for name, limit in table.items():
        limits[name] = _toml.check_integer(limit, f"{location}: limit {name}", 0, MAX_QUANTITY)
    return MappingProxyType(limits)


def _parse_charge(value: object, location: str) -> Charge:
    required = {"meter", "included", "tiers"}
    table = _toml.check_table(value, f"{location}: charge", required, {"unit"})
    meter = table["meter"]
    if not isinstance(meter, str) or meter not in tuple(Meter):
        raise CatalogError(f"{location}: {meter!r} is not a meter")
    location = f"{location}: charge for {meter}"
    tiers = tuple(
        _parse_tier(tier, location) for tier in _check_list(table["tiers"], f"{location}: tiers")
    )
    bounds = [tier.up_to for tier in tiers]
    finite_bounds = [bound for bound in bounds[:-1] if bound is not None]
    if not bounds or bounds[-1] is not None or finite_bounds != sorted(set(finite_bounds)):
        raise CatalogError(
            f"{location}: up_to must increase from tier to tier, and the last tier must omit it"
        )
    if len(finite_bounds) < len(bounds) - 1:
        raise CatalogError(f"{location}: only the last tier may omit up_to")
    return Charge(
        meter=meter,
        included=_toml.check_integer(table["included"], f"{location}: included", 0, MAX_QUANTITY),
        tiers=tiers,
        unit=_toml.check_integer(table.get("unit", 1), f"{location}: unit", 1, MAX_QUANTITY),
    )


def _parse_tier(value: object, location: str) -> Tier:
    table = _toml.check_table(value, f"{location}: tier", {"unit_price"}, {"up_to"})
    up_to = table.get("up_to")
    if up_to is not None:
        up_to = Decimal(_toml.check_integer(up_to, f"{location}: up_to", 1, MAX_QUANTITY))
    return Tier(
        up_to=up_to,
        unit_price=_parse_amount(table["unit_price"], f"{location}: unit_price"),
    )


def _parse_amount(value: object, location: str) -> Decimal:
    # Floating-point numbers in TOML would not be exact, so amounts are strings.
    if not isinstance(value, str) or not _AMOUNT_PATTERN.fullmatch(value):
        raise CatalogError(f'{location} must be a decimal number in quotes, for example "49.00"')
    return Decimal(value)


def _check_list(value: object, location: str) -> list[object]:
    if not isinstance(value, list):
        raise CatalogError(f"{location} must be a list")
    return value
