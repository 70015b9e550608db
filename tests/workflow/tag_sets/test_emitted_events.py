"""The events of tag sets are emitted under constant names."""

import ast
from pathlib import Path

import app.workflow.tag_sets as feature
from app.workflow.tag_sets import emitted_events

ROOT = Path(feature.__path__[0])
NAMES = {
    name: value
    for name, value in vars(emitted_events).items()
    if name.isupper() and isinstance(value, str)
}


def _trees() -> list[ast.Module]:
    return [ast.parse(path.read_text()) for path in sorted(ROOT.rglob("*.py"))]


def test_no_event_name_is_assembled_from_parts() -> None:
    """Check that every constant is a full name and that no f-string begins with the prefix."""
    assert all(value == f"tag_set.{name.lower()}" for name, value in NAMES.items())
    assembled = [
        part.value
        for tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
        if isinstance(part, ast.Constant) and str(part.value).startswith("tag_set.")
    ]
    assert assembled == []


def test_each_name_is_used_where_its_event_is_emitted() -> None:
    """Check that a search for a constant leads to code that emits the event."""
    used = {
        argument.attr
        for tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for argument in node.args
        if isinstance(argument, ast.Attribute) and ast.unparse(argument.value) == "emitted_events"
    }
    assert used == set(NAMES)
