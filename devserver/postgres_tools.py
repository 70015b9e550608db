"""Run pg_dump and pg_restore from the installed package."""

import os
import subprocess
from collections import deque
from collections.abc import Iterator, Sequence
from urllib.parse import unquote, urlsplit, urlunsplit

from devserver.binaries import find_postgres_binaries
from devserver.postgres import DATABASE, EmbeddedPostgres

_MAX_ERROR_LINES = 5


def get_superuser_url(server: EmbeddedPostgres) -> str:
    """Return the URL of the application's database for the superuser."""
    return urlunsplit(urlsplit(server.admin_url)._replace(path=f"/{DATABASE}"))


def run_tool(name: str, url: str, arguments: Sequence[str]) -> Iterator[str]:
    """Run `pg_dump` or `pg_restore` on a database, and yield the lines that it prints.

    The password is passed in the environment, which other users cannot read. Raises
    subprocess.SubprocessError with the program's last lines if it fails.
    """
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    url_without_password = urlunsplit(
        parts._replace(scheme="postgresql", netloc=f"{parts.username}@{host}")
    )
    with subprocess.Popen(  # noqa: S603 - a program from the package
        [str(find_postgres_binaries(None) / name), f"--dbname={url_without_password}", *arguments],
        env={**os.environ, "PGPASSWORD": unquote(parts.password or "")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        last_lines: deque[str] = deque(maxlen=_MAX_ERROR_LINES)
        for line in process.stdout:
            last_lines.append(line)
            yield line
    if process.returncode != 0:
        raise subprocess.SubprocessError(f"{name} failed: {''.join(last_lines).strip()}")
