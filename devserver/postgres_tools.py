"""Run pg_dump and pg_restore from the package of the embedded PostgreSQL."""

import os
import subprocess
from collections import deque
from collections.abc import Iterator, Sequence
from urllib.parse import unquote, urlsplit, urlunsplit

from devserver.binaries import find_postgres_binaries
from devserver.postgres import DATABASE, EmbeddedPostgres

_MAX_ERROR_LINES = 5


def get_superuser_url(server: EmbeddedPostgres) -> str:
    """Return the URL with which the superuser connects to the application's database."""
    return urlunsplit(urlsplit(server.admin_url)._replace(path=f"/{DATABASE}"))


def run_tool(name: str, url: str, arguments: Sequence[str]) -> Iterator[str]:
    """Run `pg_dump` or `pg_restore` on a database, and yield the lines that it prints.

    A password in the URL is passed in the environment, which other users cannot read. Without one,
    the program uses PGPASSWORD or the password file. If the program fails, SubprocessError is
    raised with the last lines that it printed.
    """
    parts = urlsplit(url)
    credentials, separator, host = parts.netloc.rpartition("@")
    user = credentials.partition(":")[0]
    query = f"?{parts.query}" if parts.query else ""
    url_without_password = f"postgresql://{user}{separator}{host}{parts.path}{query}"
    password = {} if parts.password is None else {"PGPASSWORD": unquote(parts.password)}
    with subprocess.Popen(  # noqa: S603 - a program from the package
        [str(find_postgres_binaries(None) / name), f"--dbname={url_without_password}", *arguments],
        env={**os.environ, **password},
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
