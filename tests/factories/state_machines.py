"""Run hypothesis state machines over HTTP, and check that they notice faults.

For a failing example, hypothesis prints the steps, shrunk for `SHRINKING_SECONDS`, each with the
requests that it sent and their responses (`note_request`). Nothing is shrunk unless a step fails.
"""

import inspect
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import Phase, note, settings
from hypothesis.internal.conjecture import engine
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

SHRINKING_SECONDS = 40
"""Hypothesis shrinks for up to five minutes and has no setting for it."""
_MAX_BODY = 200


def _build_settings(examples: int, steps: int, *phases: Phase) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        phases=phases,
        report_multiple_bugs=False,
        derandomize=True,
        print_blob=True,
        deadline=None,
    )


def run_machine(machine: type[RuleBasedStateMachine], *, examples: int, steps: int) -> None:
    """Run a machine; a failing example is shrunk."""
    chosen = _build_settings(examples, steps, Phase.generate, Phase.shrink)
    with patch.object(engine, "MAX_SHRINKING_SECONDS", SHRINKING_SECONDS):
        run_state_machine_as_test(machine, settings=chosen)


class Patch:
    """Replaces attributes for a test. A replacement must accept the arguments of the original.

    Otherwise the machine would notice a TypeError instead of the mutation.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def setattr(self, target: Any, name: str, value: Any) -> None:
        original = getattr(target, name)
        if inspect.isfunction(original) and inspect.isfunction(value):
            _check_arguments(original, value)
        self._monkeypatch.setattr(target, name, value)


def _check_arguments(original: Any, replacement: Any) -> None:
    parameters = inspect.signature(original).parameters.values()
    named = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    only_by_name = {p.name: None for p in parameters if p.kind is p.KEYWORD_ONLY}
    inspect.signature(replacement).bind(*named, **only_by_name)


def expect_failure(machine: type[RuleBasedStateMachine], *, examples: int, steps: int) -> None:
    """Run a machine against mutated code; fail the test unless the machine fails."""
    try:
        run_state_machine_as_test(
            machine, settings=_build_settings(examples, steps, Phase.generate)
        )
    except AssertionError:
        return
    pytest.fail("the machine did not notice the mutation")


def note_request(
    names: Mapping[str, str], who: str, method: str, path: str, body: Any, answer: Any
) -> None:
    """Print a request of a failing example with its response; `names` maps ids to names."""
    error = (answer.json or {}).get("error") or {}
    line = f"    {who}: {method} {path} {str(body or '')[:_MAX_BODY]} -> {answer.status_code}"
    line += f" {error.get('code', '')} {error.get('message', '')}".rstrip()
    for identifier, name in names.items():
        line = line.replace(identifier, name)
    note(line)


def copy_with(module: Any, **changed: Any) -> SimpleNamespace:
    """Return a copy of a module with changed names, for one of the modules that import it."""
    return SimpleNamespace(**{**vars(module), **changed})
