"""A full disk: large writes are refused until there is space, and other operations still work."""

import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from flask import Flask

from app.kit import container
from app.kit.storage.store import STAGING
from tests.documents.artifacts.conftest import make_pdf, upload
from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.scrape import get_metric
from tests.factories.workspace import Workspace, tag
from tests.kit.jobs.workshop import make_due

EVERYTHING = 1 << 60
"""A reserve that is larger than any disk."""

Full = Callable[[], AbstractContextManager[None]]


@pytest.fixture
def full(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Full:
    """Return a context manager during which less than the reserve is free."""

    @contextmanager
    def fill() -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(container.current().reserve, "bytes", EVERYTHING)
            yield

    return fill


def _refusals(app: Flask, operation: str) -> float:
    return get_metric(app, "labeling_storage_refusals_total", operation=operation)


def _refused(answer: Any) -> None:
    check_error(answer, 503, "service_unavailable", details={"reason": "storage_full"})
    assert int(answer.headers["Retry-After"]) > 0


def _staged() -> list[str]:
    return [entry.key for entry in container.current().storage.list(STAGING)]


def test_uploads_texts_and_exports_are_refused_and_counted(org: Org, full: Full) -> None:
    api = org.api("admin")
    before = [_refusals(org.app, name) for name in ("upload", "text", "export")]
    staged = _staged()
    with full():
        _refused(upload(api, make_pdf("a"), "a.pdf"))
        _refused(api.post("/artifacts", {"name": "a.txt", "text": "a"}))
        _refused(api.post("/exports", {"format": "jsonl"}))
        assert get_metric(org.app, "labeling_storage_reserve_bytes") == EVERYTHING
    after = [_refusals(org.app, name) for name in ("upload", "text", "export")]
    assert after == [number + 1 for number in before]
    assert api.get("/artifacts").json["meta"]["total"] == 0
    assert api.get("/exports").json["meta"]["total"] == 0
    assert _staged() == staged
    assert upload(api, make_pdf("a"), "a.pdf").status_code == 201
    assert api.post("/artifacts", {"name": "a.txt", "text": "a"}).status_code == 201
    assert api.post("/exports", {"format": "jsonl"}).status_code == 202


def test_reading_and_labeling_go_on(org: Org, full: Full, work: Callable[[], None]) -> None:
    api = org.api("admin")
    artifact = upload(api, make_pdf("a page"), "a.pdf").json["data"]["id"]
    work()
    workspace = Workspace(org)
    tag_set = workspace.draft()
    with full():
        for path in ("", f"/{artifact}", f"/{artifact}/text", f"/{artifact}/content"):
            assert api.get(f"/artifacts{path}").status_code == 200, path
        image = api.get(f"/artifacts/{artifact}/pages/1/image?width=100")
        assert image.status_code == 200
        assert image.data.startswith(b"\x89PNG")
        saved = workspace.save(tag_set, [tag("number", "A-1")])
        assert saved.status_code == 200, saved.json
    again = api.get(f"/artifacts/{artifact}/pages/1/image?width=100")
    assert again.data == image.data, "drawn again, as there was no space to keep it"


def test_readiness_tells_of_it_and_stays(org: Org, full: Full) -> None:
    client = org.app.test_client()
    assert client.get("/health/ready").json["checks"]["storage"] == "ok"
    with full():
        answer = client.get("/health/ready")
        assert (answer.status_code, answer.json["status"]) == (200, "ready")
        assert answer.json["checks"]["storage"] == "full"


class _Body(io.BytesIO):
    """A request body that is received while the disk becomes full."""

    def __init__(self, data: bytes, fill: Callable[[], None]) -> None:
        super().__init__(data)
        self._fill = fill

    def read(self, size: int | None = -1) -> bytes:
        self._look()
        return super().read(size)

    def readinto(self, buffer: Any) -> int:
        self._look()
        return super().readinto(buffer)

    def _look(self) -> None:
        if self.tell() > 2 * 1024 * 1024:
            self._fill()


def test_an_upload_is_given_up_when_the_disk_fills_up_under_it(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = org.api("admin")
    staged = _staged()
    head = (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n'
        b"Content-Type: text/plain\r\n\r\n"
    )
    data = head + b"y" * 6 * 1024 * 1024 + b"\r\n--x--\r\n"
    with monkeypatch.context() as patch:
        body = _Body(data, lambda: patch.setattr(container.current().reserve, "bytes", EVERYTHING))
        answer = api.request(
            "POST",
            "/artifacts",
            input_stream=body,
            content_type="multipart/form-data; boundary=x",
            content_length=len(data),
        )
    _refused(answer)
    assert _staged() == staged


def test_documents_wait_to_be_read_until_there_is_space(
    org: Org, full: Full, work: Callable[[], None]
) -> None:
    api = org.api("admin")
    artifact = upload(api, make_pdf("a page"), "a.pdf").json["data"]["id"]
    with full():
        work()
        assert api.get(f"/artifacts/{artifact}").json["data"]["status"] == "processing"
    make_due(org)
    work()
    assert api.get(f"/artifacts/{artifact}").json["data"]["status"] == "ready"


def test_an_export_waits_for_space(org: Org, full: Full, work: Callable[[], None]) -> None:
    api = org.api("admin")
    export = api.post("/exports", {"format": "jsonl"}).json["data"]["id"]
    staged = _staged()
    with full():
        work()
        assert api.get(f"/exports/{export}").json["data"]["status"] == "queued"
        assert _staged() == staged
    make_due(org)
    work()
    assert api.get(f"/exports/{export}").json["data"]["status"] == "completed"
    with full():
        assert api.get(f"/exports/{export}/download").status_code == 200
