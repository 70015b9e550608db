"""`flask import` and `flask crawl`."""

from pathlib import Path
from typing import Any

import pytest

from tests.factories import Org

pytestmark = pytest.mark.usefixtures("import_workers")


def test_a_file_is_imported(flask: Any, org: Org, tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    file.write_text('{"text": "One"}\n{"text": "Two"}\n')
    record = flask.json("import", str(file), "--org", org.slug)
    assert (record["status"], record["found"], record["created"]) == ("completed", 2, 2)
    listed = org.api("viewer").get("/artifacts").json
    assert {listed_job["name"] for listed_job in listed["data"]} == {"texts-1.txt", "texts-2.txt"}
    assert {listed_job["created_by"] for listed_job in listed["data"]} == {None}


def test_it_does_not_wait_if_asked(flask: Any, org: Org, tmp_path: Path) -> None:
    file = tmp_path / "texts.csv"
    file.write_text("text\nOne\n")
    record = flask.json("import", str(file), "--org", org.slug, "--no-wait")
    assert (record["status"], record["found"]) == ("queued", 0)


def test_a_document_that_fails_is_a_finding(flask: Any, org: Org, tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    file.write_text('{"text": "One"}\n{"text": 2}\n')
    result = flask.run("import", str(file), "--org", org.slug)
    assert result.exit_code == 3, result.output
    assert "completed_with_errors" in result.stdout


def test_a_connector_is_crawled(flask: Any, org: Org, environ: dict[str, str]) -> None:
    folder = Path(environ["CONNECTOR_LOCAL_ROOT"]) / str(org.id)
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("words")
    body = {"name": "Inbox", "type": "local", "settings": {}}
    connector = org.api("admin").post("/connectors", json=body).json["data"]["id"]
    record = flask.json("crawl", connector, "--org", org.slug)
    assert (record["status"], record["created"]) == ("completed", 1)
    folder.rename(folder.with_name(f"{org.id}-moved"))
    failed = flask.run("crawl", connector, "--org", org.slug)
    assert failed.exit_code == 3, failed.output
    assert "The folder does not exist." in failed.stdout
    unknown = "00000000-0000-7000-8000-000000000000"
    assert flask.run("crawl", unknown, "--org", org.slug).exit_code != 0


def test_what_is_refused(flask: Any, org: Org, tmp_path: Path) -> None:
    file = tmp_path / "texts.bin"
    file.write_bytes(b"\x89PNG")
    assert "format" in flask.get_refusal("import", str(file), "--org", org.slug)
    assert "no such organization" in flask.get_refusal("import", str(file), "--org", "nobody")
    schema = "00000000-0000-7000-8000-000000000000"
    refused = flask.get_refusal("import", str(file), "--org", org.slug, "--schema", schema)
    assert "schema does not exist" in refused
    missing = flask.run("import", str(tmp_path / "none"), "--org", org.slug)
    assert missing.exit_code == 2
