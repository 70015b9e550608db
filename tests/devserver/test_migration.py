"""`make migration`: a migration from the difference, in a copy of the project."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from devserver import children, revisions

MODEL = """
from sqlalchemy import Column, Integer, Table
from app.kit.db import Base
Table("things_of_the_test", Base.metadata, Column("id", Integer, primary_key=True))
"""


@pytest.fixture
def project(tmp_path):
    for name in ("app", "devserver", "migrations"):
        shutil.copytree(
            children.ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    return tmp_path


def write_migration(project: Path, message: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "devserver", "migration", message],
        cwd=project,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_new_table_becomes_a_migration_after_the_head(project):
    head = revisions.find_head_revision(children.MIGRATIONS)
    before = set((project / "migrations" / "versions").glob("*.py"))
    with (project / "app" / "features.py").open("a") as features:
        features.write(MODEL)
    outcome = write_migration(project, "Add things")
    assert outcome.returncode == 0, outcome.stderr
    (written,) = set((project / "migrations" / "versions").glob("*.py")) - before
    assert written.name.endswith("_add_things.py")
    text = written.read_text()
    assert "op.create_table('things_of_the_test'" in text
    assert f"down_revision = {head!r}" in text
    assert revisions.find_head_revision(project / "migrations" / "versions") not in {None, head}


def test_a_migration_without_a_message_is_refused(project):
    before = set((project / "migrations" / "versions").glob("*.py"))
    outcome = write_migration(project, "  ")
    assert outcome.returncode == 2
    assert 'make migration m="' in outcome.stderr
    assert set((project / "migrations" / "versions").glob("*.py")) == before
