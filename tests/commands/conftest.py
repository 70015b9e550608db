"""Fixtures that run commands in this process."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from click.testing import CliRunner, Result
from flask import Flask


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
def log_in(app: Flask) -> Callable[[str, str], int]:
    """Return a function that tries to log in and returns the status."""

    def log_in_with(email: str, password: str) -> int:
        body = {"email": email, "password": password}
        return app.test_client().post("/api/v1/auth/login", json=body).status_code

    return log_in_with
