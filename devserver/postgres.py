"""Run an embedded PostgreSQL from a Python package, with one data folder, on a loopback port."""

import contextlib
import os
import secrets
import shutil
import signal
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import psycopg2

from app.kit.child_processes import Backoff
from devserver import databases
from devserver.binaries import find_postgres_binaries
from devserver.caches import choose_cache_settings, read_memory
from devserver.process import Launch, read_or_create, spawn
from devserver.processes import find_pids_by_folder
from devserver.server import EmbeddedServer, ServerError

ROLE = "labeling"
DATABASE = "labeling"
DEMO_RECORD = "demo.password"
"""The file next to the cluster with the password of the demo users in the database."""

# Settings for a service that shares a small machine. They are written to postgresql.conf only when
# the cluster is created, so that operators can change them with ALTER SYSTEM or an editor.
_SETTINGS: Mapping[str, str] = {
    "max_connections": "100",
    "work_mem": "8MB",
    "maintenance_work_mem": "64MB",
    "random_page_cost": "1.1",
    "jit": "off",
    "io_method": "sync",  # no separate I/O processes: the working set is in the page cache
    "autovacuum_max_workers": "2",
    "max_worker_processes": "4",
    "max_parallel_workers": "2",
    "max_logical_replication_workers": "0",
    "checkpoint_timeout": "15min",
    # This limits recovery after a kill: 225 MB took up to seven seconds on a busy machine.
    "max_wal_size": "128MB",
    "log_line_prefix": "%m [%p] %q%u@%d ",
    "log_timezone": "UTC",
    "timezone": "UTC",
    "cluster_name": "labeling",
}
_INITDB_OPTIONS = (
    "--username=postgres",
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--text-search-config=simple",
    "--no-instructions",
)
_SERVER_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
# The log contains no values that people entered: no statements and no parameters, and only the
# message of an error. These settings are command line options, so that they also apply to clusters
# that already exist. To log more for some time, change a role (ALTER ROLE ... SET ...).
_LOG_SETTINGS: Mapping[str, str] = {
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
}
# Even an error message can quote a value ('invalid input syntax for type date: "..."'). The
# application receives its errors and logs them itself.
_ROLE_SETTINGS: Mapping[str, str] = {"log_min_messages": "log"}
# After a kill, every file must be synced to disk before PostgreSQL recovers. On a busy machine, one
# call for the file system takes 0.05 s, but the calls for all files together take 2.5 s. This is a
# command line option, so that it also applies to clusters that already exist.
_RECOVERY_SETTINGS: Mapping[str, str] = {"recovery_init_sync_method": "syncfs"}
_FAST_SETTINGS: Mapping[str, str] = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    # New indexes and copies of databases are not written to the write-ahead log.
    "wal_level": "minimal",
    "max_wal_senders": "0",
    # For the passwords that this server sets. A client computes all iterations at each connection.
    "scram_iterations": "1",
}


