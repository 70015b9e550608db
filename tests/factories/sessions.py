"""End sessions of PostgreSQL."""

from contextlib import closing

import psycopg2

EXIT_MILLISECONDS = 60_000


def terminate_backend(url: str, pid: int) -> None:
    """Terminate a session of PostgreSQL, and wait until its process has exited.

    `url` is a database URL of a role that may do this. Fails if the process does not exit.
    """
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, %s)", (pid, EXIT_MILLISECONDS))
        assert cursor.fetchone() == (True,), "the process has not exited"
