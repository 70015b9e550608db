"""Run Hypothesis state machines over HTTP, and check that they detect mutations of the code.

If a step fails, Hypothesis shrinks the example for at most `SHRINKING_SECONDS`. It then prints each
step with its requests and responses (`note_request`).
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
"""The time limit for shrinking an example. Hypothesis's own limit of 300 s is not a setting."""
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
    """Run a state machine for `examples` sequences of at most `steps` steps each.

    A failing example is shrunk.
    """
    machine_settings = _build_settings(examples, steps, Phase.generate, Phase.shrink)
    with patch.object(engine, "MAX_SHRINKING_SECONDS", SHRINKING_SECONDS):
        run_state_machine_as_test(machine, settings=machine_settings)


class Patch:
    """Replaces attributes during a test; a new function must accept the original's arguments.

    Otherwise, the state machine would fail because of a TypeError, and not detect the mutation.
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
    """Run a state machine against mutated code, and fail the test unless the machine fails."""
    try:
        run_state_machine_as_test(
            machine, settings=_build_settings(examples, steps, Phase.generate)
        )
    except AssertionError:
        return
    pytest.fail("the machine did not notice the mutation")


def note_request(
    names: Mapping[str, str], user: str, method: str, path: str, body: Any, response: Any
) -> None:
    """Note a request and its response, to be printed if the example fails.

    `names` maps ids to the names that are printed instead.
    """
    error = (response.json or {}).get("error") or {}
    line = f"    {user}: {method} {path} {str(body or '')[:_MAX_BODY]} -> {response.status_code}"
    line += f" {error.get('code', '')} {error.get('message', '')}".rstrip()
    for identifier, name in names.items():
        line = line.replace(identifier, name)
    note(line)


def copy_with(module: Any, **changes: Any) -> SimpleNamespace:
    """Return a copy of a module with changed attributes.

    With the copy, a test can change what one importing module sees, but no other module.
    """
    return SimpleNamespace(**{**vars(module), **changes})
