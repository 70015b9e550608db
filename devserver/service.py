"""Start the parts of the service under a supervisor: servers, database, application."""

import contextlib
from collections.abc import Callable
from pathlib import Path

from app.kit.settings import Settings
from devserver import children, databases, environment, revisions
from devserver.child import ChildSpec
from devserver.listener import Listener
from devserver.postgres import EmbeddedPostgres
from devserver.process import rotate_log, write_private
from devserver.progress import Progress
from devserver.server import EmbeddedServer, ServerError
from devserver.supervisor import Supervisor
from devserver.valkey import EmbeddedValkey

ATTEMPTS = 3
"""How often a child may die before the service was ever ready."""
READY_SECONDS = 60.0
ROTATE_SECONDS = 10.0


class Service:
    """One run of the service under a supervisor."""

    def __init__(
        self, settings: Settings, env: dict[str, str], progress: Progress, listener: Listener
    ) -> None:
        self._settings = settings
        self._listener = listener
        self._env = env
        self._progress = progress
        self._record = environment.Record(settings.data_dir)
        folder = settings.data_dir
        self._postgres = None if settings.database_url else EmbeddedPostgres(folder / "postgres")
        self._valkey = None if settings.redis_url else EmbeddedValkey(folder / "valkey")
        self._demo = DemoRecord(folder / "postgres" if self._postgres is not None else None)
        self._supervisor: Supervisor | None = None

    @property
    def supervisor(self) -> Supervisor:
        """The supervisor of this run."""
        assert self._supervisor is not None
        return self._supervisor

    @property
    def demo_password(self) -> str | None:
        """The password of the demo users, or None without demo data."""
        return self._demo.password() if self._settings.demo else None

    def record(self) -> None:
        """Write the record of the running processes."""
        self._record.write(self.supervisor.pids(), self._env)

    def rotate_logs(self) -> None:
        """Rotate the logs of the embedded servers."""
        for server in (self._postgres, self._valkey):
            if server is not None:
                # A log that cannot be rotated is no reason to stop the service.
                with contextlib.suppress(OSError):
                    rotate_log(server.log)

    def forget(self) -> None:
        """Remove the record of the running processes."""
        self._record.remove()

    def start(self, supervisor: Supervisor) -> None:
        """Start all parts and wait until they are ready.

        Raises ServerError, TimeoutError and others.
        """
        self._supervisor = supervisor
        self._start_servers()
        self._prepare_database()
        self._start_application()

    def _wait(self, done: Callable[[], bool], seconds: float = READY_SECONDS) -> None:
        self.supervisor.wait_until(
            done, tick=self._progress.tick, attempts=ATTEMPTS, seconds=seconds, interval=0.02
        )

    def _start_servers(self) -> None:
        # Valkey first: it is up by the time that PostgreSQL's cluster has been made.
        embedded = [server for server in (self._valkey, self._postgres) if server is not None]
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
                for server in embedded
            )
        )
        self._await_server(
            self._postgres, lambda: databases.can_connect(self._settings.database_url)
        )
        self._progress.begin("Valkey")
        self._await_server(self._valkey, lambda: True)
        if self._postgres is not None:
            self._env["DATABASE_URL"] = self._postgres.url
        if self._valkey is not None:
            self._env["REDIS_URL"] = self._valkey.url

    def _await_server(self, server: EmbeddedServer | None, external: Callable[[], bool]) -> None:
        if server is None:
            self._wait(external, 30.0)
            self._progress.done("given by its address, not started here")
        else:
            self._wait(server.is_ready)
            self._progress.done(f"127.0.0.1:{server.port}")

    def _prepare_database(self) -> None:
        """Run the child that migrates the database, unless there is nothing to do."""
        self._progress.begin("migrations")
        applied = revisions.find_applied(self._env["DATABASE_URL"])
        current = applied is not None and applied == revisions.find_head(children.MIGRATIONS)
        if current and (not self._settings.demo or self._demo.is_stored()):
            self._progress.done("the schema is current")
            return
        status = self.supervisor.run_task(
            lambda descriptor: children.build_prepare(self._env, descriptor),
            self._show_progress,
            self._progress.tick,
        )
        if status != 0:
            raise ServerError("the database could not be prepared; the reason stands above")

    def _show_progress(self, line: str) -> None:
        """Show a line of progress of `devserver.prepare`."""
        match line.split():
            case ["migrating", done, total]:
                self._progress.advance(int(done), int(total))
            case ["migrated"]:
                self._progress.done("the schema is current")
                if self._settings.demo:
                    self._progress.begin("demo data")
            case ["demo", "loaded"]:
                self._demo.decide(self._env["DEMO_PASSWORD"])
                self._progress.done("the organization demo was made")
            case ["demo", "present"]:
                self._demo.decide(self._env["DEMO_PASSWORD"])
                self._progress.done("the organization demo is there")
            case ["demo", "refused"]:
                self._demo.decide("")
                self._progress.done("left out: the database has other organizations")
            case ["demo", done, total]:
                self._progress.advance(int(done), int(total))

    def _start_application(self) -> None:
        """Start API and workers together, because most of their start is loading modules."""
        self._progress.begin("API")
        self._listener.listen()
        self.supervisor.start(
            children.build_api(self._env, self._listener, self._settings.web_workers),
            children.build_workers(self._env),
        )
        self._wait(children.ReadinessProbe(self._settings).ask)
        self._progress.done(f"{self._settings.host}:{self._settings.port}")
        self._progress.begin("workers")
        self._wait(
            lambda: children.workers_are_ready(
                self.supervisor.pids().get(children.WORKERS), self._settings
            )
        )
        self._progress.done(f"{self._settings.job_workers} and the relay")


class DemoRecord:
    """Stores that demo data was loaded into the embedded database, and the users' password.

    The file is next to the cluster, so that both are removed together. It is empty if the database
    had other organizations. An external database is checked at every start instead.
    """

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else folder / "demo.password"
        self._given: str | None = None

    def is_stored(self) -> bool:
        """Return whether an earlier start loaded the demo data or found other organizations."""
        return self._file is not None and self._file.exists()

    def decide(self, password: str) -> None:
        """Store the password of the demo users; an empty one if there are none."""
        self._given = password
        if self._file is not None:
            write_private(self._file, password)

    def password(self) -> str | None:
        """Return the password of the demo users, or None if there are none."""
        if self._file is not None and self._file.exists():
            return self._file.read_text(encoding="utf-8").strip() or None
        return self._given or None
