"""Start the servers, the database and the application under a supervisor."""

import contextlib
from collections.abc import Callable
from pathlib import Path

from app.kit.settings import Settings
from devserver import children, databases, environment, revisions
from devserver.child import ChildSpec
from devserver.listener import Listener
from devserver.postgres import DEMO_RECORD, EmbeddedPostgres
from devserver.process import rotate_log, write_private_file
from devserver.progress import Progress
from devserver.server import EmbeddedServer, ServerError
from devserver.supervisor import Supervisor
from devserver.valkey import EmbeddedValkey

MAX_EXITS = 3
"""The number of consecutive exits of a child after which starting the service fails."""
_READY_TIMEOUT_SECONDS = 60.0
ROTATE_INTERVAL_SECONDS = 10.0


class Service:
    """Starts all parts of the service under a supervisor, and records the running processes."""

    def __init__(
        self, settings: Settings, env: dict[str, str], progress: Progress, listener: Listener
    ) -> None:
        self._settings = settings
        self._listener = listener
        self._env = env
        self._progress = progress
        self._record = environment.RunRecord(settings.data_dir)
        folder = settings.data_dir
        self._postgres = None if settings.database_url else EmbeddedPostgres(folder / "postgres")
        self._valkey = None if settings.redis_url else EmbeddedValkey(folder / "valkey")
        self._demo = DemoRecord(folder / "postgres" if self._postgres is not None else None)
        self._supervisor: Supervisor | None = None

    @property
    def supervisor(self) -> Supervisor:
        """Return the supervisor that was passed to `start`."""
        assert self._supervisor is not None
        return self._supervisor

    @property
    def demo_password(self) -> str | None:
        """Return the demo users' password, or None without demo mode or demo data."""
        return self._demo.read_password() if self._settings.demo else None

    def write_record(self) -> None:
        """Write the processes and the environment to `running.json`."""
        self._record.write(self.supervisor.get_pids(), self._env)

    def rotate_logs(self) -> None:
        """Rotate the logs of the embedded servers if they are too large."""
        for server in (self._postgres, self._valkey):
            if server is not None:
                # The service continues if a log cannot be rotated.
                with contextlib.suppress(OSError):
                    rotate_log(server.log)

    def remove_record(self) -> None:
        """Delete `running.json` after the service has stopped."""
        self._record.remove()

    def start(self, supervisor: Supervisor) -> None:
        """Start the servers, the database and the application, and wait until they are ready.

        Raises StopRequested, ServerError, ChildFailedError, ListenError, TimeoutError, OSError or
        psycopg2.Error.
        """
        self._supervisor = supervisor
        self._start_servers()
        self._prepare_database()
        self._start_application()

    def _wait(self, is_done: Callable[[], bool], seconds: float = _READY_TIMEOUT_SECONDS) -> None:
        self.supervisor.wait_until(
            is_done, tick=self._progress.tick, max_exits=MAX_EXITS, seconds=seconds, interval=0.02
        )

    def _start_servers(self) -> None:
        # Valkey starts first, and is ready before the PostgreSQL cluster has been created.
        embedded_servers = [
            server for server in (self._valkey, self._postgres) if server is not None
        ]
        self._progress.begin("PostgreSQL")
        self.supervisor.start(
            *(
                ChildSpec(
                    server.name,
                    server.prepare,
                    server.stop_signals,
                    server.log,
                    backoff=server.backoff,
                )
                for server in embedded_servers
            )
        )
        self._wait_for_server(
            self._postgres, lambda: databases.can_connect(self._settings.database_url)
        )
        self._progress.begin("Valkey")
        self._wait_for_server(self._valkey, lambda: True)
        if self._postgres is not None:
            self._env["DATABASE_URL"] = self._postgres.url
        if self._valkey is not None:
            self._env["REDIS_URL"] = self._valkey.url
        # Migrations can take minutes, during which `env` and `backup` need the addresses.
        self.write_record()

    def _wait_for_server(
        self, server: EmbeddedServer | None, is_external_ready: Callable[[], bool]
    ) -> None:
        if server is None:
            self._wait(is_external_ready, 30.0)
            self._progress.done("external server")
        else:
            self._wait(server.check_ready)
            self._progress.done(f"127.0.0.1:{server.port}")

    def _prepare_database(self) -> None:
        """Migrate the database and load the demo data in a child process, if necessary."""
        self._progress.begin("migrations")
        applied = revisions.find_applied_revision(self._env["DATABASE_URL"])
        is_current = applied is not None and applied == revisions.find_head_revision(
            children.MIGRATIONS
        )
        if is_current and (not self._settings.demo or self._demo.is_stored()):
            self._progress.done("the schema is current")
            return
        status = self.supervisor.run_task(
            lambda descriptor: children.build_prepare_launch(self._env, descriptor),
            self._handle_prepare_line,
            self._progress.tick,
        )
        if status != 0:
            raise ServerError("the database could not be prepared; see the error above")

    def _handle_prepare_line(self, line: str) -> None:
        """Show the progress that a line from `devserver.prepare` reports.

        Also store the demo password once the demo data exists.
        """
        match line.split():
            case ["migrating", done, total]:
                self._progress.advance(int(done), int(total))
            case ["migrated"]:
                self._progress.done("the schema is current")
                if self._settings.demo:
                    self._progress.begin("demo data")
            case ["demo", "loaded"]:
                self._demo.store_password(self._env["DEMO_PASSWORD"])
                self._progress.done("the organization demo was created")
            case ["demo", "present"]:
                self._demo.store_password(self._env["DEMO_PASSWORD"])
                self._progress.done("the organization demo exists")
            case ["demo", "changed"]:
                self._progress.done("the organization demo exists; its password was changed")
            case ["demo", "refused"]:
                self._demo.store_password("")
                self._progress.done("skipped: the database has other organizations")
            case ["demo", done, total]:
                self._progress.advance(int(done), int(total))

    def _start_application(self) -> None:
        """Start the API and the workers in parallel, because at first both mainly load modules."""
        self._progress.begin("API")
        self._listener.listen()
        self.supervisor.start(
            children.build_api_spec(self._env, self._listener, self._settings.web_workers),
            children.build_workers_spec(self._env),
        )
        self._wait(children.ReadinessProbe(self._settings).check_ready)
        self._progress.done(f"{self._settings.host}:{self._settings.port}")
        self._progress.begin("workers")
        self._wait(
            lambda: children.has_relay_started(self.supervisor.get_pids().get(children.WORKERS))
        )
        self._progress.done("the relay has started; workers start with their first job")


class DemoRecord:
    """A file that records whether demo data was loaded into the embedded database.

    The file contains the demo users' password. It is empty if no demo data was loaded, because the
    database had other organizations. The file is next to the cluster, so that both are deleted
    together. There is no file for an external database, which is checked at every start.
    """

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else folder / DEMO_RECORD
        self._password: str | None = None

    def is_stored(self) -> bool:
        """Return whether the file exists, so that this start need not load demo data."""
        return self._file is not None and self._file.exists()

    def store_password(self, password: str) -> None:
        """Store the demo users' password, or an empty string if no demo data was loaded."""
        self._password = password
        if self._file is not None:
            write_private_file(self._file, password)

    def read_password(self) -> str | None:
        """Return the demo users' password, or None if no demo data was loaded."""
        if self._file is not None and self._file.exists():
            return self._file.read_text(encoding="utf-8").strip() or None
        return self._password or None