class EmbeddedPostgres(EmbeddedServer):
    """PostgreSQL on 127.0.0.1 with its cluster in `data_dir`/cluster.

    The role `labeling` owns the database `labeling`. It is not a superuser, so row-level security
    applies to it, and it may create roles. Passwords are generated once and stored next to the
    cluster. If root starts the server, it runs as `nobody`. `fast` turns durability off, for tests.
    """

    name = "PostgreSQL"
    previous_server_timeout = 15.0
    """The timeout in seconds for a previous server on the same data to exit."""
    # The API waits for PostgreSQL, so the first delay is short. A server that has run for ten
    # seconds has valid settings and a usable disk.
    backoff = Backoff(first_seconds=0.1, healthy_seconds=10.0)
    # Fast shutdown (rolls back and disconnects), then immediate (recovers at the next start).
    stop_signals = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0))

    def __init__(self, data_dir: Path, port: int | None = None, *, fast: bool = False) -> None:
        super().__init__(data_dir, port)
        self._fast = fast
        self._cluster = self._folder / "cluster"
        self.log = self._folder / "postgres.log"

    @property
    def url(self) -> str:
        """Return the URL with which the owner, the role `labeling`, connects to the database."""
        return self.get_url(DATABASE)

    @property
    def admin_url(self) -> str:
        """Return the URL with which the superuser connects to the maintenance database."""
        return (
            f"postgresql://postgres:{self._get_password('postgres')}@127.0.0.1:{self.port}/postgres"
        )

    def get_url(self, database: str) -> str:
        """Return the URL with which the role `labeling` connects to a database on this server."""
        return f"postgresql://{ROLE}:{self._get_password(ROLE)}@127.0.0.1:{self.port}/{database}"

    def _get_password(self, role: str) -> str:
        return read_or_create(self._folder / f"{role}.password", lambda: secrets.token_urlsafe(24))

    def prepare(self) -> Launch:
        """Prepare the cluster and choose the port, and return how to start the server.

        The cluster is created if it does not exist. A previous server on the cluster has time to
        exit. Raises ServerError if the cluster cannot be created, if it belongs to another major
        version of PostgreSQL, or if another server is still running on it.
        """
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        binaries = find_postgres_binaries(self._account)
        if not self._cluster.exists():
            self._create_cluster(binaries)
        self._check_version(binaries)
        self._clear_stale_lock()
        self._choose_port()
        options = {"listen_addresses": "127.0.0.1", "unix_socket_directories": ""}
        options |= {**_LOG_SETTINGS, **_RECOVERY_SETTINGS, **(_FAST_SETTINGS if self._fast else {})}
        return Launch(
            argv=(
                str(binaries / "postgres"),
                "-D",
                self._get_server_path(self._cluster),
                "-p",
                str(self.port),
                *_build_options(options),
            ),
            cwd=self._cluster,
            env=_SERVER_ENVIRONMENT,
            account=self._account,
            log=self.log,
            death_signal=signal.SIGINT,
        )

    def _get_server_path(self, folder: Path) -> str:
        """Return the path that a server process must use for its working directory, `folder`.

        The parents of the data folder have mode 0700, so the account `nobody` cannot access them.
        For that account, the path is /proc/self/cwd, which works without access to the parents.
        """
        return str(folder) if self._account is None else "/proc/self/cwd"

    def _create_cluster(self, binaries: Path) -> None:
        """Create the cluster in a temporary folder, and rename the folder when it is complete.

        A crash therefore leaves no partial cluster.
        """
        draft = self._folder / "cluster.new"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        with tempfile.NamedTemporaryFile("w", encoding="ascii") as password:
            password.write(self._get_password("postgres"))
            password.flush()
            if self._account is not None:
                os.chown(draft, self._account.uid, self._account.gid)
                os.chown(password.name, self._account.uid, self._account.gid)
            process = spawn(
                Launch(
                    argv=(
                        str(binaries / "initdb"),
                        f"--pgdata={self._get_server_path(draft)}",
                        f"--pwfile={password.name}",
                        *_INITDB_OPTIONS,
                        *(("--no-sync",) if self._fast else ()),
                        *_build_options({**_SETTINGS, **choose_cache_settings(read_memory())}),
                    ),
                    cwd=draft,
                    env=_SERVER_ENVIRONMENT,
                    account=self._account,
                    log=self.log,
                )
            )
            if process.wait(120) != 0:
                raise ServerError(f"initdb failed, see {self.log}")
        draft.rename(self._cluster)

    def _check_version(self, binaries: Path) -> None:
        data_version = (self._cluster / "PG_VERSION").read_text(encoding="ascii").strip()
        header = (binaries.parent / "share" / "postgres.bki").read_text(encoding="ascii")[:40]
        server_version = header.partition("\n")[0].rpartition(" ")[2]
        if data_version != server_version:
            raise ServerError(
                f"{self._cluster} was created by PostgreSQL {data_version}, but this is PostgreSQL"
                f" {server_version}. Dump the data with the old version, and load it into a new"
                " folder"
            )

    def _clear_stale_lock(self) -> None:
        """Wait until no server is running on the cluster, and then delete the lock file, if any.

        After a reboot, the process id in the file may belong to an unrelated process of the same
        account, and PostgreSQL would refuse to start. A process is a server of this cluster if its
        program is `postgres` and its working directory is the cluster. Raises ServerError if such a
        process is still running after `previous_server_timeout`.
        """
        lock = self._cluster / "postmaster.pid"
        deadline = time.monotonic() + self.previous_server_timeout
        while lock.exists():
            server_pids = find_pids_by_folder(self._cluster, "postgres")
            if not server_pids:
                lock.unlink(missing_ok=True)
            elif time.monotonic() > deadline:
                raise ServerError(
                    f"PostgreSQL is already running on {self._cluster}, process {server_pids[0]}"
                )
            else:
                time.sleep(0.02)

    def check_ready(self) -> bool:
        """Return whether the server accepts connections from the role `labeling`.

        If it does, also creates the role and the database if they do not exist, and sets the role's
        settings. Reads the server's status file first, because refused connections would be logged.
        """
        try:
            status = (self._cluster / "postmaster.pid").read_text(encoding="ascii")
        except FileNotFoundError:
            return False
        if not status.rstrip().endswith("ready"):
            return False
        if not databases.can_connect(self.url):
            databases.ensure_owner_role(self.admin_url, ROLE, self._get_password(ROLE))
            databases.ensure_database(self.admin_url, DATABASE, ROLE)
        if not self._was_ready:
            # An operator may have changed the password of the superuser.
            with contextlib.suppress(psycopg2.Error):
                databases.set_role_settings(self.admin_url, ROLE, _ROLE_SETTINGS)
        self._was_ready = True
        return True

    def create_database(self, name: str, template: str | None = None) -> str:
        """Create a database that the role `labeling` owns, and return its URL.

        If `template` is given, the database is a copy of that database.
        """
        databases.create_database(self.admin_url, name, ROLE, template)
        return self.get_url(name)

    def drop_database(self, name: str) -> None:
        """Terminate all sessions of a database, and drop it, if it exists."""
        databases.drop_database(self.admin_url, name)


def _build_options(settings: Mapping[str, str]) -> list[str]:
    return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
