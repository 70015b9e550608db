"""The cache of schema versions that all operations on tag sets share."""

from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

import pytest

import app
from app.kit.ids import uuid7
from app.schemas.artifact_schemas.service import versions
from app.workflow.tag_sets.service import rules


def test_compiled_fields_are_kept_by_version_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    read_ids: list[UUID] = []

    def get_version(version_id: UUID) -> SimpleNamespace:
        read_ids.append(version_id)
        return SimpleNamespace(fields=[], review_policy={})

    monkeypatch.setattr(versions, "get_version", get_version)
    rules.get_version_rules.cache_clear()
    first, second, *others = ids = [uuid7() for _ in range(rules._MAX_CACHED_VERSIONS)]
    compiled = [rules.get_version_rules(version_id) for version_id in ids]
    assert [rules.get_version_rules(version_id) for version_id in ids] == compiled
    assert rules.get_version_rules(first).fields is compiled[0].fields
    assert read_ids == ids
    third = uuid7()
    rules.get_version_rules(third)
    for version_id in (first, *others, third):
        rules.get_version_rules(version_id)
    assert read_ids == [*ids, third]
    rules.get_version_rules(second)  # the least recently used entry made room for the third
    assert read_ids == [*ids, third, second]


def test_compiled_fields_are_kept_nowhere_else() -> None:
    root = Path(app.__file__).parent
    builders = [path for path in root.rglob("*.py") if "CompiledFields(" in path.read_text()]
    assert [path.relative_to(root).as_posix() for path in builders] == [
        "workflow/tag_sets/service/rules.py"
    ]
