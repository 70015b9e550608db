"""Serve the floor: minimal Flask routes that run SQL with psycopg2.

There is no authentication, tenancy or validation. Except for the routes /lean, the statements are
those that the service ran after the authentication of the caller (see `capture`), so both sides do
the same work in PostgreSQL.
"""

import json
import os
import secrets
import threading
import uuid
from pathlib import Path
from typing import Any

import orjson
import psycopg2
import psycopg2.extras
from flask import Flask, Response, request

from app.kit import secrets as passwords

psycopg2.extras.register_uuid()  # type: ignore[no-untyped-call]
PLAN: dict[str, Any] = json.loads(Path(os.environ["BENCH_PLAN"]).read_text())
_MIN_LOCK_KEY = 2**31
app = Flask("floor")
_local = threading.local()


def _get_connection(*, autocommit: bool) -> Any:
    name = f"connection_{autocommit}"
    connection = getattr(_local, name, None)
    if connection is None:
        connection = psycopg2.connect(
            os.environ["DATABASE_URL"], options="-c timezone=UTC -c jit=off"
        )
        connection.autocommit = autocommit
        setattr(_local, name, connection)
        cursor = connection.cursor()
        # Row-level security also applies to the owner, but the floor needs all rows.
        cursor.execute("SELECT set_config('app.all_organizations', 'on', false)")
        for sql in PLAN["prepare"]:
            cursor.execute(sql)
        if not autocommit:
            connection.commit()
    return connection


def _build_response(value: Any) -> Response:
    return Response(orjson.dumps(value, default=str), mimetype="application/json")


@app.get("/")
def get_readiness() -> Response:
    """Return an empty object, which shows that the floor is ready."""
    return _build_response({})


@app.get("/read/<name>")
def read(name: str) -> Response:
    """Run the captured statements of a read request; return the rows of each statement."""
    return _run_statements(_get_connection(autocommit=True).cursor(), name)


@app.get("/lean/<name>")
def read_lean(name: str) -> Response:
    """Run the simplest SQL for the same data (`lean_rows`); return the rows of each statement."""
    cursor = _get_connection(autocommit=True).cursor()
    psycopg2.extras.register_default_jsonb(cursor, loads=orjson.loads)
    return _run_statements(cursor, name)


def _run_statements(cursor: Any, name: str) -> Response:
    results = []
    for sql, parameters in PLAN[name]["statements"]:
        cursor.execute(sql, parameters)
        names = [column[0] for column in cursor.description]
        results.append([dict(zip(names, row, strict=True)) for row in cursor.fetchall()])
    return _build_response(results)


@app.post("/write/<name>")
def write(name: str) -> Response:
    """Run the captured statements of a write request in one transaction.

    Ids and hashes that the captured request created are replaced with new values. Other values are
    replaced as the body specifies.
    """
    body = orjson.loads(request.get_data())
    plan = PLAN[name]
    values: dict[Any, Any] = dict(body.get("replace", ()))
    values.update((old, str(uuid.uuid4())) for old in plan["uuids"] if old not in values)
    values.update((old, secrets.token_hex(32)) for old in plan["hashes"])
    connection = _get_connection(autocommit=False)
    cursor = connection.cursor()
    for sql, parameters in plan["statements"]:
        cursor.execute(sql, _replace_values(parameters, values))
    connection.commit()
    return _build_response({"data": body})


def _replace_values(value: Any, values: dict[Any, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _replace_values(item, values) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace_values(item, values) for item in value]
    if isinstance(value, int) and abs(value) > _MIN_LOCK_KEY:
        # This is an advisory lock key. With the captured key, all requests would wait in turn.
        return secrets.randbits(62)
    return values.get(value, value) if isinstance(value, str) else value


@app.post("/login")
def login() -> Response:
    """Compute one Argon2 hash, and run the captured statements of a login."""
    passwords.verify_password(PLAN["password_hash"], PLAN["password"])
    return write("login")
