"""Commands, run in this process; and a service's environment for those that run in their own."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from click.testing import CliRunner, Result
from flask import Flask


@dataclass
class Commands:
    """Runs `flask <arguments>`. Standard output and error are apart."""

    app: Flask

    def run(self, *arguments: str, stdin: str | None = None) -> Result:
        runner: CliRunner = self.app.test_cli_runner()
        return runner.invoke(args=list(arguments), input=stdin)

    def ok(self, *arguments: str, stdin: str | None = None) -> Result:
        found = self.run(*arguments, stdin=stdin)
        assert found.exit_code == 0, found.output
        return found

    def json(self, *arguments: str, stdin: str | None = None) -> Any:
        return json.loads(self.ok(*arguments, "--json", stdin=stdin).stdout)

    def refused(self, *arguments: str, stdin: str | None = None) -> str:
        """The message of a command that must be refused."""
        found = self.run(*arguments, stdin=stdin)
        assert found.exit_code == 1, found.output
        assert found.stdout == ""
        return found.stderr


@pytest.fixture
def flask(app: Flask) -> Commands:
    """The command line."""
    return Commands(app)


@pytest.fixture
def log_in(app: Flask) -> Callable[[str, str], int]:
    """The status of a log-in."""

    def attempt(email: str, password: str) -> int:
        body = {"email": email, "password": password}
        return app.test_client().post("/api/v1/auth/login", json=body).status_code

    return attempt
