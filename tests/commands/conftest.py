"""Run commands in this process, and in separate processes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result
from flask import Flask

from app.commands import imports
from tests.factories import Org, run_jobs_of

ROOT = Path(__file__).parents[2]
PROGRAM = Path(sys.executable).parent / "flask"


def build_environment(environ: dict[str, str]) -> dict[str, str]:
    """Return the environment of a command that runs in a separate process."""
    names = ("PATH", "HOME", "TERM")
    return {name: os.environ[name] for name in names if name in os.environ} | environ


def run_process(environ: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run `flask <arguments>` in a separate process."""
    return subprocess.run(
        [PROGRAM, *arguments],
        cwd=ROOT,
        env=build_environment(environ),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@dataclass
class Commands:
    """Runs `flask <arguments>`; standard output and error are separate."""

    app: Flask

    def run(self, *arguments: str, stdin: str | None = None) -> Result:
        runner: CliRunner = self.app.test_cli_runner()
        return runner.invoke(args=list(arguments), input=stdin)

    def run_ok(self, *arguments: str, stdin: str | None = None) -> Result:
        result = self.run(*arguments, stdin=stdin)
        assert result.exit_code == 0, result.output
        return result

    def json(self, *arguments: str, stdin: str | None = None) -> Any:
        return json.loads(self.run_ok(*arguments, "--json", stdin=stdin).stdout)

    def get_refusal(self, *arguments: str, stdin: str | None = None) -> str:
        """Return the message of a command that must be refused."""
        result = self.run(*arguments, stdin=stdin)
        assert result.exit_code == 1, result.output
        assert result.stdout == ""
        return result.stderr


@pytest.fixture
def flask(app: Flask) -> Commands:
    """Return the command line."""
    return Commands(app)


@pytest.fixture
def import_workers(org: Org, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers run while a command waits for the end of an import."""
    # Other threads also call `time.sleep`, so only the name `time` in the module is replaced.
    monkeypatch.setattr(imports, "time", SimpleNamespace(sleep=lambda _seconds: run_jobs_of(org)))


@pytest.fixture
def log_in(app: Flask) -> Callable[[str, str], int]:
    """Return a function that tries to log in and returns the status."""

    def log_in_with(email: str, password: str) -> int:
        body = {"email": email, "password": password}
        return app.test_client().post("/api/v1/auth/login", json=body).status_code

    return log_in_with
