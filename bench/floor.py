"""The floor: a bare Flask route that runs the same SQL with plain psycopg2 and answers with orjson.

No authentication, no tenancy, no validation. The statements are those that the service itself ran
(see `capture`), less the proof of the caller; so both sides do the same work in PostgreSQL.
"""

import json
import os
import threading
from pathlib import Path
from typing import Any

import orjson
import psycopg2
import psycopg2.extras
from flask import Flask, Response, request

psycopg2.extras.register_uuid()
PLAN: dict[str, Any] = json.loads(Path(os.environ["BENCH_PLAN"]).read_text())
app = Flask("floor")
_local = threading.local()


def _connection(*, autocommit: bool) -> Any:
    name = f"connection_{autocommit}"
    found = getattr(_local, name, None)
    if found is None:
        found = psycopg2.connect(os.environ["DATABASE_URL"], options="-c timezone=UTC -c jit=off")
        found.autocommit = autocommit
        setattr(_local, name, found)
        cursor = found.cursor()
        # The owner is bound by the policies too; the floor sees everything.
        cursor.execute("SELECT set_config('app.all_organizations', 'on', false)")
        if not autocommit:
            found.commit()
    return found


def _answer(value: Any) -> Response:
    return Response(orjson.dumps(value, default=str), mimetype="application/json")


@app.get("/")
def ready() -> Response:
    """Ready."""
    return _answer({})


@app.get("/read/<name>")
def read(name: str) -> Response:
    """Run the statements of a read; answer the rows of each."""
    cursor = _connection(autocommit=True).cursor()
    answers = []
    for sql, parameters in PLAN[name]:
        cursor.execute(sql, parameters)
        names = [column[0] for column in cursor.description]
        answers.append([dict(zip(names, row, strict=True)) for row in cursor.fetchall()])
    return _answer(answers)


@app.post("/write/<name>")
def write(name: str) -> Response:
    """Run the statements of a write with the members of the body in place of what was captured."""
    given = orjson.loads(request.get_data())
    connection = _connection(autocommit=False)
    cursor = connection.cursor()
    for sql, parameters in PLAN[name]:
        cursor.execute(sql, replaced(parameters, given))
    connection.commit()
    return _answer({"data": given})


def replaced(parameters: Any, given: dict[str, Any]) -> Any:
    """The captured parameters, with each captured value that `given` names replaced."""
    if isinstance(parameters, dict):
        return {key: _one(value, given) for key, value in parameters.items()}
    return [_one(value, given) for value in parameters]


def _one(value: Any, given: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_one(item, given) for item in value]
    replacement = given.get(f"={value}") if isinstance(value, str | int) else None
    return value if replacement is None else replacement


def hash_login() -> None:
    """Cost of the one hash a login takes; the floor of login pays it too."""
    from app.kit import secrets  # noqa: PLC0415 - only this route needs it

    secrets.verify_password(PLAN["password_hash"], PLAN["password"])


@app.post("/login")
def login() -> Response:
    """One Argon2 hash and the statements of a login."""
    hash_login()
    return write("login")
