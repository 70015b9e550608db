"""Raw SQL uses only tables that its feature owns, or whose owner the feature may import."""

import ast
import re
from collections.abc import Iterator
from configparser import ConfigParser
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import app.features  # noqa: F401 - declares the tables
from app.kit import db

ROOT = Path(__file__).parents[1]
_CONTRACTS = ConfigParser()
_CONTRACTS.read(ROOT / "setup.cfg")
_LAYERS = _CONTRACTS["importlinter:contract:rooms"]["layers"].replace(" | ", "|").split()
FLOORS = {
    room: floor
    for floor, layer in enumerate(reversed(_LAYERS[_LAYERS.index("features") + 1 :]))
    for room in layer.split("|")
}
"""The layer of each room, counted from the lowest. Rooms in the same layer are independent."""
NAMED = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE|USING)\s+(?:ONLY\s+)?([a-z_]+)")
Feature = tuple[str, str]
"""A package and one of its features."""


def _owners() -> dict[str, Feature]:
    owners = {}
    for mapper in db.Base.registry.mappers:
        _, room, feature, *_ = (*mapper.class_.__module__.split("."), "")
        owners[mapper.local_table.name] = (room, feature)  # type: ignore[attr-defined]
    assert owners, "Importing the features declares the tables."
    return owners


def _features() -> Iterator[tuple[Feature, ast.Module]]:
    for path in sorted((ROOT / "app").glob("*/*/**/*.py")):
        room, feature = path.relative_to(ROOT / "app").parts[:2]
        if room in FLOORS and room != "kit":
            yield (room, feature), ast.parse(path.read_text())


def _imported(tree: ast.Module) -> Iterator[Feature]:
    """Yield the imported features, except imports of events, which import-linter checks."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and [n.name for n in node.names] == ["emitted_events"]:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("app."):
            _, room, *rest = node.module.split(".")
            for feature in rest[:1] or [alias.name for alias in node.names]:
                yield room, feature


def _named_tables(tree: ast.Module) -> Iterator[str]:
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in documented:
            yield from NAMED.findall(node.value)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def dependencies() -> dict[Feature, set[Feature]]:
    """Return, for each feature, the features whose tables or modules it uses."""
    owners = _owners()
    used: dict[Feature, set[Feature]] = {}
    for feature, tree in _features():
        named = {owners[table] for table in _named_tables(tree) if table in owners}
        used.setdefault(feature, set()).update(named, _imported(tree))
        used[feature] -= {feature}
    return used


def test_the_texts_of_sql_are_understood(dependencies: dict[Feature, set[Feature]]) -> None:
    claims = _named_tables(
        ast.parse((ROOT / "app/workflow/assignment/queries/claims.py").read_text())
    )
    assert {"tag_sets", "schemas", "schema_versions", "artifacts"} <= set(claims)
    assert ("identity", "teams") in dependencies["workflow", "assignment"]


def test_the_tables_of_a_lower_room_alone_are_named(
    dependencies: dict[Feature, set[Feature]],
) -> None:
    upward = {
        (feature, other)
        for feature, others in dependencies.items()
        for other in others
        if other[0] in FLOORS and other[0] != feature[0] and FLOORS[other[0]] >= FLOORS[feature[0]]
    }
    assert upward == set()


def test_features_of_a_room_do_not_name_each_others_tables_in_a_circle(
    dependencies: dict[Feature, set[Feature]],
) -> None:
    within = {
        feature: {other for other in others if other[0] == feature[0]}
        for feature, others in dependencies.items()
    }
    try:
        TopologicalSorter(within).prepare()
    except CycleError as error:
        pytest.fail(f"a circle: {error.args[1]}")
