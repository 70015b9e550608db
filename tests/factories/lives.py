"""Running state machines over HTTP: their steps in words, shrinking that ends, and planted faults.

Hypothesis prints the steps of a failing life, made as short as it gets in `SHRINKING_SECONDS`, each
with the requests that it sent and what came back (`say`). A life that ends well costs nothing of
this: nothing is shrunk before something has failed.
"""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import Phase, note, settings
from hypothesis.internal.conjecture import engine
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

SHRINKING_SECONDS = 40
"""Hypothesis takes up to five minutes, and has no setting for it."""
_LONGEST = 200
_COMMON = {"derandomize": True, "print_blob": True, "deadline": None}


def prove(machine: type[RuleBasedStateMachine], *, lives: int, steps: int) -> None:
    """Let the machine live `lives` times; a failure is shrunk."""
    asked = settings(
        max_examples=lives,
        stateful_step_count=steps,
        phases=[Phase.generate, Phase.shrink],
        report_multiple_bugs=False,
        **_COMMON,
    )
    with patch.object(engine, "MAX_SHRINKING_SECONDS", SHRINKING_SECONDS):
        run_state_machine_as_test(machine, settings=asked)


def bites(machine: type[RuleBasedStateMachine], *, lives: int, steps: int) -> None:
    """Fails unless one of the lives finds something wrong."""
    asked = settings(
        max_examples=lives,
        stateful_step_count=steps,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        **_COMMON,
    )
    try:
        run_state_machine_as_test(machine, settings=asked)
    except AssertionError:
        return
    pytest.fail("the machine lived on as if nothing were wrong")


def say(names: Mapping[str, str], who: str, method: str, path: str, body: Any, answer: Any) -> None:
    """Print a request of a failing life with its answer; `names` are words for ids."""
    told = answer.json or {}
    refusal = told.get("error") or {}
    line = f"    {who}: {method} {path} {str(body or '')[:_LONGEST]} -> {answer.status_code}"
    line += f" {refusal.get('code', '')} {refusal.get('message', '')}".rstrip()
    for identifier, name in names.items():
        line = line.replace(identifier, name)
    note(line)


def shadow(module: Any, **changed: Any) -> SimpleNamespace:
    """A module as one of those that import it shall see it: with some of its names changed."""
    return SimpleNamespace(**{**vars(module), **changed})
