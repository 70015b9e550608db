"""`python -m devserver restore FOLDER`: restore a backup into a new DATA_DIR.

The database is loaded into a temporary folder, which is renamed at the end. An interrupted restore
therefore leaves no database and can be repeated.
"""

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import psycopg2

from app.kit.settings_values import DATABASE_ROLE
from devserver import databases
from devserver.backup import (
    DUMP,
    EXIT_FAILED,
    EXIT_INVALID_SETTINGS,
    FILES,
    MANIFEST,
    SECRETS,
    copy_files,
    copy_private_file,
    get_files_folder,
)
from devserver.lock import DataInUseError, DataLock
from devserver.postgres import DEMO_RECORD, ROLE, EmbeddedPostgres
from devserver.postgres_tools import get_superuser_url, run_tool
from devserver.progress import Progress, print_error
from devserver.server import ServerError
from devserver.status import read_data_dir

_LOADER_ROLE = "labeling_restore"


def restore(environ: Mapping[str, str], folder: Path) -> int:
    """Restore a backup into DATA_DIR, and return the exit status.

    DATA_DIR must not have a database. The files are copied to the folder in STORAGE_URL or, if it
    does not name a folder, to DATA_DIR/files. During the restore, only the embedded PostgreSQL is
    running.
    """
    data_dir = read_data_dir(environ)
    if data_dir is None:
        return EXIT_INVALID_SETTINGS
    if not (folder / MANIFEST).exists():
        print_error(f"{folder} is not a complete backup: {MANIFEST} is missing.")
        return EXIT_FAILED
    try:
        lock = DataLock(data_dir)
    except DataInUseError as error:
        print_error(
            f"A service is running on {data_dir}, process {error.pid}. Set another DATA_DIR."
        )
        return EXIT_FAILED
    try:
        files = get_files_folder(data_dir, environ) or data_dir / FILES
        return _restore_locked(data_dir, files, folder)
    finally:
        lock.release()


def _restore_locked(data_dir: Path, files: Path, folder: Path) -> int:
    if (data_dir / "postgres").exists():
        print_error(f"{data_dir} already has a database. Set another DATA_DIR.")
        return EXIT_FAILED
    progress = Progress()
    try:
        _restore_data(data_dir, files, folder, progress)
    except (OSError, ServerError, subprocess.SubprocessError, psycopg2.Error) as error:
        progress.failed()
        print_error(
            f"The restore failed: {error}. Repeat it before you start the service on {data_dir}."
        )
        return EXIT_FAILED
    progress.print_line(
        f"{data_dir} is restored. Start the service with OUTBOUND=off if it must not send anything."
    )
    return 0


def _restore_data(data_dir: Path, files: Path, folder: Path, progress: Progress) -> None:
    draft = data_dir / "postgres.restoring"
    shutil.rmtree(draft, ignore_errors=True)
    if (folder / FILES).exists():
        copy_files(folder / FILES, files, progress)
    copy_private_file(folder / SECRETS, data_dir / SECRETS)
    progress.begin("database")
    with EmbeddedPostgres(draft) as server:
        manifest = json.loads((folder / MANIFEST).read_text())
        # The dump contains grants to the role that the service used.
        role = manifest.get("role", DATABASE_ROLE)
        databases.create_application_role(server.url, role, ROLE)
        _load_dump(
            get_superuser_url(server), folder / DUMP, manifest.get("owner") or ROLE, progress
        )
    copy_private_file(folder / DEMO_RECORD, draft / DEMO_RECORD)
    draft.rename(data_dir / "postgres")
    progress.done("")


def _load_dump(url: str, dump: Path, owner: str, progress: Progress) -> None:
    """Load a dump of a database that the role `owner` owned.

    The dump refers to that role by name, so the role `labeling` temporarily has this name.
    """
    arguments = ["--exit-on-error", "--verbose", str(dump)]
    with (
        databases.create_temporary_superuser(url, _LOADER_ROLE, ROLE) as loader_url,
        databases.rename_role_temporarily(loader_url, ROLE, owner),
    ):
        for _ in run_tool("pg_restore", loader_url, arguments):
            progress.tick()
