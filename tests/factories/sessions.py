"""End sessions of PostgreSQL."""

from contextlib import closing

import psycopg2

EXIT_MILLISECONDS = 60_000


def terminate_backend(url: str, pid: int) -> None:
    """Terminate a session of PostgreSQL; fail if its process does not exit within a minute.

    `url` is a database URL with a role that may terminate the session.
    """
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, %s)", (pid, EXIT_MILLISECONDS))
        assert cursor.fetchone() == (True,), "the process has not exited"
