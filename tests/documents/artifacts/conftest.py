"""Fixtures that create small documents and list the files in the storage."""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from app.kit import container, db
from app.kit.storage.store import STAGING
from tests.factories import Org
from tests.factories.counts import run_sql
from tests.factories.orgs import Api, get_data
from tests.factories.workspace import Workspace

Stored = Callable[[], list[str]]
Upload = Callable[..., Any]


@pytest.fixture
def stored(app: Flask, org: Org) -> Stored:
    """Return a function that lists the keys of the files of `org` and of newly staged files."""
    storage = container.current().storage

    def staged() -> set[str]:
        return {entry.key for entry in storage.list(STAGING)}

    # A worker that was killed in another test may have left files.
    before = staged()

    def list_keys() -> list[str]:
        own = {entry.key for entry in storage.list(f"organizations/{org.id}")}
        return sorted(own | (staged() - before))

    return list_keys


@pytest.fixture
def workspace(org: Org) -> Workspace:
    """Return the workspace of `org`."""
    return Workspace(org)


def get_storage_path(key: str) -> Path:
    """Return the path on the disk of a file or folder of the storage."""
    return Path(container.settings().storage_url.removeprefix("file://"), key)


def explain(statement: Any, *, disabled: Sequence[str] = ()) -> str:
    """Return the query plan of a statement; `disabled` are planner settings to turn off."""
    compiled = statement.compile(db.engine())
    connection = db.session().connection()
    for setting in disabled:
        connection.exec_driver_sql(f"SET LOCAL {setting} = off")
    plan = "\n".join(connection.exec_driver_sql(f"EXPLAIN {compiled}", compiled.params).scalars())
    db.session().rollback()
    return plan


def list_names(org: Org, query: str, *, by: str = "viewer") -> list[str]:
    """Return the names of the documents in a list that has one page."""
    answer = org.api(by).get(f"/artifacts?{query}")
    assert answer.status_code == 200, answer.json
    assert answer.json["meta"]["total"] == len(answer.json["data"])
    return [document["name"] for document in answer.json["data"]]


def read_document(org: Org, artifact_id: Any) -> dict[str, Any]:
    """Return a document as a viewer sees it."""
    return dict(get_data(org.api("viewer").get(f"/artifacts/{artifact_id}")))


def count_events(org: Org, name: str) -> int:
    """Return the number of events with this name that the organization has emitted."""
    statement = "SELECT count(*) FROM outbox_events WHERE organization_id = :org AND name = :name"
    return int(run_sql(org, statement, name=name)[0][0])


def make_pdf(*pages: str) -> bytes:
    """Return a PDF with a text layer that contains each page's text line by line."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=True)
    for page in pages:
        text = canvas.beginText(72, 760)
        text.setFont("Helvetica", 11)
        text.textLines(page)
        canvas.drawText(text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def make_png(width: int = 40, height: int = 30) -> bytes:
    """Return a gray PNG image of this size."""
    buffer = io.BytesIO()
    Image.new("L", (width, height), 200).save(buffer, "PNG")
    return buffer.getvalue()


def upload(api: Api, data: bytes, name: str, media_type: str | None = None, /, **form: Any) -> Any:
    """Send a file as a multipart form, and return the response."""
    part = (io.BytesIO(data), name) if media_type is None else (io.BytesIO(data), name, media_type)
    return api.request(
        "POST", "/artifacts", data={"file": part, **form}, content_type="multipart/form-data"
    )


def upload_document(api: Api, data: bytes, name: str, **form: Any) -> dict[str, Any]:
    """Create a document from a file, which is not parsed yet."""
    return dict(get_data(upload(api, data, name, **form), 201))


def create_text(api: Api, text: str, name: str = "note.txt", **members: Any) -> dict[str, Any]:
    """Create a document with this text."""
    return dict(get_data(api.post("/artifacts", {"name": name, "text": text, **members}), 201))
