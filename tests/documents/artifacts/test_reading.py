"""Lists, full-text search, content, text, pages and page images."""

import io
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

import orjson
import pytest
from PIL import Image

from app.documents.artifacts.models.documents import Artifact
from app.documents.artifacts.service import images
from app.engines import documents
from app.engines.documents.layout import parse_text
from app.engines.sandbox.model import SandboxUnavailable
from app.kit import container, db, tenancy
from app.kit.ids import uuid7
from app.kit.storage import build_blob_key
from tests.documents.artifacts.conftest import (
    Stored,
    create_text,
    list_names,
    make_pdf,
    make_png,
    upload,
)
from tests.factories import Org
from tests.factories.errors import check_error

Work = Callable[[], None]
SEARCHED_BYTES = 240_000


def _change_document(org: Org, artifact_id: str, **values: Any) -> None:
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        row = session.get(Artifact, (org.id, UUID(artifact_id)))
        assert row is not None
        for name, value in values.items():
            setattr(row, name, value)


# Only reviewers can filter by gold.
_list_names = partial(list_names, by="reviewer")


def test_the_list_is_filtered_by_every_property(org: Org, other_org: Org) -> None:
    api = org.api("labeler")
    create_text(other_org.api("labeler"), "foreign")
    schema = org.api("admin").post("/schemas", {"name": "S"}).json["data"]["id"]
    create_text(api, "The first document is in English, or so one hopes.", "a", schema_id=schema)
    create_text(api, "Das zweite Dokument ist auf Deutsch geschrieben.", "b", external_id="e-2")
    create_text(api, "third", "c", gold=True)
    create_text(api, "fourth", "d", archived=True)
    assigned = create_text(api, "fifth", "e")
    somebody, team = uuid7(), uuid7()
    _change_document(
        org,
        assigned["id"],
        status="in_review",
        assignees=[
            {"user_id": str(somebody), "team_id": None},
            {"user_id": None, "team_id": str(team)},
        ],
    )
    assert _list_names(org, "") == ["e", "c", "b", "a"]
    assert _list_names(org, f"schema_id={schema}") == ["a"]
    assert _list_names(org, f"schema_id={uuid7()}") == []
    assert _list_names(org, "language=de") == ["b"]
    assert _list_names(org, "external_id=e-2") == ["b"]
    assert _list_names(org, "gold=true") == ["c"]
    assert _list_names(org, "archived=true") == ["d"]
    assert _list_names(org, "archived=any&gold=false") == ["e", "d", "b", "a"]
    assert _list_names(org, "status=in_review") == ["e"]
    assert _list_names(org, "status=in_review&status=ready") == ["e", "c", "b", "a"]
    assert _list_names(org, "media_type=text/plain&status=ready") == ["c", "b", "a"]
    assert _list_names(org, "media_type=application/pdf") == []
    assert _list_names(org, f"assignee={somebody}") == _list_names(org, f"assignee={team}") == ["e"]
    assert _list_names(org, f"assignee={uuid7()}") == []
    assert _list_names(org, "created_after=2000-01-01T00:00:00Z") == ["e", "c", "b", "a"]
    assert _list_names(org, "created_before=2000-01-01T00:00:00Z") == []


@pytest.mark.parametrize(
    "query", ["status=gone", "gold=1", "archived=yes", "schema_id=x", "q=", "assignee=me"]
)
def test_an_invalid_filter_is_422(org: Org, query: str) -> None:
    answer = org.api("viewer").get(f"/artifacts?{query}")
    assert answer.status_code == 422
    assert answer.json["error"]["field"].startswith(query.partition("=")[0])


