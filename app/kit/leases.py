"""Leases on rows of a table. Only one process at a time may work on a leased row.

A lease is a random token and an expiry time in the row. The statement that claims a row writes both
(`build_lease_assignments`), and skips rows that are leased (`IS_FREE`). While the holder works, it
renews the lease. Its later statements change a row only if the row still has the token
(`LeasedTable.build_update`), so a holder that has lost its lease changes nothing. A lease that has
expired can be renewed until another process claims the row. The owner of a table decides which
rows to claim, and in which order. The caller of each function must have bound all organizations.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from threading import Condition
from time import monotonic
from typing import Any, NamedTuple
from uuid import UUID

from flask import Flask
from sqlalchemy import CursorResult, TextClause, text
from sqlalchemy.orm import Mapped

from app.kit import db, tenancy

IS_LEASED = "leased_until > now()"
IS_FREE = "(leased_until IS NULL OR leased_until <= now())"
HAS_LEASE = "leased_until IS NOT NULL"
"""The condition for rows with a lease, including rows whose lease has expired."""
RELEASE_ASSIGNMENTS = "lease_token = NULL, leased_until = NULL"
"""The assignments of an UPDATE statement that end a lease."""
SHARED_TOKEN = "(SELECT gen_random_uuid())"  # noqa: S105 - SQL
"""The token for `build_lease_assignments` if all rows of a claim get the same lease."""
ASYNC_COMMIT = text("SET LOCAL synchronous_commit = off")
"""Statement that makes the commit not wait for the disk. A crash may then undo the commit."""
_EXPIRY = "now() + make_interval(secs => :lease_seconds)"


def build_lease_assignments(token: str = "gen_random_uuid()", condition: str = "true") -> str:  # noqa: S107 - SQL
    """Build the assignments of an UPDATE statement that lease its rows for `:lease_seconds`.

    `token` is the SQL expression for a token. By default, each row gets a different token. Rows for
    which `condition` is false lose their lease.
    """
    return (
        f"lease_token = CASE WHEN {condition} THEN {token} END,"
        f" leased_until = CASE WHEN {condition} THEN {_EXPIRY} END"
    )


class LeaseColumns:
    """Mixin with the columns of a lease. Both are null if the row has no lease."""

    lease_token: Mapped[UUID | None]
    leased_until: Mapped[datetime | None]


class Lease(NamedTuple):
    """A token, and the ids of the rows that are leased under it.

    `organization_id` is necessary only for tables whose primary key includes it.
    """

    token: UUID
    ids: tuple[UUID, ...]
    organization_id: UUID | None = None


class LeasedTable:
    """A table whose rows are leased, and the terms of its leases.

    Attributes:
        lease_seconds: how long a lease is valid after it was claimed or last renewed.
        renew_seconds: the time after which `LeaseKeeper` renews a lease.
    """

    def __init__(
        self,
        name: str,
        *,
        key: Sequence[str] = ("id",),
        lease_seconds: float,
        renew_seconds: float,
        skip_locked: bool = False,
        async_renewal: bool = False,
    ) -> None:
        """Build the statements for the table `name` with the primary key `key`.

        If `skip_locked` is true, statements do not change rows that other transactions have locked,
        and never wait. If `async_renewal` is true, the commit of a renewal does not wait for the
        disk; the holder must then not rely on the renewal after a crash of the database.
        """
        self.lease_seconds = lease_seconds
        self.renew_seconds = renew_seconds
        self._name = name
        self._async_renewal = async_renewal
        self._matches_lease = " AND ".join(
            ["leased.lease_token = lease.token", *(f"leased.{c} = lease.{c}" for c in key)]
        )
        leases = """
            SELECT lease.* FROM unnest(
                CAST(:organizations AS uuid[]), CAST(:ids AS uuid[]), CAST(:tokens AS uuid[])
            ) AS lease (organization_id, id, token)
        """
        # Only a SELECT statement can skip locked rows, so it precedes the UPDATE statement.
        locked_leases = f"""
            {leases} CROSS JOIN LATERAL (
                SELECT FROM {name} AS leased WHERE {self._matches_lease}
                FOR UPDATE {"SKIP LOCKED" if skip_locked else ""}) AS locked
        """
        self._leases = locked_leases if skip_locked else leases
        self._lock = text(f"SELECT count(*) FROM ({locked_leases}) AS lease")  # noqa: S608
        self._renew = self.build_update(f"leased_until = {_EXPIRY}", "RETURNING lease_token")

    def build_update(self, assignments: str, returning: str = "") -> TextClause:
        """Build a statement that updates the rows that still have their leases.

        Its parameters are those of `build_parameters`.
        """
        return text(
            f"""
            WITH lease AS ({self._leases})
            UPDATE {self._name} AS leased SET {assignments}
            FROM lease WHERE {self._matches_lease} {returning}
            """  # noqa: S608 - made of constants
        )

    def build_parameters(self, leases: Iterable[Lease]) -> dict[str, Any]:
        """Return the parameters of a statement on the rows of `leases`.

        The rows are in the order of their ids, so that statements lock them in the same order.
        """
        rows = sorted((row_id, lease) for lease in leases for row_id in lease.ids)
        organization_ids = [lease.organization_id for _, lease in rows]
        return {
            "organizations": [None if key is None else str(key) for key in organization_ids],
            "ids": [str(row_id) for row_id, _ in rows],
            "tokens": [str(lease.token) for _, lease in rows],
        }

    def execute(self, statement: TextClause, leases: Iterable[Lease], **values: object) -> int:
        """Execute a statement of `build_update`, and return the number of rows that it updated."""
        result = db.session().execute(statement, {**values, **self.build_parameters(leases)})
        assert isinstance(result, CursorResult)
        return result.rowcount

    def lock(self, lease: Lease) -> bool:
        """Lock the rows of a lease for update. Return whether all of them still have the lease."""
        count = db.session().scalar(self._lock, self.build_parameters([lease]))
        return bool(count == len(lease.ids))

    def renew(self, leases: Sequence[Lease]) -> set[UUID]:
        """Renew leases, and return the tokens of the leases of which every row was renewed."""
        if self._async_renewal:
            db.session().execute(ASYNC_COMMIT)
        values = {"lease_seconds": self.lease_seconds, **self.build_parameters(leases)}
        counts = Counter(db.session().scalars(self._renew, values))
        return {lease.token for lease in leases if counts[lease.token] == len(lease.ids)}


class LeaseKeeper:
    """Renews the leases that a process holds on a table, and records until when each is valid.

    Its owner calls `renew_due` regularly. The validity is measured with the clock of this process,
    from before the statement that claims or renews a lease, so it ends before the lease expires.
    Methods may be called from any thread.
    """

    def __init__(self, app: Flask, table: LeasedTable) -> None:
        self._app = app
        self._table = table
        self._changed = Condition()
        self._valid_until: dict[Lease, float] = {}
        self._renew_at = 0.0

    def __bool__(self) -> bool:
        """Return whether the process holds any lease."""
        return bool(self._valid_until)

    def add(self, leases: Iterable[Lease], claimed_at: float) -> None:
        """Start renewing leases. `claimed_at` is a `monotonic()` value from before their claim."""
        with self._changed:
            if not self._valid_until:
                self._renew_at = claimed_at + self._table.renew_seconds
                self._changed.notify_all()
            for lease in leases:
                self._valid_until[lease] = claimed_at + self._table.lease_seconds

    def remove(self, leases: Iterable[Lease]) -> None:
        """Stop renewing leases, because they were released or their work has ended."""
        with self._changed:
            for lease in leases:
                self._valid_until.pop(lease, None)

    def is_valid_for(self, lease: Lease, seconds: float) -> bool:
        """Return whether a lease is being renewed, and will be valid for at least `seconds`."""
        with self._changed:
            return self._valid_until.get(lease, 0.0) >= monotonic() + seconds

    def compute_seconds_until_due(self) -> float:
        """Return the seconds until `renew_due` must be called again; negative if it is overdue."""
        with self._changed:
            due_in = self._renew_at - monotonic()
            return due_in if self._valid_until else self._table.renew_seconds

    def wait_until_due(self) -> None:
        """Wait until a lease must be renewed."""
        with self._changed:
            while (seconds := self.compute_seconds_until_due()) > 0:
                self._changed.wait(seconds)

    def renew_due(self) -> None:
        """Renew all leases if one of them must be renewed.

        Raises SQLAlchemyError if the database fails. The next call then tries again.
        """
        started_at = monotonic()
        with self._changed:
            leases = list(self._valid_until) if self._renew_at <= started_at else []
        if not leases:
            return
        with (
            self._app.app_context(),
            tenancy.across_organizations(reason="renews every organization's leases"),
            db.transaction(),
        ):
            renewed_tokens = self._table.renew(leases)
        with self._changed:
            self._renew_at = started_at + self._table.renew_seconds
            for lease in leases:
                if lease.token in renewed_tokens and lease in self._valid_until:
                    self._valid_until[lease] = started_at + self._table.lease_seconds
