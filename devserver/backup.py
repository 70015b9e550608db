"""`python -m devserver backup FOLDER`: back up a running service.

The backup copies the files, then the database, and then the files that were added in the meantime.
Files never change, and files that are deleted in the meantime have already been copied. Therefore
the backup contains every file that its database refers to.
"""

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg2

from app.kit.settings_values import DATABASE_ROLE, parse_switch
from devserver import environment, lock, revisions
from devserver.postgres import DEMO_RECORD, EmbeddedPostgres
from devserver.postgres_tools import get_superuser_url, run_tool
from devserver.process import write_private_file
from devserver.progress import Progress, print_error
from devserver.status import read_data_dir

DUMP, FILES, SECRETS, MANIFEST = "database.dump", "files", "secrets.env", "backup.json"
EXIT_FAILED, EXIT_INVALID_SETTINGS = 1, 2
_FILE_SCHEME = "file://"


def backup(environ: Mapping[str, str], folder: Path, database_url: str | None = None) -> int:
    """Back up the running service whose data is in DATA_DIR, and return the exit status.

    `folder` must not exist. `database_url` must use a role that bypasses row-level security; it is
    not needed for the embedded PostgreSQL. Files are copied only if the storage is a folder.
    """
    data_dir = read_data_dir(environ)
    if data_dir is None:
        return EXIT_INVALID_SETTINGS
    record = environment.RunRecord(data_dir).read()
    if lock.find_lock_holder(data_dir) is None or not record:
        print_error(
            f"No service is running on {data_dir}. Start the service, or copy the folder instead."
        )
        return EXIT_FAILED
    service_environ: dict[str, str] = record["environment"]
    if "DATABASE_URL" not in service_environ:
        print_error(f"The service on {data_dir} is starting. Try again when it is ready.")
        return EXIT_FAILED
    url = database_url or _get_embedded_url(data_dir, service_environ["DATABASE_URL"])
    if url is None:
        print_error(
            "Set --database-url to the URL of your database, with a role that has BYPASSRLS."
        )
        return EXIT_INVALID_SETTINGS
    return _back_up(data_dir, service_environ, url, folder)


def _back_up(data_dir: Path, service_environ: Mapping[str, str], url: str, folder: Path) -> int:
    try:
        folder.mkdir(mode=0o700, parents=True)
    except OSError as error:
        print_error(f"Nothing was copied: {folder} cannot be created: {error.strerror}.")
        return EXIT_FAILED
    progress = Progress()
    try:
        _write_backup(data_dir, service_environ, url, folder, progress)
    except (OSError, subprocess.SubprocessError, psycopg2.Error) as error:
        progress.failed()
        print_error(f"The backup failed: {error}. The backup in {folder} is incomplete.")
        return EXIT_FAILED
    progress.print_line(f"The backup is complete: {folder}")
    return 0


def _get_embedded_url(data_dir: Path, url: str) -> str | None:
    """Return the superuser's URL if `url` belongs to the embedded PostgreSQL, or else None."""
    port = urlsplit(url).port
    if port is None or not (data_dir / "postgres" / "cluster").exists():
        return None
    server = EmbeddedPostgres(data_dir / "postgres", port)
    return get_superuser_url(server) if server.url == url else None


def _write_backup(
    data_dir: Path, service_environ: Mapping[str, str], url: str, folder: Path, progress: Progress
) -> None:
    source = get_files_folder(data_dir, service_environ)
    if source is not None:
        copy_files(source, folder / FILES, progress)
    progress.begin("database")
    _dump_database(url, folder / DUMP, progress)
    progress.done(f"{(folder / DUMP).stat().st_size / 2**20:.1f} MiB")
    if source is not None:
        copy_files(source, folder / FILES, progress, step="new files")
    # Outside demo mode, these files are left over from an earlier demo mode. The service does not
    # read them, and backups must not contain keys.
    if parse_switch(service_environ["DEMO"].strip()):
        copy_private_file(data_dir / SECRETS, folder / SECRETS)
        copy_private_file(data_dir / "postgres" / DEMO_RECORD, folder / DEMO_RECORD)
    manifest: dict[str, Any] = {
        "finished_at": datetime.now(UTC).isoformat(),
        "revision": revisions.find_applied_revision(url),
        "role": service_environ.get("DATABASE_ROLE", DATABASE_ROLE),
        "owner": revisions.find_table_owner(url),
        "files": source is not None,
        "keys": (folder / SECRETS).exists(),
    }
    write_private_file(folder / MANIFEST, json.dumps(manifest, indent=2))


def copy_private_file(source: Path, target: Path) -> None:
    """Copy a text file, if it exists, to a file that only its owner can read."""
    if source.exists():
        write_private_file(target, source.read_text(encoding="utf-8").rstrip())


def get_files_folder(data_dir: Path, environ: Mapping[str, str]) -> Path | None:
    """Return the folder of the files of a service, or None if they are in an object store."""
    url = environ.get("STORAGE_URL", "").strip()
    if not url:
        return data_dir / FILES
    return Path(url.removeprefix(_FILE_SCHEME)) if url.startswith(_FILE_SCHEME) else None


def _dump_database(url: str, target: Path, progress: Progress) -> None:
    """Dump the database to the file `target`, which only the file's owner can read."""
    target.touch(mode=0o600)
    arguments = ["--format=custom", "--verbose", f"--file={target}"]
    for _ in run_tool("pg_dump", url, arguments):
        progress.tick()


def copy_files(source: Path, target: Path, progress: Progress, *, step: str = "files") -> None:
    """Copy the files that `target` does not contain yet. Skip files that no longer exist."""
    progress.begin(step)
    total = sum(1 for _ in _list_files(source))
    copied_count = 0
    for done, path in enumerate(_list_files(source), 1):
        copy = target / path.relative_to(source)
        if not copy.exists():
            copied_count += _copy_file(path, copy)
        progress.advance(done, total)
    progress.done(f"{copied_count} copied")


def _list_files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        for name in names:
            yield Path(parent, name)


def _copy_file(path: Path, copy: Path) -> bool:
    """Copy a file atomically if it still exists, and return whether it was copied."""
    copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = copy.with_name(f".{copy.name}.part")
    with contextlib.suppress(FileNotFoundError):
        shutil.copy2(path, draft)
        draft.replace(copy)
        return True
    return False
