"""`make migration`: a migration from the difference, in a copy of the project."""

import shutil

import pytest

from devserver import children, revisions
from tests.devserver.conftest import run_devserver

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


def test_a_new_table_becomes_a_migration_after_the_head(project):
    head = revisions.find_head_revision(children.MIGRATIONS)
    before = set((project / "migrations" / "versions").glob("*.py"))
    with (project / "app" / "features.py").open("a") as features:
        features.write(MODEL)
    outcome = run_devserver("migration", "Add things", cwd=project)
    assert outcome.returncode == 0, outcome.stderr
    (written,) = set((project / "migrations" / "versions").glob("*.py")) - before
    assert written.name.endswith("_add_things.py")
    text = written.read_text()
    revision = written.name.partition("_")[0]
    assert f"revision = {revision!r}" in text
    assert "op.create_table('things_of_the_test'" in text
    assert f"down_revision = {head!r}" in text
    assert revisions.find_head_revision(project / "migrations" / "versions") not in {None, head}


def test_a_migration_without_a_message_is_refused(project):
    before = set((project / "migrations" / "versions").glob("*.py"))
    outcome = run_devserver("migration", "  ", cwd=project)
    assert outcome.returncode == 2
    assert 'make migration m="' in outcome.stderr
    assert set((project / "migrations" / "versions").glob("*.py")) == before
