"""Which tables the audit log watches; used by migrations."""


def audited(
    table: str,
    *,
    label: str | None = None,
    secret: tuple[str, ...] = (),
    ignored: tuple[str, ...] = (),
    kind: str | None = None,
    target: str = "id",
) -> None:
    """Let every insert, update and delete on `table` write into the audit log.

    `label` is the column that names a record to a reader; with `user_id` it is the person's e-mail
    address. Of `secret` columns it is told that they changed, never from what to what; a member
    inside a JSON column is named `settings.ai_provider.api_key`. A change of `ignored` columns
    alone writes nothing. `kind` is the type of the record where the API calls it otherwise than
    the table (then the model's table says so too, in its info: `audited_as`), `target` the column
    with its id. Calling it again replaces what was said before.
    """
