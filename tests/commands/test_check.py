"""`flask check`: each problem of a machine's servers and settings is found."""

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis
from cryptography.fernet import Fernet

from app.commands import check
from app.kit import container
from app.kit.secrets import Keyring
from app.kit.storage import Storage
from devserver.process import find_free_port
from tests.factories import Org


class _FastClock(datetime):
    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        return datetime.now(tz or UTC) + timedelta(seconds=7)


def _find_problems(flask: Any) -> dict[str, str]:
    """Return the problem that each check prints, or an empty string.

    Other tests may have left documents without files and values that no key decrypts.
    """
    result = flask.run("check", "--json")
    assert result.exit_code in (0, 3), result.output
    rows = json.loads(result.stdout)
    problems = {row["check"]: row["problem"] for row in rows}
    assert result.exit_code == (3 if any(problems.values()) else 0)
    assert all(row["ok"] == (not row["problem"]) for row in rows)
    return problems


def test_servers_that_answer_have_no_problem(flask: Any, org: Org) -> None:
    problems = _find_problems(flask)
    assert [problems[name] for name in ("clock", "redis", "storage")] == ["", "", ""]
    assert list(container.current().storage.list("checks")) == []


def test_problems_of_a_machine_with_other_settings(
    flask: Any, org: Org, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = {"name": "seven.txt", "text": "Invoice 7"}
    assert org.api("labeler").post("/artifacts", json=document).status_code == 201
    hook = {"url": "http://127.0.0.2:9/", "events": ["export.completed"]}
    assert org.api("owner").post("/webhooks", json=hook).status_code == 201
    current, secret_key = container.current(), container.settings().secret_key
    other_redis = partial(redis.Redis, port=find_free_port())
    monkeypatch.setattr(check, "_MAX_ORGANIZATIONS", 10**6)
    monkeypatch.setattr(check, "datetime", _FastClock)
    monkeypatch.setitem(
        vars(current), "keyring", Keyring(secret_key, [Fernet.generate_key().decode()])
    )
    monkeypatch.setitem(vars(current), "storage", Storage(f"file://{tmp_path}"))
    monkeypatch.setitem(vars(current), "redis", other_redis)
    problems = _find_problems(flask)
    assert "s ahead of the database's" in problems["clock"]
    assert "ConnectionError" in problems["redis"]
    assert problems["storage"] == ""
    assert "lacks the file of the newest document" in problems["files of documents"]
    assert "webhooks.secret" in problems["encryption keys"]


def test_a_storage_that_cannot_be_written_is_a_problem(
    flask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage(f"file://{tmp_path}/files")
    (tmp_path / "files").write_bytes(b"no folder")
    monkeypatch.setitem(vars(container.current()), "storage", storage)
    assert "could not be written" in _find_problems(flask)["storage"]
