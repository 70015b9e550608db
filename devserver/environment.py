"""Build the environment for the service's processes, and generate missing secrets in demo mode."""

import base64
import json
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from app.kit import server_urls
from app.kit.settings import Settings, SettingsError
from devserver.process import write_private_file

_SECRET_GENERATORS: Mapping[str, Callable[[], str]] = {
    "SECRET_KEY": lambda: secrets.token_urlsafe(48),
    "ENCRYPTION_KEYS": lambda: base64.urlsafe_b64encode(os.urandom(32)).decode("ascii"),
    "DEMO_PASSWORD": lambda: secrets.token_urlsafe(12),
    "METRICS_TOKEN": lambda: secrets.token_urlsafe(32),
}
_RECORDED_NAMES = tuple(entry.name.upper() for entry in fields(Settings))


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Read the settings for `make run`, for which demo mode is on by default.

    Raises SettingsError if a setting is invalid.
    """
    try:
        settings = Settings.from_env(set_demo_default(environ), require_servers=False)
        server_urls.check(settings)
    except SettingsError as error:
        secrets_file = Path(environ.get("DATA_DIR") or "data") / "secrets.env"
        if secrets_file.exists():
            hint = f"Demo mode has generated keys; they are in {secrets_file}"
            raise SettingsError([*error.problems, hint]) from None
        raise
    return settings


def set_demo_default(environ: Mapping[str, str]) -> dict[str, str]:
    """Return a copy of the environment in which DEMO is `on` unless it is set."""
    return {**environ, "DEMO": environ.get("DEMO", "").strip() or "on"}


def build_child_environment(environ: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """Build the environment for the application's processes.

    The URLs of embedded servers are not included. In demo mode, missing keys and passwords are
    generated once and stored in `<DATA_DIR>/secrets.env` (mode 0600).
    """
    generated_secrets = _read_or_create_secrets(environ, settings.data_dir) if settings.demo else {}
    return {**set_demo_default(environ), **generated_secrets, "DATA_DIR": str(settings.data_dir)}


def _read_or_create_secrets(environ: Mapping[str, str], data_dir: Path) -> dict[str, str]:
    path = data_dir / "secrets.env"
    stored_secrets = _read_secrets(path)
    missing_names = [name for name in _SECRET_GENERATORS if not environ.get(name, "").strip()]
    new_secrets = {
        name: _SECRET_GENERATORS[name]() for name in missing_names if name not in stored_secrets
    }
    if new_secrets:
        stored_secrets |= new_secrets
        lines = [f"{name}={value}" for name, value in stored_secrets.items()]
        write_private_file(path, "\n".join(lines))
    return {name: stored_secrets[name] for name in missing_names}


def _read_secrets(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


class RunRecord:
    """The file `<DATA_DIR>/running.json` (mode 0600), which describes the running service."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / "running.json"

    def write(self, children: Mapping[str, int], environ: Mapping[str, str]) -> None:
        """Write the process ids and the environment to the file, which replaces any older file."""
        recorded_variables = {name: environ[name] for name in _RECORDED_NAMES if environ.get(name)}
        record = {"pid": os.getpid(), "children": dict(children), "environment": recorded_variables}
        write_private_file(self._path, json.dumps(record, indent=2))

    def read(self) -> dict[str, Any]:
        """Return the content of the file, or {} if there is no valid file.

        The content is the supervisor's process id (`pid`), the process ids of its children by name
        (`children`), and the settings in their environment (`environment`).
        """
        try:
            record: dict[str, Any] = json.loads(self._path.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return {}
        return record

    def remove(self) -> None:
        """Delete the file, if it exists."""
        self._path.unlink(missing_ok=True)
