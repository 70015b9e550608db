"""Observe when the rows of a list are read and printed."""

from collections.abc import Iterator
from typing import Any

import click
import pytest

from app.commands import running
from app.kit import db


def trace_list(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[str]:
    """Return a list to which each row of the generator `module.name` adds `read`.

    Each print adds `printed`, or `blocking` if a transaction is open.
    """
    trace: list[str] = []
    echo, read = click.echo, getattr(module, name)

    def record_print(*arguments: Any, **options: Any) -> None:
        trace.append("blocking" if db.session().in_transaction() else "printed")
        echo(*arguments, **options)

    def record_rows(*arguments: Any, **options: Any) -> Iterator[Any]:
        for row in read(*arguments, **options):
            trace.append("read")
            yield row

    monkeypatch.setattr(running, "_PRINT_BATCH_ROWS", 1)
    monkeypatch.setattr(running.click, "echo", record_print)
    monkeypatch.setattr(module, name, record_rows)
    return trace


def assert_printed_while_read(trace: list[str]) -> None:
    """Assert that rows were printed before the last row was read, never during a transaction."""
    assert "blocking" not in trace
    last_read = len(trace) - trace[::-1].index("read")
    assert "printed" in trace[:last_read]