def test_the_list_is_sorted_and_paged(org: Org) -> None:
    api = org.api("labeler")
    for name, priority in (("b", 10), ("c", 90), ("a", 50)):
        create_text(api, name, name, priority=priority)
    assert _list_names(org, "sort=created_at") == ["b", "c", "a"]
    assert _list_names(org, "sort=name") == ["a", "b", "c"]
    assert _list_names(org, "sort=-name") == ["c", "b", "a"]
    assert _list_names(org, "sort=-priority") == ["c", "a", "b"]
    assert _list_names(org, "sort=updated_at") == ["b", "c", "a"]
    first = api.get("/artifacts?sort=name&page_size=2").json
    rest = api.get(f"/artifacts?sort=name&page_size=2&cursor={first['meta']['next_cursor']}").json
    assert [d["name"] for d in first["data"] + rest["data"]] == ["a", "b", "c"]
    assert (first["meta"]["total"], rest["meta"]["total"]) == (3, 3)
    assert rest["meta"]["next_cursor"] is None


def test_search_finds_words_of_name_and_text(org: Org, other_org: Org, work: Work) -> None:
    api = org.api("labeler")
    create_text(api, "Rent of the premises in Köln, due monthly", "lease 2031.txt")
    create_text(api, "Invoice for the delivery of premises", "bill.txt")
    create_text(other_org.api("labeler"), "premises of somebody else")
    upload(api, make_pdf("Warehouse premises"), "warehouse.pdf")
    assert _list_names(org, "q=warehouse.pdf") == ["warehouse.pdf"]
    assert _list_names(org, "q=warehouse+premises") == []
    work()
    assert _list_names(org, "q=warehouse+premises") == ["warehouse.pdf"]
    assert _list_names(org, "q=premises") == ["warehouse.pdf", "bill.txt", "lease 2031.txt"]
    assert _list_names(org, "q=PREMISES+köln") == ["lease 2031.txt"]
    assert _list_names(org, "q=premises+-invoice&sort=name") == ["lease 2031.txt", "warehouse.pdf"]
    assert _list_names(org, 'q="due+monthly"') == ["lease 2031.txt"]
    assert _list_names(org, 'q="monthly+due"') == []
    assert _list_names(org, "q=2031") == ["lease 2031.txt"]
    for odd in ("'", '"', "\\", "!", ":*", "&|", "%", "(", "%EF%BF%BE", "<->"):
        assert org.api("viewer").get("/artifacts", query_string={"q": odd}).status_code == 200


@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"{number:x}-{number * 7:x}" for number in range(60_000)),
        " ".join(f"a{number:x}.de/{number:x}" for number in range(60_000)),
        " ".join(chr(0x4E00 + number % 20_000) + chr(97 + number // 20_000)
                 for number in range(100_000)),
        "word" * 100_000,
        " ".join(f"{number}" for number in range(300_000)),
    ],
    ids=["hyphens", "addresses", "han", "one long word", "numbers"],
)  # fmt: skip
def test_any_text_can_be_searched(org: Org, text: str) -> None:
    assert len(text.encode()) > SEARCHED_BYTES
    create_text(org.api("labeler"), text, "findable.txt")
    assert _list_names(org, "q=findable.txt") == ["findable.txt"]


def test_content_is_the_original_bytes(org: Org, work: Work) -> None:
    data = make_pdf("Lease")
    path = f"/artifacts/{upload(org.api('labeler'), data, 'lease ü.pdf').json['data']['id']}"
    api = org.api("viewer")
    answer = api.get(f"{path}/content")
    assert answer.status_code == 200
    assert answer.data == data
    assert answer.mimetype == "application/pdf"
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="lease _.pdf"')
    assert "filename*=UTF-8''lease%20%C3%BC.pdf" in answer.headers["Content-Disposition"]
    assert answer.headers["Content-Security-Policy"].startswith("sandbox")
    part = api.get(f"{path}/content", headers={"Range": "bytes=2-5"})
    assert (part.status_code, part.data) == (206, data[2:6])
    assert part.headers["Content-Range"] == f"bytes 2-5/{len(data)}"
    last = api.get(f"{path}/content", headers={"Range": "bytes=-3"})
    assert last.data == data[-3:]
    beyond = api.get(f"{path}/content", headers={"Range": f"bytes={len(data)}-"})
    assert (beyond.status_code, beyond.json["error"]["code"]) == (416, "range_not_satisfiable")
    assert beyond.headers["Content-Range"] == f"bytes */{len(data)}"
    tag = answer.headers["ETag"]
    assert api.get(f"{path}/content", headers={"If-None-Match": tag}).status_code == 304


