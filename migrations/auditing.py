"""Which tables the audit log watches; used by migrations."""


def audited(table: str, *, label: str | None = None, secret: tuple[str, ...] = ()) -> None:
    """Let every insert, update and delete on `table` write into the audit log.

    `label` is the column that names a record to a reader. Of `secret` columns it is told that they
    changed, never from what to what.
    """
