"""Encrypted columns, and their re-encryption with the first key of the keyring.

A model declares an encrypted column with `mapped_column(info=encrypted())`, and encrypted members
of a JSON object with `info=encrypted("sealed")`. A test checks that no other column contains
encrypted values ("tokens" below).
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, ColumnElement, Table, func, literal, select, tuple_, update
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TEXT

from app.kit import container, db, tenancy
from app.kit.secrets import DecryptionFailed

_INFO = "encrypted"
BATCH = 500

Progress = Callable[[int, int], None]
"""Called with the number of values processed, and with their approximate total."""


def encrypted(*members: str) -> dict[str, Any]:
    """Return the `info` of a column whose value, or whose JSON object's `members`, are tokens."""
    return {_INFO: members or (None,)}


@dataclass(frozen=True, slots=True)
class EncryptedColumn:
    """An encrypted column, or an encrypted member of a column of JSON objects."""

    table: Table
    column: Column[Any]
    member: str | None

    @property
    def name(self) -> str:
        """Return the name, such as `webhooks.secret` or `jobs.args.sealed`."""
        parts = (self.table.name, self.column.name, self.member)
        return ".".join(part for part in parts if part)

    @property
    def value(self) -> ColumnElement[str]:
        """Return the SQL expression of the token."""
        token: ColumnElement[str] = self.column
        if self.member is not None:
            token = self.column[self.member].astext
        return token

    def with_token(self, token: str) -> str | ColumnElement[Any]:
        """Return the SQL expression of the column's value with another token."""
        if self.member is None:
            return token
        path = literal([self.member], ARRAY(TEXT))
        return func.jsonb_set(self.column, path, literal(token, JSONB))


@dataclass(slots=True)
class Count:
    """Counts for one column; no configured key decrypts the `unreadable` tokens."""

    place: str
    tokens: int = 0
    rotated: int = 0
    unreadable: int = 0


def list_columns() -> list[EncryptedColumn]:
    """Return every encrypted column, ordered by name. The models must have been imported."""
    columns = [
        EncryptedColumn(table, column, member)
        for table in db.Base.metadata.tables.values()
        for column in table.columns
        for member in column.info.get(_INFO, ())
    ]
    return sorted(columns, key=lambda place: place.name)


def count_tokens() -> int:
    """Return the number of tokens in all columns."""
    with _across_organizations():
        counts = (
            select(func.count()).select_from(place.table).where(place.value.is_not(None))
            for place in list_columns()
        )
        return sum(db.session().scalar(count) or 0 for count in counts)


def rotate_tokens(*, write: bool = True, progress: Progress | None = None) -> list[Count]:
    """Re-encrypt the tokens that the first key did not encrypt; return counts for each column.

    Each batch is committed. An interrupted run can be repeated and continues with the remaining
    tokens. A token that is replaced concurrently is left unchanged because it already uses the
    first key. Without `write`, tokens are only counted.
    """
    expected = count_tokens() if progress is not None else 0
    counts: list[Count] = []
    for place in list_columns():
        count = Count(place.name)
        counts.append(count)
        for rows in _iterate_batches(place):
            with _across_organizations(), db.transaction():
                for key, token in rows:
                    _rotate_token(place, key, token, count, write=write)
            if progress is not None:
                done = sum(count.tokens for count in counts)
                progress(done, max(done, expected))
    return counts


def _rotate_token(
    place: EncryptedColumn, key: tuple[Any, ...], token: str, count: Count, *, write: bool
) -> None:
    keyring = container.keyring()
    count.tokens += 1
    try:
        if not keyring.needs_rotation(token):
            return
        new_token = keyring.rotate(token)
    except DecryptionFailed:
        count.unreadable += 1
        return
    if write:
        same = (
            column == value for column, value in zip(_list_key_columns(place), key, strict=True)
        )
        statement = update(place.table).where(*same, place.value == token)
        result = db.session().execute(statement.values({place.column: place.with_token(new_token)}))
        count.rotated += result.rowcount  # type: ignore[attr-defined]
    else:
        count.rotated += 1


def _list_key_columns(place: EncryptedColumn) -> list[Column[Any]]:
    return list(place.table.primary_key.columns)


def _iterate_batches(place: EncryptedColumn) -> Iterator[list[tuple[tuple[Any, ...], str]]]:
    """Yield all tokens of a column in the order of its primary key, as ((key, …), token)."""
    columns = _list_key_columns(place)
    statement = select(*columns, place.value).where(place.value.is_not(None))
    statement = statement.order_by(*columns).limit(BATCH)
    after: tuple[Any, ...] | None = None
    while True:
        more = statement if after is None else statement.where(tuple_(*columns) > tuple_(*after))
        with _across_organizations(), db.transaction() as session:
            rows = [(tuple(row[:-1]), row[-1]) for row in session.execute(more)]
        if rows:
            yield rows
        if len(rows) < BATCH:
            return
        after = rows[-1][0]


def _across_organizations() -> AbstractContextManager[None]:
    return tenancy.across_organizations(reason="the operator's keys encrypt for every organization")