def test_a_missing_file_is_not_found(org: Org) -> None:
    document = create_text(org.api("labeler"), "text")
    container.current().storage.delete(build_blob_key(org.id, document["sha256"]))
    assert org.api("viewer").get(f"/artifacts/{document['id']}/content").status_code == 404


def test_text_has_lengths_and_spans_in_code_points(org: Org) -> None:
    text = "Erste Seite: 漢字 und 😀.\fZweite Seite.\nMit zwei Zeilen."
    document = create_text(org.api("labeler"), text)
    document_text = org.api("viewer").get(f"/artifacts/{document['id']}/text").json["data"]
    assert document_text["text"] == text
    assert document_text["length"] == len(text)
    assert document_text["language"] == "de"
    first, second = document_text["pages"]
    assert (first["number"], first["start"], first["end"]) == (1, 0, text.index("\f") + 1)
    assert text[second["start"] : second["end"]] == "Zweite Seite.\nMit zwei Zeilen."


def test_words_of_flowing_text_are_laid_out_as_the_engine_does(org: Org) -> None:
    text = "\n".join(f"Line {number} says something." for number in range(200))
    path = f"/artifacts/{create_text(org.api('labeler'), text)['id']}/pages"
    laid_out = orjson.loads(orjson.dumps([page.words for page in parse_text(text).pages]))
    expected = [[{**word, "origin": "text"} for word in words] for words in laid_out]
    api = org.api("viewer")
    answer = api.get(path)
    assert answer.json["meta"]["total"] == len(expected) == 4
    assert [page["number"] for page in answer.json["data"]] == [1, 2, 3, 4]
    assert [page["words"] for page in answer.json["data"]] == expected
    word = answer.json["data"][1]["words"][0]
    assert text[word["start"] : word["end"]] == word["text"]
    first = api.get(f"{path}?page_size=1&sort=-number").json
    assert first["data"][0]["words"] == expected[3]
    after = api.get(f"{path}?page_size=1&sort=-number&cursor={first['meta']['next_cursor']}").json
    assert after["data"][0]["words"] == expected[2]


def test_words_of_a_pdf_have_boxes_on_its_pages(org: Org, work: Work) -> None:
    answer = upload(org.api("labeler"), make_pdf("Lease of land", "Second"), "lease.pdf")
    path = f"/artifacts/{answer.json['data']['id']}"
    refused = org.api("viewer").get(f"{path}/pages")
    assert refused.status_code == 409
    assert refused.json["error"]["details"] == {"state": "processing"}
    work()
    pages = org.api("viewer").get(f"{path}/pages").json["data"]
    text = org.api("viewer").get(f"{path}/text").json["data"]["text"]
    assert [word["text"] for word in pages[0]["words"]] == ["Lease", "of", "land"]
    assert [word["text"] for word in pages[1]["words"]] == ["Second"]
    for page in pages:
        assert (round(page["width"]), round(page["height"]), page["rotation"]) == (595, 842, 0)
        for word in page["words"]:
            x0, y0, x1, y1 = word["box"]
            assert 0 <= x0 < x1 <= 1
            assert 0 <= y0 < y1 <= 1
            assert page["start"] <= word["start"] < word["end"] <= page["end"]
            assert text[word["start"] : word["end"]] == word["text"]


