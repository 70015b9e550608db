"""Lists are printed while they are read."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from app.commands import billing, running
from app.identity.control_plane import queries
from tests.commands.conftest import run_process
from tests.factories import Org
from tests.factories.printing import assert_printed_while_read, trace_list

ROWS = [{"name": "a", "at": datetime(2026, 1, 2, tzinfo=UTC)}, {"name": "wide", "at": None}]


@pytest.mark.parametrize("as_json", [(), ("--json",)])
@pytest.mark.parametrize("group", ["org", "user"])
@pytest.mark.usefixtures("other_org")
def test_a_list_is_not_kept_in_memory(
    flask: Any, org: Org, monkeypatch: pytest.MonkeyPatch, group: str, as_json: tuple[str, ...]
) -> None:
    monkeypatch.setattr(queries, "_BATCH_SIZE", 1)
    trace = trace_list(monkeypatch, queries, "_read_in_batches")
    flask.run_ok(group, "list", *as_json)
    assert_printed_while_read(trace)


def test_usage_is_not_kept_in_memory(flask: Any, org: Org, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = trace_list(monkeypatch, billing, "_read_usage")
    flask.run_ok("billing", "usage", org.slug)
    assert_printed_while_read(trace)


@pytest.mark.parametrize("batch", [1, 1000])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_list_in_json_is_what_one_document_would_be(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, count: int, batch: int
) -> None:
    monkeypatch.setattr(running, "_PRINT_BATCH_ROWS", batch)
    running.show_json(ROWS[:count])
    expected = capsys.readouterr().out
    running.show_list(iter(ROWS[:count]), ("name",), as_json=True)
    assert capsys.readouterr().out == expected
    assert len(json.loads(expected)) == count


@pytest.mark.parametrize("batch", [1, 1000])
def test_batches_of_a_table_are_one_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(running, "_PRINT_BATCH_ROWS", batch)
    running.show_list(iter(ROWS), ("name", "at"), as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "name  at",
        "a     2026-01-02 00:00:00Z",
        "wide  -",
    ]
    running.show_list([], ("name", "at"), as_json=False)
    assert capsys.readouterr().out.splitlines() == ["name  at"]


def test_invalid_settings_are_named(environ: dict[str, str]) -> None:
    refused = run_process({**environ, "PORT": "none"}, "org", "list")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "PORT" in refused.stderr
    assert "Traceback" not in refused.stderr
