"""The first of two locks between organizations; the second is row-level security.

A scope is bound to the running request or job: one organization, or, said with a reason, all of
them. The ORM adds it to every statement on a tenant model, and each transaction tells PostgreSQL,
whose policies hold the same line under a role that cannot bypass them. Unbound, the ORM raises and
PostgreSQL shows no row.
"""

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, ForeignKey, Table, event
from sqlalchemy.orm import Mapped, ORMExecuteState, Session, mapped_column, with_loader_criteria
from sqlalchemy.sql import visitors

from app.kit import audit_context


class TenantNotBoundError(RuntimeError):
    """A tenant table was touched with no organization bound: a fault of ours, never a client's."""


@dataclass(frozen=True, slots=True)
class Scope:
    """`organization_id` None means all organizations. `sql` is run before what it guards."""

    organization_id: UUID | None
    sql: str


def _scope_sql(organization: str, everything: str) -> str:
    # A fifth of the time of SELECT set_config(…, true), which does the same.
    return (
        f"SET LOCAL app.organization_id = '{organization}'; "
        f"SET LOCAL app.all_organizations = '{everything}'; "
    )


_UNBOUND = _scope_sql("", "")
_EVERYTHING = Scope(None, _scope_sql("", "on"))
_scope: ContextVar[Scope | None] = ContextVar("tenant_scope", default=None)


@contextmanager
def organization(organization_id: UUID) -> Iterator[None]:
    """Bind one organization to the block."""
    token = _scope.set(Scope(organization_id, _scope_sql(str(organization_id), "")))
    try:
        yield
    finally:
        _scope.reset(token)


@contextmanager
def across_organizations(*, reason: str) -> Iterator[None]:
    """See all organizations in the block. The reason is for the reader: grep finds them all."""
    assert reason
    token = _scope.set(_EVERYTHING)
    try:
        yield
    finally:
        _scope.reset(token)


def bind(organization_id: UUID | None) -> None:
    """Bind for the rest of the running context (a request's); None unbinds."""
    if organization_id is None:
        _scope.set(None)
    else:
        _scope.set(Scope(organization_id, _scope_sql(str(organization_id), "")))


def current_organization_id() -> UUID:
    """The one organization that is bound. Raises TenantNotBoundError when there is none."""
    scope = _scope.get()
    if scope is None or scope.organization_id is None:
        raise TenantNotBoundError("no organization is bound")
    return scope.organization_id


TENANT_TABLES: set[str] = set()


class TenantModel:
    """Mixin of every table that belongs to an organization; the key is (organization_id, id)."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        TENANT_TABLES.add(str(cls.__dict__["__tablename__"]))
        super().__init_subclass__(**kwargs)

    organization_id: Mapped[UUID] = mapped_column(
        ForeignKey("organizations.id", ondelete="CASCADE"),
        primary_key=True,
        default=current_organization_id,
        sort_order=-100,
    )


@event.listens_for(Session, "do_orm_execute")
def _restrict(state: ORMExecuteState) -> None:
    if not (state.is_select or state.is_update or state.is_delete):
        return
    scope = _scope.get()
    if scope is None:
        _refuse_tenant_tables(state.statement)
    elif scope.organization_id is not None:
        organization_id = scope.organization_id
        state.statement = state.statement.options(
            with_loader_criteria(
                TenantModel,
                lambda model: model.organization_id == organization_id,
                include_aliases=True,
            )
        )


def _refuse_tenant_tables(statement: Any) -> None:
    for element in visitors.iterate(statement):
        if isinstance(element, Table) and element.name in TENANT_TABLES:
            raise TenantNotBoundError(f"no organization is bound; the statement reads {element}")


def prefix(connection: Any, info: MutableMapping[Any, Any]) -> str:
    """What to put before a statement on a psycopg2 `connection`, so that it runs in the scope.

    In autocommit a setting lasts for one statement, so each carries it; in a transaction it is sent
    again only when it changed, and with it who acts: only transactions change what is audited.
    `info` is what the pool keeps of the connection.
    """
    scope = _scope.get()
    sql = _UNBOUND if scope is None else scope.sql
    if not connection.autocommit:
        sql += audit_context.prefix()
        if info.get("scope") == sql:
            return ""
        info["scope"] = sql
    return sql


_BACK = "ROLLBACK TO SAVEPOINT"


def _before_cursor_execute(
    conn: Connection, cursor: Any, statement: str, parameters: Any, *_: Any
) -> tuple[str, Any]:
    """Tell PostgreSQL the scope in the same round trip as the statement that needs it.

    A server-side cursor's statement cannot be prefixed: its caller binds first, by `apply`. Before
    going back to a savepoint a failed transaction takes nothing else, and after it PostgreSQL has
    forgotten the scope.
    """
    if cursor.name is not None:
        return statement, parameters
    if statement.startswith(_BACK):
        conn.info.pop("scope", None)
        return statement, parameters
    return prefix(conn.connection.dbapi_connection, conn.info) + statement, parameters


def _forget(conn: Connection, *_: Any) -> None:
    # One that broke off has nothing to forget, and asking for its info would raise.
    if not conn.invalidated:
        conn.info.pop("scope", None)


def apply(connection: Connection) -> None:
    """Send the scope now; needed before COPY or a server-side cursor."""
    connection.exec_driver_sql("SELECT 1")


def guard(engine: Engine) -> None:
    """Make every connection of `engine` carry the scope."""
    event.listen(engine, "before_cursor_execute", _before_cursor_execute, retval=True)
    for name in ("begin", "commit", "rollback"):
        event.listen(engine, name, _forget)
