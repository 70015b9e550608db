"""Check that kills of the worker that deletes files lose no file and leave no stray file."""

from pathlib import Path
from typing import Any

from flask import Flask
from sqlalchemy import text

from app.kit import container, db, tenancy
from app.kit.storage import build_blob_key
from tests.documents.artifacts.conftest import create_text
from tests.factories import Org, make_org, run_jobs_of
from tests.factories.processes import run_script

ROOT = Path(__file__).parents[2]
DOCUMENTS = 25
# The worker is killed before the n-th call of a method of the storage. It deletes the files of 20
# documents in a transaction, then the images of their pages, and then does the same with the rest.
KILLS = {("delete", 8): 7, ("delete", 21): 40, ("clear", 1): 20, ("clear", 23): 47}
"""Maps each method and n to the number of files that are deleted by then."""
_RUN = """
import itertools, os, signal, sys
from uuid import UUID
from app.factory import create_app
from app.kit.storage import Storage
from tests.factories import Org, run_jobs_of

app = create_app(os.environ, with_api=False)

def die_at(method, point):
    calls, original = itertools.count(1), getattr(Storage, method)

    def call(storage, key):
        if next(calls) == point:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(storage, key)

    setattr(Storage, method, call)

for argument in sys.argv[1:]:
    organization_id, method, point = argument.split(":")
    # The parent has no connections, so each child opens its own connections.
    child = os.fork()
    if child == 0:
        die_at(method, int(point))
        run_jobs_of(Org(app, UUID(organization_id), ""), "bulk")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print("killed" if os.WIFSIGNALED(status) else f"ended {status}", flush=True)
"""
_EXPIRE_LEASES = """
UPDATE jobs SET leased_until = now() WHERE organization_id = :org AND leased_until > now()
"""
_COUNT_UNFINISHED = """
SELECT count(*) FROM jobs WHERE organization_id = :org AND queue = 'bulk' AND status <> 'completed'
"""


def _list_files(org: Org) -> set[str]:
    return {entry.key for entry in container.current().storage.list(f"organizations/{org.id}")}


def _create_document(org: Org, content: str) -> dict[str, Any]:
    return {**create_text(org.api(), content), "text": content}


def _delete_documents(org: Org) -> list[dict[str, Any]]:
    """Create and delete documents that have an image of a page each; return them by digest."""
    documents = [_create_document(org, f"Document {n} of {org.slug}") for n in range(DOCUMENTS)]
    for document in documents:
        key = f"{build_blob_key(org.id, document['sha256'])}.pages/1"
        container.current().storage.write(key, [b"image"])
    body = {"artifact_ids": [document["id"] for document in documents]}
    answer = org.api("admin").post("/artifacts/bulk-delete", body)
    assert answer.json["data"]["succeeded"] == DOCUMENTS
    assert len(_list_files(org)) == 2 * DOCUMENTS
    return sorted(documents, key=lambda document: document["sha256"])


def _execute(org: Org, statement: str) -> Any:
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        return session.execute(text(statement), {"org": org.id})


def test_files_are_deleted_after_kills_and_those_uploaded_again_are_kept(
    app: Flask, environ: dict[str, str]
) -> None:
    runs = [(org := make_org(app), _delete_documents(org), *run) for run in KILLS.items()]
    arguments = [f"{org.id}:{way}:{n}" for org, _, (way, n), _ in runs]
    output = run_script(_RUN, *arguments, env={**environ, "PYTHONPATH": str(ROOT)})
    assert output.split() == ["killed"] * len(runs)
    for org, documents, _, deleted_count in runs:
        assert len(_list_files(org)) == 2 * DOCUMENTS - deleted_count
        # The file of the first document is deleted; that of the last one mostly is not.
        again = [_create_document(org, documents[n]["text"]) for n in (0, -1)]
        _execute(org, _EXPIRE_LEASES)
        run_jobs_of(org, "bulk")
        assert _execute(org, _COUNT_UNFINISHED).scalar_one() == 0
        kept = {build_blob_key(org.id, document["sha256"]) for document in again}
        # The images of pages that belong to documents may stay.
        assert {key.partition(".pages")[0] for key in _list_files(org)} == kept
        for document in again:
            content = org.api("viewer").get(f"/artifacts/{document['id']}/content")
            assert content.data == document["text"].encode()
