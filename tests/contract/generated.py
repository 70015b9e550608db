"""Generate the Python client from the description, and call the service with it."""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx

CONFIG = Path(__file__).parents[2] / "examples" / "openapi-python-client.yaml"
PACKAGE = "labeling_client_of_the_tests"


@dataclass(frozen=True)
class Package:
    """The generated package. `operations` maps operation names to their modules."""

    client: ModuleType
    models: ModuleType
    types: ModuleType
    operations: dict[str, ModuleType]


def generate(description: dict[str, Any], folder: Path) -> Package:
    """Generate the client in `folder`, import it, and return it. Fails on warnings."""
    source = folder / "openapi.json"
    source.write_text(json.dumps(description))
    bin_folder = Path(sys.executable).parent
    result = subprocess.run(
        [
            str(bin_folder / "openapi-python-client"),
            "generate",
            *("--path", str(source), "--config", str(CONFIG)),
            *("--meta", "none", "--output-path", str(folder / PACKAGE), "--fail-on-warning"),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        # The generator formats its output with ruff, which is in the same folder.
        env={**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ.get('PATH', '')}"},
    )
    output = result.stdout + result.stderr
    assert result.returncode == 0, output
    assert "warning" not in output.lower(), output
    return _import(folder)


def _import(folder: Path) -> Package:
    sys.path.insert(0, str(folder))
    try:
        client, models, types = (
            importlib.import_module(f"{PACKAGE}.{name}") for name in ("client", "models", "types")
        )
        operations = {}
        for file in sorted((folder / PACKAGE / "api").glob("*/*.py")):
            if file.stem != "__init__":
                name = f"{PACKAGE}.api.{file.parent.name}.{file.stem}"
                operations[file.stem] = importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
    return Package(client, models, types, operations)


@dataclass
class Person:
    """A user of the generated client; `person("list_artifacts")` returns the parsed response."""

    package: Package
    client: Any
    slug: str | None

    def __call__(self, operation: str, *path: Any, expect: int = 200, **arguments: Any) -> Any:
        module = self.package.operations[operation]
        if self.slug is not None and "x_org_slug" in module.sync_detailed.__annotations__:
            arguments["x_org_slug"] = self.slug
        answer = module.sync_detailed(*path, client=self.client, **arguments)
        assert answer.status_code == expect, answer.content
        return answer.parsed


@dataclass(frozen=True)
class Endpoint:
    """The address of a service; `check` is called with every response."""

    package: Package
    url: str
    check: Callable[[httpx.Response], None]

    def _arguments(self) -> dict[str, Any]:
        return {"httpx_args": {"event_hooks": {"response": [self.check]}}, "timeout": 30}

    def anonymous(self) -> Person:
        """Return a user who is not signed in."""
        return Person(self.package, self.package.client.Client(self.url, **self._arguments()), None)

    def sign_in(self, email: str, password: str, slug: str) -> Person:
        """Log in, and return the user."""
        login = self.package.models.Login(email=email, password=password)
        token = self.anonymous()("login", body=login).data.access_token
        client = self.package.client.AuthenticatedClient(self.url, token, **self._arguments())
        return Person(self.package, client, slug)
