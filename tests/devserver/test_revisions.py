"""The newest revision, read without loading Alembic."""

from alembic.config import Config
from alembic.script import ScriptDirectory

from devserver import children, revisions


def migration(folder, revision, down):
    text = f'"""A migration."""\nrevision = {revision!r}\ndown_revision = {down!r}\n'
    (folder / f"{revision}_x.py").write_text(text)


def test_it_agrees_with_alembic_about_the_projects_own_history():
    config = Config()
    config.set_main_option("script_location", str(children.MIGRATIONS.parent))
    expected = ScriptDirectory.from_config(config).get_current_head()
    assert expected is not None
    assert revisions.find_head_revision(children.MIGRATIONS) == expected


def test_the_head_is_what_nothing_follows(tmp_path):
    migration(tmp_path, "aaa", None)
    migration(tmp_path, "ccc", "bbb")
    migration(tmp_path, "bbb", "aaa")
    assert revisions.find_head_revision(tmp_path) == "ccc"


def test_typed_assignments_count_too(tmp_path):
    (tmp_path / "a.py").write_text("revision: str = 'aaa'\ndown_revision: str | None = None\n")
    (tmp_path / "b.py").write_text('revision: str = "bbb"\ndown_revision: str | None = "aaa"\n')
    assert revisions.find_head_revision(tmp_path) == "bbb"


def test_two_heads_or_none_are_no_answer(tmp_path):
    assert revisions.find_head_revision(tmp_path) is None
    migration(tmp_path, "aaa", None)
    migration(tmp_path, "bbb", "aaa")
    migration(tmp_path, "ccc", "aaa")
    assert revisions.find_head_revision(tmp_path) is None
