"""Tests of deleting documents, their files, and files that belong to no document."""

import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from app.documents.artifacts.queries import creating
from app.documents.artifacts.service import cleaning
from app.documents.artifacts.service import creating as creation
from app.kit import container, db, tenancy
from app.kit.errors import ApiError
from app.kit.ids import uuid7
from app.kit.jobs.handlers import Yielded
from app.kit.storage import build_blob_key
from devserver.postgres import EmbeddedPostgres
from tests.documents.artifacts.conftest import (
    Stored,
    create_text,
    get_storage_path,
    make_pdf,
    read_document,
    upload,
)
from tests.factories import Org, make_due, run_jobs_of
from tests.factories.counts import run_sql
from tests.factories.errors import check_error
from tests.factories.sessions import terminate_backend

Work = Callable[[], None]
_TABLES = ("artifacts", "artifact_texts", "artifact_pages", "tag_sets")


def _count_rows(org: Org) -> int:
    count = "SELECT count(*) AS n FROM {} WHERE organization_id = :org"
    return sum(run_sql(org, count.format(table))[0].n for table in _TABLES)


def _sweep(org: Org) -> int:
    with org.app.app_context(), tenancy.across_organizations(reason="as the job"):
        return cleaning.sweep(lambda _position: db.session().commit())


def _age(key: str, hours: float) -> None:
    """Age a stored file: set its modification time to `hours` ago."""
    then = time.time() - hours * 3600
    os.utime(get_storage_path(key), (then, then))


def _write(key: str, data: bytes = b"stray") -> str:
    container.current().storage.write(key, [data])
    return key


def test_rows_are_deleted_immediately_and_files_later(org: Org, stored: Stored, work: Work) -> None:
    api = org.api("admin")
    document = upload(api, make_pdf("Lease"), "lease.pdf").json["data"]
    work()
    path = f"/artifacts/{document['id']}"
    api.get(f"{path}/pages/1/image?width=100")
    assert len(stored()) == 2
    answer = api.delete(path)
    assert (answer.status_code, answer.data) == (204, b"")
    assert api.get(path).status_code == 404
    assert api.delete(path).status_code == 404
    assert _count_rows(org) == 0
    assert len(stored()) == 2
    work()
    assert stored() == []


def test_tag_sets_are_deleted_with_their_document(org: Org, work: Work) -> None:
    api = org.api("admin")
    fields = [{"key": "a", "type": "text"}]
    schema = api.post("/schemas", {"name": "S", "fields": fields}).json["data"]["id"]
    for action, body in (("publish", {}), ("activate", None)):
        api.post(f"/schemas/{schema}/{action}", body)
    document = create_text(api, "text", schema_id=schema)
    path = f"/artifacts/{document['id']}"
    assert org.api("labeler").post(f"{path}/tag-sets", {}).status_code == 201
    assert api.delete(path).status_code == 204
    assert _count_rows(org) == 0


def test_the_revision_must_be_current(org: Org) -> None:
    path = f"/artifacts/{create_text(org.api('labeler'), 'text')['id']}"
    answer = org.api("admin").delete(path, headers={"If-Match": '"7"'})
    check_error(answer, 409, "stale_precondition", details={"current_revision": 1})
    assert org.api("admin").delete(path, headers={"If-Match": '"1"'}).status_code == 204


def test_another_organizations_document_cannot_be_deleted(org: Org, other_org: Org) -> None:
    path = f"/artifacts/{create_text(other_org.api('labeler'), 'text')['id']}"
    absent = org.api("admin").delete(f"/artifacts/{uuid7()}")
    assert org.api("admin").delete(path).data == absent.data
    assert other_org.api("viewer").get(path).status_code == 200


def test_content_uploaded_again_before_the_job_is_kept(
    org: Org, stored: Stored, work: Work
) -> None:
    api = org.api("admin")
    first = create_text(api, "the same")
    api.delete(f"/artifacts/{first['id']}")
    second = create_text(api, "the same")
    work()
    assert stored() == [build_blob_key(org.id, second["sha256"])]
    assert api.get(f"/artifacts/{second['id']}/content").data == b"the same"


def test_concurrent_deletion_and_upload_lose_nothing(org: Org) -> None:
    """The job that deletes the file races with an upload of its content."""
    for turn in range(12):
        content = f"content {turn}"
        first = create_text(org.api("labeler"), content)
        assert org.api("admin").delete(f"/artifacts/{first['id']}").status_code == 204

        def clean(digest: str = first["sha256"]) -> None:
            with org.app.app_context(), tenancy.organization(org.id), db.transaction():
                cleaning.delete_contents([digest], lambda: None)

        def send(content: str = content) -> Any:
            return upload(org.api("labeler"), content.encode(), "a.txt")

        with ThreadPoolExecutor(2) as threads:
            cleanup, sending = threads.submit(clean), threads.submit(send)
            cleanup.result()
            second = sending.result().json["data"]
        download = org.api("viewer").get(f"/artifacts/{second['id']}/content")
        assert download.data == content.encode()