@pytest.mark.parametrize("form", ["png", "jpeg", "webp"])
def test_a_page_is_rendered_once_and_cached(
    org: Org, stored: Stored, work: Work, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = upload(org.api("labeler"), make_pdf("Lease", "Second"), "lease.pdf")
    path = f"/artifacts/{answer.json['data']['id']}/pages"
    work()
    api, query = org.api("viewer"), f"width=300&format={form}"
    rendered = api.get(f"{path}/2/image?{query}")
    assert rendered.status_code == 200
    assert rendered.mimetype == f"image/{form}"
    with Image.open(io.BytesIO(rendered.data)) as image:
        assert (image.format, image.width, image.height) == (form.upper(), 300, 425)
    digest = answer.json["data"]["sha256"]
    assert stored() == [
        build_blob_key(org.id, digest),
        f"{build_blob_key(org.id, digest)}.pages/2-300.{form}",
    ]
    monkeypatch.setattr(documents, "render", None)
    assert api.get(f"{path}/2/image?{query}").data == rendered.data
    part = api.get(f"{path}/2/image?{query}", headers={"Range": "bytes=1-3"})
    assert part.data == rendered.data[1:4]


def test_other_widths_are_rendered_but_not_cached(org: Org, stored: Stored) -> None:
    document = create_text(org.api("labeler"), "Some text")
    answer = org.api("viewer").get(f"/artifacts/{document['id']}/pages/1/image?width=123")
    with Image.open(io.BytesIO(answer.data)) as image:
        assert (image.format, image.width) == ("PNG", 123)
    assert len(stored()) == 1


def test_missing_pages_are_not_found(org: Org) -> None:
    document = create_text(org.api("labeler"), "Some text")
    api, path = org.api("viewer"), f"/artifacts/{document['id']}/pages"
    for number in ("0", "2", "999999999", "-1", "x", "1.0"):
        assert api.get(f"{path}/{number}/image").status_code == 404
    for query in ("width=63", "width=4001", "width=x", "format=gif"):
        assert api.get(f"{path}/1/image?{query}").status_code == 422


def test_an_image_that_would_be_too_large_is_refused(org: Org, work: Work) -> None:
    answer = upload(org.api("labeler"), make_png(1, 2000), "strip.png")
    work()
    path = f"/artifacts/{answer.json['data']['id']}/pages/1/image"
    refused = org.api("viewer").get(f"{path}?width=4000")
    assert refused.status_code == 400
    assert refused.json["error"]["field"] == "width"


def test_the_number_of_concurrent_renderings_is_limited(org: Org) -> None:
    document = create_text(org.api("labeler"), "Some text")
    path = f"/artifacts/{document['id']}/pages/1/image"
    cached = org.api("viewer").get(f"{path}?width=200")
    for _ in range(images.MAX_CONCURRENT_RENDERINGS):
        assert images._rendering_slots.acquire(timeout=5)
    try:
        answer = org.api("viewer").get(path)
        assert org.api("viewer").get(f"{path}?width=200").data == cached.data
    finally:
        for _ in range(images.MAX_CONCURRENT_RENDERINGS):
            images._rendering_slots.release()
    check_error(answer, 503, "service_unavailable", details={"reason": "busy"})
    assert answer.headers["Retry-After"] == "1"


def test_an_image_waits_for_a_process_that_renders_it(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = create_text(org.api("labeler"), "Some text")

    def render(*_: object, **__: object) -> bytes:
        raise SandboxUnavailable("The fork server does not start processes.")

    monkeypatch.setattr(documents, "render_text", render)
    path = f"/artifacts/{document['id']}/pages/1/image"
    answer = org.api("viewer").get(path)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.json["error"]["details"] == {"reason": "busy"}
    monkeypatch.undo()
    assert org.api("viewer").get(path).status_code == 200


@pytest.mark.parametrize("what", ["", "/content", "/text", "/pages", "/pages/1/image"])
def test_a_document_of_another_organization_is_not_found(
    org: Org, other_org: Org, what: str
) -> None:
    document = create_text(other_org.api("labeler"), "text")
    absent = org.api("viewer").get(f"/artifacts/{uuid7()}{what}")
    assert absent.status_code == 404
    assert org.api("viewer").get(f"/artifacts/{document['id']}{what}").data == absent.data
