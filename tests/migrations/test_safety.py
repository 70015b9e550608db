"""What migrations say to PostgreSQL, read by squawk: nothing that keeps others out for long.

Squawk judges SQL, so the migrations are run and their statements taken down. What it cannot know,
that a change of rows comes in batches, is checked here. A migration that must do otherwise says
which rule it breaks, by which statement, and why: `UNSAFE`, see docs/contributors/migrations.md.
"""

import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, event

from tests.migrations.conftest import BEFORE, ROOT, Migrating

REVISION = BEFORE
# Of style, not of safety; time-outs are set by migrations/env.py for all.
IGNORED = (
    "prefer-bigint-over-int",
    "prefer-bigint-over-smallint",
    "prefer-identity",
    "prefer-robust-stmts",
    "prefer-text-field",
    "prefer-timestamp-tz",
    "require-lock-timeout",
    "require-statement-timeout",
)
BATCHED = "WITH batch ("
_STAMP = re.compile(r"UPDATE alembic_version SET version_num='(\d+)'")
_ROWS = re.compile(r"^\s*(?:WITH\b.*?\b)?(UPDATE|DELETE\s+FROM|INSERT\s+INTO)\s+(\w+)", re.S | re.I)
_MADE = re.compile(r"^\s*CREATE TABLE (\w+)", re.I)
# Of the machinery: a row or two each.
_OWN = {"alembic_version", "audit_watches", "count_sources", "count_cubes"}


@dataclass
class Said:
    """What a migration said, statement by statement."""

    revision: str = ""
    statements: list[str] = field(default_factory=list)


def listen(config: Config, url: str, monkeypatch: pytest.MonkeyPatch) -> list[Said]:
    """Bring a database from `BEFORE` to the head; what each migration said on the way."""
    heard = [Said()]

    def take_down(_c: Any, cursor: Any, statement: str, values: Any, *_: Any) -> None:
        said = cursor.mogrify(statement, values).decode()
        if stamp := _STAMP.search(said):
            heard[-1].revision = stamp[1]
            heard.append(Said())
        elif not said.lstrip().upper().startswith("SELECT"):
            heard[-1].statements.append(said.strip().rstrip(";"))

    monkeypatch.setenv("DATABASE_URL", url)
    event.listen(Engine, "before_cursor_execute", take_down)
    try:
        command.upgrade(config, "head")
    finally:
        event.remove(Engine, "before_cursor_execute", take_down)
    return heard[:-1]


def lint(statements: list[str], folder: Path) -> list[tuple[str, str]]:
    """Rules of squawk that are broken, each with the statement's beginning."""
    file = folder / "migration.sql"
    file.write_text(";\n".join(statements) + ";\n")
    # Steps of migrations.live commit one by one, all else is one transaction.
    steps = any("CONCURRENTLY" in one for one in statements)
    transaction = "--no-assume-in-transaction" if steps else "--assume-in-transaction"
    squawk = Path(sys.executable).with_name("squawk")
    excluded = [f"--exclude={rule}" for rule in IGNORED]
    done = subprocess.run(
        [squawk, "--pg-version=16", "--reporter=json", transaction, *excluded, file],
        check=False,
        capture_output=True,
        text=True,
    )
    lines = file.read_text().splitlines()
    return [
        (told["rule_name"], " ".join(lines[told["line"] : told["line"] + 3]))
        for told in json.loads(done.stdout or "[]")
    ]


def unbatched(statements: list[str]) -> list[tuple[str, str]]:
    """Changes of rows, however many, in tables that were there before."""
    made = {match[1] for one in statements if (match := _MADE.match(one))}
    return [
        ("rows-without-batches", one)
        for one in statements
        if not one.startswith(BATCHED)
        and (match := _ROWS.match(one))
        and match[2] not in made | _OWN
    ]


def excused(module: ModuleType, broken: list[tuple[str, str]]) -> tuple[list[Any], list[Any]]:
    """What is broken without an excuse, and excuses for nothing."""
    excuses = list(getattr(module, "UNSAFE", ()))
    used = set()
    left = []
    for rule, statement in broken:
        fitting = [
            n for n, (its, part, _) in enumerate(excuses) if its == rule and part in statement
        ]
        used.update(fitting)
        if not fitting:
            left.append((rule, statement))
    return left, [one for n, one in enumerate(excuses) if n not in used]


@pytest.fixture
def config() -> Config:
    made = Config(str(ROOT / "migrations" / "alembic.ini"))
    made.set_main_option("script_location", str(ROOT / "migrations"))
    return made


def test_migrations_keep_nobody_out_for_long(
    migrating: Migrating, config: Config, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = ScriptDirectory.from_config(config)
    heard = listen(config, migrating.url, monkeypatch)
    assert [one.revision for one in heard][-1] == script.get_current_head()
    found = {}
    for said in heard:
        broken = lint(said.statements, tmp_path) + unbatched(said.statements)
        module = script.get_revision(said.revision).module
        left, idle = excused(module, broken)
        if left or idle:
            found[said.revision] = {"unsafe": left, "excuses for nothing": idle}
        assert all(len(reason.split()) > 3 for _, _, reason in getattr(module, "UNSAFE", ()))
    assert found == {}


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        ("CREATE INDEX ix ON artifacts (name)", "require-concurrent-index-creation"),
        ("DROP INDEX ix", "require-concurrent-index-deletion"),
        (
            "ALTER TABLE artifacts ADD CONSTRAINT fk FOREIGN KEY (made_by) REFERENCES users (id)",
            "constraint-missing-not-valid",
        ),
        ("ALTER TABLE artifacts ADD CONSTRAINT ck CHECK (true)", "constraint-missing-not-valid"),
        ("ALTER TABLE artifacts ALTER COLUMN page_count TYPE bigint", "changing-column-type"),
        ("ALTER TABLE artifacts ALTER COLUMN due_at SET NOT NULL", "adding-not-nullable-field"),
        ("ALTER TABLE artifacts ADD COLUMN more text NOT NULL", "adding-required-field"),
        ("UPDATE artifacts SET priority = 1", "rows-without-batches"),
        ("WITH x AS (SELECT 1) DELETE FROM artifacts", "rows-without-batches"),
        ("INSERT INTO artifact_skips SELECT 1", "rows-without-batches"),
    ],
)
def test_what_keeps_others_out_is_noticed(statement: str, rule: str, tmp_path: Path) -> None:
    assert rule in [name for name, _ in lint([statement], tmp_path) + unbatched([statement])]


def test_an_excuse_is_for_one_statement() -> None:
    module = ModuleType("migration")
    module.UNSAFE = (("rule", "TABLE a", "a has ten rows"),)  # type: ignore[attr-defined]
    assert excused(module, [("rule", "ALTER TABLE a")]) == ([], [])
    assert excused(module, [("rule", "ALTER TABLE b")]) == (
        [("rule", "ALTER TABLE b")],
        [("rule", "TABLE a", "a has ten rows")],
    )