def test_changes_of_the_same_content_wait_for_each_other(org: Org) -> None:
    """The lock serializes the upload and the deletion in the race above."""
    digest = "ab" * 32
    with org.app.app_context(), tenancy.organization(org.id):
        creating.lock_content_and_check_schema(digest)
        with ThreadPoolExecutor(1) as threads:

            def other() -> bool:
                with org.app.app_context(), tenancy.organization(org.id), db.transaction() as s:
                    s.execute(text("SET LOCAL lock_timeout = '100ms'"))
                    return creating.lock_content_and_check_schema(digest)

            with pytest.raises(Exception, match="lock timeout"):
                threads.submit(other).result()
        db.session().rollback()
        assert creating.lock_content_and_check_schema(digest)
        db.session().rollback()


def test_a_failure_after_the_file_was_stored_removes_it(
    org: Org, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ApiError("service_unavailable", "Out of order.")

    monkeypatch.setattr(creation.events, "emit", fail)
    assert upload(org.api("labeler"), b"text of a file", "a.txt").status_code == 503
    assert org.api("labeler").post("/artifacts", {"name": "a", "text": "text"}).status_code == 503
    assert stored() == []
    assert _count_rows(org) == 0


def test_a_request_that_lost_its_session_keeps_the_file_of_another(
    org: Org, stored: Stored, postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first request loses its session and lock; a second request stores the same content."""
    insert, answers = creation._insert, []

    def lose(*args: Any, **members: Any) -> None:
        monkeypatch.setattr(creation, "_insert", insert)
        pid = db.session().execute(text("SELECT pg_backend_pid()")).scalar_one()

        def second() -> Any:
            terminate_backend(postgres.admin_url, pid)
            return upload(org.api("labeler"), b"the same bytes", "a.txt")

        with ThreadPoolExecutor(1) as threads:
            answers.append(threads.submit(second).result())
        insert(*args, **members)

    monkeypatch.setattr(creation, "_insert", lose)
    lost = upload(org.api("labeler"), b"the same bytes", "a.txt")
    assert lost.status_code >= 500
    (stored_answer,) = answers
    assert stored_answer.status_code == 201
    document = stored_answer.json["data"]
    assert stored() == [build_blob_key(org.id, document["sha256"])]
    download = org.api("viewer").get(f"/artifacts/{document['id']}/content")
    assert download.data == b"the same bytes"


def test_a_deletion_that_lost_its_session_keeps_the_file_of_a_new_document(
    org: Org, postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job loses its session while it deletes the first of two files; the second is uploaded."""
    by_digest = {sha256(content).hexdigest(): content for content in (b"one text", b"another text")}
    _, digest = sorted(by_digest)
    uploads = [upload(org.api("labeler"), content, "a.txt") for content in by_digest.values()]
    run_jobs_of(org)
    for answer in uploads:
        path = f"/artifacts/{answer.json['data']['id']}"
        assert org.api("admin").delete(path).status_code == 204
    storage, answers = container.current().storage, []
    delete = storage.delete

    def lose(key: str) -> None:
        monkeypatch.setattr(storage, "delete", delete)
        delete(key)
        pid = db.session().execute(text("SELECT pg_backend_pid()")).scalar_one()

        def upload_again() -> Any:
            terminate_backend(postgres.admin_url, pid)
            return upload(org.api("labeler"), by_digest[digest], "a.txt")

        with ThreadPoolExecutor(1) as threads:
            answers.append(threads.submit(upload_again).result())

    monkeypatch.setattr(storage, "delete", lose)
    run_jobs_of(org, "bulk")
    (answer,) = answers
    assert answer.status_code == 201
    download = org.api("viewer").get(f"/artifacts/{answer.json['data']['id']}/content")
    assert download.data == by_digest[digest]


def test_the_check_before_a_deletion_notices_a_lost_session(
    org: Org, postgres: EmbeddedPostgres
) -> None:
    """With an infinite `checked_at`, the last query counts as recent, so no query is sent."""
    with org.app.app_context(), tenancy.organization(org.id):
        pid = db.session().execute(text("SELECT pg_backend_pid()")).scalar_one()
        assert creating.check_connection(math.inf) == math.inf
        terminate_backend(postgres.admin_url, pid)
        with pytest.raises(OperationalError):
            creating.check_connection(math.inf)
        db.session().rollback()


def test_the_deletion_of_page_images_leaves_no_folder(org: Org) -> None:
    api = org.api("admin")
    document = upload(api, make_pdf("Lease"), "lease.pdf").json["data"]
    run_jobs_of(org)
    path = f"/artifacts/{document['id']}"
    assert api.get(f"{path}/pages/1/image?width=100").status_code == 200
    folder = get_storage_path(f"{build_blob_key(org.id, document['sha256'])}.pages")
    assert folder.is_dir()
    assert api.delete(path).status_code == 204
    run_jobs_of(org)
    assert not folder.exists()


def test_the_sweep_deletes_only_old_stray_files(org: Org, stored: Stored) -> None:
    document = create_text(org.api("labeler"), "kept")
    content = build_blob_key(org.id, document["sha256"])
    _age(content, hours=1000)
    fresh_stray = _write(build_blob_key(org.id, "aa" * 32))
    stray = _write(build_blob_key(org.id, "bb" * 32))
    stray_image = _write(f"{stray}.pages/1-100.png")
    orphan_image = _write(f"{build_blob_key(org.id, 'cc' * 32)}.pages/1-100.png")
    recent_image = _write(f"{content}.pages/1-100.png")
    old_image = _write(f"{content}.pages/2-100.png")
    export = _write(f"organizations/{org.id}/exports/some.jsonl")
    for key in (stray, stray_image, orphan_image, recent_image):
        _age(key, hours=2)
    _age(old_image, hours=200)
    _age(export, hours=1000)
    assert _sweep(org) >= 3
    assert stored() == sorted([content, fresh_stray, recent_image, export])


def test_staged_files_are_kept_for_a_day(org: Org, stored: Stored, work: Work) -> None:
    """A batch of a crawl keeps its staged files for as long as its source is slow."""
    staged = _write(f"staging/{'d' * 32}")
    for hours in (23, 25):
        _age(staged, hours=hours)
        assert stored() == [staged]
        make_due(org.app, "artifacts.sweep", "kit.sweep")
        work()
    assert stored() == []


def test_the_sweep_continues_after_the_folder_of_its_last_checkpoint(
    org: Org, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cleaning, "_BATCH_SIZE", 1)
    first, second, third = (build_blob_key(org.id, digit * 64) for digit in "abc")
    positions = [f"organizations/{org.id}"]

    def stop(position: str) -> None:
        db.session().commit()
        positions.append(position)
        raise Yielded

    for key in (first, second, third):
        _age(_write(key), hours=2)
    with org.app.app_context(), tenancy.across_organizations(reason="as the job"):
        for remaining in ([second, third], [third]):
            with pytest.raises(Yielded):
                cleaning.sweep(stop, positions[-1])
            assert stored() == remaining
        assert positions[1:] == [key.rpartition("/")[0] for key in (first, second)]
        # A folder before the position is left to the next sweep.
        _age(_write(first), hours=2)
        cleaning.sweep(lambda _position: db.session().commit(), positions[-1])
    assert stored() == [first]


def test_the_sweep_leaves_no_empty_folders_of_page_images(org: Org) -> None:
    document = create_text(org.api("labeler"), "kept")
    folder = f"{build_blob_key(org.id, document['sha256'])}.pages"
    _age(_write(f"{folder}/1-100.png"), hours=200)
    _sweep(org)
    assert not get_storage_path(folder).exists()
    assert get_storage_path(folder).parent.exists()


def test_the_sweep_compares_contents_by_organization(
    org: Org, other_org: Org, stored: Stored
) -> None:
    """An organization's document does not protect a stray copy in another organization."""
    document = create_text(other_org.api("labeler"), "theirs")
    foreign_content = build_blob_key(other_org.id, document["sha256"])
    stray_copy = _write(build_blob_key(org.id, document["sha256"]))
    for key in (foreign_content, stray_copy):
        _age(key, hours=2)
    _sweep(org)
    assert stored() == []
    assert container.current().storage.exists(foreign_content)


def test_the_jobs_delete_stray_files(org: Org, stored: Stored, work: Work) -> None:
    stray = _write(build_blob_key(org.id, "ee" * 32))
    _age(stray, hours=2)
    document = create_text(org.api("labeler"), "text")
    org.api("labeler").post(f"/artifacts/{document['id']}/claim")
    expire = "UPDATE artifacts SET claim_expires_at = now() WHERE id = :id"
    run_sql(org, expire, id=document["id"])
    # Make the runs of this hour and this minute due again.
    make_due(org.app, "artifacts.sweep", "artifacts.expire_claims")
    work()
    assert stored() == [build_blob_key(org.id, document["sha256"])]
    assert read_document(org, document["id"])["status"] == "ready"
