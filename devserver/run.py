"""`make run`: run the whole service on one machine, and print its addresses."""

import contextlib
import json
import shlex
import time
from collections.abc import Mapping

import psycopg2

from app.kit.settings import Settings, SettingsError
from demo.people import USERS, build_address
from devserver import children, environment
from devserver.listener import Listener, ListenError
from devserver.lock import DataInUseError, DataLock
from devserver.progress import Progress, print_error
from devserver.server import ServerError
from devserver.service import ROTATE_INTERVAL_SECONDS, Service
from devserver.supervisor import ChildFailedError, StopRequested, Supervisor

EXIT_FAILED, EXIT_INVALID_SETTINGS, EXIT_IN_USE = 1, 2, 3


def run(environ: Mapping[str, str]) -> int:
    """Start the service, and keep it running until SIGINT, SIGTERM or SIGHUP.

    Returns the exit status: 0 after a requested stop, 1 if the service cannot be started, 2 if the
    settings are invalid, and 3 if another supervisor uses the data folder.
    """
    try:
        settings = environment.read_settings(environ)
        lock = DataLock(settings.data_dir)
    except SettingsError as error:
        print_error(str(error))
        return EXIT_INVALID_SETTINGS
    except DataInUseError as error:
        print_error(
            f"The service is already running on {settings.data_dir}, process {error.pid}. Stop it"
            " first, or start a second service with another DATA_DIR and PORT."
        )
        return EXIT_IN_USE
    except OSError as error:
        print_error(f"Not started: DATA_DIR cannot be used: {error}")
        return EXIT_FAILED
    try:
        return _run_locked(settings, environment.build_child_environment(environ, settings))
    finally:
        lock.release()


def _run_locked(settings: Settings, env: dict[str, str]) -> int:
    try:
        listener = _open_listener(settings)
    except ListenError as error:
        print_error(f"Not started: {error}.")
        return EXIT_FAILED
    progress = Progress()
    service = Service(settings, env, progress, listener)
    try:
        with (
            Supervisor(progress.print_line, on_change=service.write_record) as supervisor,
            listener,
        ):
            with contextlib.suppress(StopRequested):
                service.start(supervisor)
                _print_addresses(progress, settings, service.demo_password)
                supervisor.run(service.rotate_logs, ROTATE_INTERVAL_SECONDS)
            progress.print_line("Stopping ...")
    except (ChildFailedError, ListenError, ServerError, OSError, psycopg2.Error) as error:
        progress.failed()
        print_error(f"Not started: {error}")
        return EXIT_FAILED
    finally:
        service.remove_record()
    progress.print_line("Stopped.")
    return 0


def _open_listener(settings: Settings, timeout: float = 1.0) -> Listener:
    """Bind the API's socket. If the address is in use, retry for `timeout` seconds.

    Processes that have just been killed may still have a socket open on this address. Raises
    ListenError if the last attempt fails.
    """
    deadline = time.monotonic() + timeout
    while True:
        try:
            return Listener(settings)
        except ListenError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.05)


def _print_addresses(progress: Progress, settings: Settings, demo_password: str | None) -> None:
    base_url = children.get_local_url(settings)
    ready = f"Ready after {time.monotonic() - progress.started_at:.1f} s. Ctrl-C stops everything"
    lines = [
        "",
        f"{ready}; the data is kept in {settings.data_dir}",
        "",
        *([f"  Open  {base_url}/"] if settings.workbench else []),
        f"  API   {base_url}/api/v1",
        f"  Docs  {base_url}/docs",
    ]
    if demo_password is not None:
        body = json.dumps({"email": "owner@demo.example", "password": demo_password})
        headers = "-H 'Content-Type: application/json'"
        lines += [
            "",
            f"  Organization demo; all users have the password {demo_password}",
            *(f"    {build_address(person)}" for person in USERS),
            "",
            "  Log in:",
            f"    curl -sS {base_url}/api/v1/auth/login {headers} -d {shlex.quote(body)}",
        ]
    progress.print_line("\n".join([*lines, ""]))
