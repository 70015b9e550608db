"""Rules for the structure of the code. The two lists of exceptions may only shrink."""

import ast
import re
from pathlib import Path

from alembic.config import Config
from alembic.script import ScriptDirectory
from flask import Flask

from app import endpoints
from app.kit.api.documentation import list_operations
from app.kit.jobs import handlers
from app.kit.jobs.queues import QUEUES
from app.kit.permissions import PERMISSIONS, Role

ROOT = Path(__file__).parents[1]
PACKAGES = ("app", "demo", "devserver")
SOURCES = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 40
LONG_FILES: set[str] = set()
LONG_FUNCTIONS: set[str] = set()


def test_files_stay_small() -> None:
    long = {
        str(path.relative_to(ROOT))
        for path in SOURCES
        if len(path.read_text().splitlines()) > MAX_FILE_LINES
    }
    assert long == LONG_FILES


def test_functions_stay_small() -> None:
    long = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                if node.end_lineno - node.lineno + 1 > MAX_FUNCTION_LINES:
                    long.add(f"{path.relative_to(ROOT)}:{node.name}")
    assert long == LONG_FUNCTIONS


def test_every_event_name_is_one_constant_of_the_feature_that_emits_it() -> None:
    """Mypy checks that every call of `events.emit` passes such a constant and its payload."""
    constants = re.compile(r'EventName(?:\[\w+\])?\(\s*"([a-z_.]+)"\s*\)')
    places: dict[str, list[str]] = {}
    for path in SOURCES:
        for name in constants.findall(path.read_text()):
            places.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert len(places) > 50
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}
    assert all(Path(path).name == "emitted_events.py" for (path,) in places.values())


def test_one_migration_head_named_by_its_time() -> None:
    config = Config()
    config.set_main_option("script_location", str(ROOT / "migrations"))
    script = ScriptDirectory.from_config(config)
    assert len(script.get_heads()) == 1
    for revision in script.walk_revisions():
        assert Path(revision.path).name.startswith(revision.revision)
        assert len(revision.revision) == 12
        assert revision.revision.isdigit()


def test_the_models_and_the_migrations_agree(app: Flask) -> None:
    from alembic.autogenerate import compare_metadata  # noqa: PLC0415
    from alembic.migration import MigrationContext  # noqa: PLC0415

    from app.kit import db  # noqa: PLC0415

    with app.app_context(), db.engine().connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), db.Base.metadata)
    assert differences == []


def test_every_operation_declares_who_may() -> None:
    for op in list_operations(endpoints.BLUEPRINTS):
        if op.permission is None:
            assert op.access in ("public", "user", "control-plane"), op.name
        else:
            assert Role[op.access] == PERMISSIONS[op.permission]


def test_every_permission_is_used() -> None:
    used = {op.permission for op in list_operations(endpoints.BLUEPRINTS)}
    assert set(PERMISSIONS) <= used


def test_every_route_says_what_it_does() -> None:
    for op in list_operations(endpoints.BLUEPRINTS):
        doc = op.handler.__doc__ or ""
        assert doc.strip().endswith("."), op.name


def test_every_queue_has_a_worker() -> None:
    assert {handler.queue for handler in handlers.HANDLERS.values()} <= set(QUEUES)
