"""Encrypted columns, and their re-encryption with the first key in the keyring.

A model declares an encrypted column with `mapped_column(info=build_encryption_info())`, and an
encrypted property of a JSON column with its name: `info=build_encryption_info("sealed")` for the
property `sealed`. A test checks that no other column contains encrypted values. "Token" means a
Fernet token here.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, ColumnElement, Table, func, literal, select, tuple_, update
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TEXT

from app.kit import container, db, tenancy
from app.kit.db import ReportProgress
from app.kit.secrets import DecryptionFailed

_INFO_KEY = "encrypted"
BATCH_SIZE = 500
"""The maximum number of tokens that one transaction re-encrypts."""


def build_encryption_info(*properties: str) -> dict[str, Any]:
    """Return the `info` argument for an encrypted column.

    `properties` are the encrypted properties of a JSON column. If there are none, the whole value
    of the column is encrypted.
    """
    return {_INFO_KEY: properties or (None,)}


@dataclass(frozen=True, slots=True)
class EncryptedColumn:
    """An encrypted column, or an encrypted property of a JSON column."""

    table: Table
    column: Column[Any]
    property_name: str | None

    @property
    def name(self) -> str:
        """Return the qualified name, such as `webhooks.secret` or `jobs.args.sealed`."""
        parts = (self.table.name, self.column.name, self.property_name)
        return ".".join(part for part in parts if part)

    @property
    def value(self) -> ColumnElement[str]:
        """Return the SQL expression that reads the token from the column."""
        token: ColumnElement[str] = self.column
        if self.property_name is not None:
            token = self.column[self.property_name].astext
        return token

    def build_new_value(self, new_token: str) -> str | ColumnElement[Any]:
        """Build the value to assign to the column so that it contains `new_token`.

        The value is the token itself or, for a property of a JSON column, an SQL expression.
        """
        if self.property_name is None:
            return new_token
        path = literal([self.property_name], ARRAY(TEXT))
        return func.jsonb_set(self.column, path, literal(new_token, JSONB))


@dataclass(slots=True)
class TokenCounts:
    """Counts of the Fernet tokens in one encrypted column, whose qualified name is `place`.

    `rotated` counts the tokens that were re-encrypted or, in a dry run, would be re-encrypted.
    `unreadable` counts the tokens that no configured key can decrypt.
    """

    place: str
    tokens: int = 0
    rotated: int = 0
    unreadable: int = 0


def list_columns() -> list[EncryptedColumn]:
    """Return every encrypted column, ordered by name. The models must have been imported."""
    columns = [
        EncryptedColumn(table, column, name)
        for table in db.Base.metadata.tables.values()
        for column in table.columns
        for name in column.info.get(_INFO_KEY, ())
    ]
    return sorted(columns, key=lambda encrypted_column: encrypted_column.name)


def count_tokens() -> int:
    """Return the number of Fernet tokens in all encrypted columns."""
    with _across_organizations():
        statements = (
            select(func.count()).select_from(column.table).where(column.value.is_not(None))
            for column in list_columns()
        )
        return sum(db.session().scalar(statement) or 0 for statement in statements)


def rotate_tokens(
    *, write: bool = True, progress: ReportProgress | None = None
) -> list[TokenCounts]:
    """Re-encrypt, with the first configured key, all Fernet tokens that use another key.

    Returns the counts for each column. Each batch is committed. An interrupted run can be repeated,
    and continues with the remaining tokens. If a token is replaced concurrently, the new token is
    left unchanged, because it uses the first key already. If `write` is false, tokens are only
    counted.
    """
    expected_total = count_tokens() if progress is not None else 0
    counts: list[TokenCounts] = []
    for column in list_columns():
        column_counts = TokenCounts(column.name)
        counts.append(column_counts)
        for rows in _iterate_batches(column):
            with _across_organizations(), db.transaction():
                for primary_key, token in rows:
                    _rotate_token(column, primary_key, token, column_counts, write=write)
            if progress is not None:
                done_count = sum(entry.tokens for entry in counts)
                progress(done_count, max(done_count, expected_total))
    return counts


def list_unreadable_columns() -> list[str]:
    """Return the names of encrypted columns with a Fernet token that no configured key decrypts.

    Reads only the first `BATCH_SIZE` tokens of each column.
    """
    return [
        column.name
        for column in list_columns()
        if not all(_is_readable(token) for _, token in next(_iterate_batches(column), []))
    ]


def _is_readable(token: str) -> bool:
    try:
        container.keyring().decrypt(token)
    except DecryptionFailed:
        return False
    return True


def _rotate_token(
    column: EncryptedColumn,
    primary_key: tuple[Any, ...],
    token: str,
    counts: TokenCounts,
    *,
    write: bool,
) -> None:
    keyring = container.keyring()
    counts.tokens += 1
    try:
        if not keyring.needs_rotation(token):
            return
        new_token = keyring.rotate(token)
    except DecryptionFailed:
        counts.unreadable += 1
        return
    if write:
        key_conditions = (
            key_column == value
            for key_column, value in zip(
                _list_primary_key_columns(column), primary_key, strict=True
            )
        )
        statement = update(column.table).where(*key_conditions, column.value == token)
        new_values = {column.column: column.build_new_value(new_token)}
        result = db.session().execute(statement.values(new_values))
        counts.rotated += result.rowcount  # type: ignore[attr-defined]
    else:
        counts.rotated += 1


def _list_primary_key_columns(column: EncryptedColumn) -> list[Column[Any]]:
    return list(column.table.primary_key.columns)


def _iterate_batches(column: EncryptedColumn) -> Iterator[list[tuple[tuple[Any, ...], str]]]:
    """Yield batches of (primary key, token) pairs from a column, ordered by primary key."""
    key_columns = _list_primary_key_columns(column)
    statement = select(*key_columns, column.value).where(column.value.is_not(None))
    statement = statement.order_by(*key_columns).limit(BATCH_SIZE)
    last_primary_key: tuple[Any, ...] | None = None
    while True:
        batch_statement = statement
        if last_primary_key is not None:
            batch_statement = statement.where(tuple_(*key_columns) > tuple_(*last_primary_key))
        with _across_organizations(), db.transaction() as session:
            rows = [(tuple(row[:-1]), row[-1]) for row in session.execute(batch_statement)]
        if rows:
            yield rows
        if len(rows) < BATCH_SIZE:
            return
        last_primary_key = rows[-1][0]


def _across_organizations() -> AbstractContextManager[None]:
    return tenancy.across_organizations(reason="the operator's keys encrypt for every organization")
