"""Full-text search uses the language of a document and follows its changes."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask
from sqlalchemy import select, text
from sqlalchemy.exc import ProgrammingError

from app.documents.artifacts.models.content import ArtifactSearchBacklog
from app.documents.artifacts.queries import searching
from app.documents.artifacts.service import reprocessing
from app.kit import db, tenancy
from tests.documents.artifacts.conftest import (
    create_text,
    explain,
    list_names,
    make_pdf,
    upload,
)
from tests.factories import Org, make_due
from tests.factories.queueing import KilledError, build_killing_checkpoint
from tests.factories.workspace import Workspace

Work = Callable[[], None]
ENGLISH = "The tenants were paying their monthly rents for the houses when the invoices came."
GERMAN = "Die Häuser wurden von den Mietern bezahlt, und die Rechnungen kamen jeden Monat später."
FRENCH = "Les locataires payaient leurs loyers pour les maisons quand les factures arrivaient."


def _search(org: Org, query: str, more: str = "") -> list[str]:
    return list_names(org, f"sort=created_at&q={quote(query)}{more}")


@pytest.fixture
def language_org(org: Org) -> Org:
    """Create one document in each of three languages, and one that is too short to detect."""
    api = org.api("labeler")
    for name, words, language in (
        ("e", ENGLISH, "en"), ("g", GERMAN, "de"), ("f", FRENCH, "fr"), ("n", "rents 4711", None),
    ):  # fmt: skip
        assert create_text(api, words, name)["language"] == language
    return org


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("rent", ["e"]),
        ("rents", ["e", "n"]),
        ("RENTING", ["e"]),
        ("haus", ["g"]),
        ("Häuser", ["g"]),
        ("rechnung", ["g"]),
        ("maison", ["f"]),
        ("facture", ["f"]),
        ("invoice or rechnung or facture", ["e", "g", "f"]),
        ("tenant rent", ["e"]),
        ("tenant haus", []),
        ('"monthly rent"', ["e"]),
        ('"rent monthly"', []),
        ("4711", ["n"]),
        ("471", []),
        ("!", []),
        ("-", []),
    ],
)
def test_words_are_found_in_every_inflected_form(
    language_org: Org, query: str, names: list[str]
) -> None:
    assert _search(language_org, query) == names


def test_excluded_words_are_excluded_in_every_form(language_org: Org) -> None:
    assert _search(language_org, "rent -invoice") == []
    assert _search(language_org, "rents -invoice") == ["n"]
    assert _search(language_org, "rent -rechnung") == ["e"]
    assert _search(language_org, "-rent") == ["g", "f", "n"]
    assert _search(language_org, "-rents") == ["g", "f"]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("-" * 500, []),
        ("-" * 40 + " rent", ["e"]),
        ("- " * 40 + "rent", ["e"]),
        ("-(" * 40 + "rent", ["e"]),
        ("--- -rent", ["g", "f", "n"]),
        ("tenants - monthly", ["e"]),
        ("tenants -monthly", []),
    ],
)
def test_a_hyphen_without_a_following_word_is_a_dash(
    language_org: Org, query: str, names: list[str]
) -> None:
    assert _search(language_org, query) == names


def test_common_words_are_searched(org: Org) -> None:
    api = org.api("labeler")
    create_text(api, "This is the last will and testament of the late Mr Smith, of London.", "will")
    create_text(api, "This is a letter that Mr Smith wrote to his sister in the winter.", "letter")
    assert _search(org, "will") == ["will"]
    assert _search(org, "smith -will") == ["letter"]
    assert _search(org, '"and testament of the"') == ["will"]
    assert _search(org, '"and testament in the"') == []
    assert _search(org, '"to be or not to be"') == []


def test_metadata_is_searched(org: Org) -> None:
    api = org.api("labeler")
    metadata = {"customer": "Acme Traders", "lot": 4711, "paid": True, "path": "in/tray_7.pdf"}
    create_text(api, ENGLISH, "a", metadata=metadata)
    create_text(api, GERMAN, "b", metadata={"customer": "Umbrella"})
    assert _search(org, "acme") == _search(org, "trader 4711") == ["a"]
    assert _search(org, "umbrella") == ["b"]
    # Keys are not searched, because they are the same in all documents; booleans are not words.
    assert _search(org, "customer") == _search(org, "true") == []


def test_search_follows_name_metadata_and_archiving(org: Org) -> None:
    api = org.api("admin")
    document = create_text(api, ENGLISH, "first_name.pdf", metadata={"lot": "alpha"})
    path = f"/artifacts/{document['id']}"
    assert _search(org, "first name alpha rent") == ["first_name.pdf"]
    api.patch(path, {"name": "second"})
    assert (_search(org, "first"), _search(org, "second alpha rent")) == ([], ["second"])
    api.patch(path, {"metadata": {"lot": "beta"}})
    assert (_search(org, "alpha"), _search(org, "second beta rent")) == ([], ["second"])
    api.patch(path, {"archived": True})
    assert _search(org, "beta") == []
    for archived in ("true", "any"):
        assert _search(org, "beta", f"&archived={archived}") == ["second"]
    api.post("/artifacts/bulk-archive", {"artifact_ids": [document["id"]], "archived": False})
    assert _search(org, "beta") == ["second"]
    api.delete(path)
    assert _search(org, "beta", "&archived=any") == []


def test_a_file_is_found_by_its_language_once_it_is_read(org: Org, work: Work) -> None:
    upload(org.api("labeler"), make_pdf(ENGLISH), "scan.pdf")
    assert (_search(org, "scan"), _search(org, "rent")) == (["scan.pdf"], [])
    work()
    assert _search(org, "rent scan") == ["scan.pdf"]


def test_search_combines_with_filters_and_sorts(language_org: Org) -> None:
    query = "invoice or rechnung or facture or 4711"
    assert _search(language_org, query, "&language=de") == ["g"]
    later = _search(language_org, query, "&created_after=2000-01-01T00:00:00Z")
    assert later == ["e", "g", "f", "n"]
    assert _search(language_org, query, "&created_before=2000-01-01T00:00:00Z") == []
    answer = language_org.api("viewer").get(f"/artifacts?sort=-name&q={quote(query)}").json
    assert [document["name"] for document in answer["data"]] == ["n", "g", "f", "e"]


@pytest.mark.parametrize("sort", ["created_at", "-created_at", "name"])
def test_found_documents_are_paged_both_ways(org: Org, sort: str) -> None:
    for number in range(7):
        create_text(org.api("labeler"), f"rope {number}", f"{number}")
    create_text(org.api("labeler"), "something else", "x")
    api, path = org.api("viewer"), f"/artifacts?q=rope&page_size=3&sort={sort}"
    pages = [api.get(path).json]
    create_text(org.api("labeler"), "rope that came later", "9")
    while cursor := pages[-1]["meta"]["next_cursor"]:
        pages.append(api.get(f"{path}&cursor={cursor}").json)
    names = [document["name"] for page in pages for document in page["data"]]
    expected = [str(n) for n in range(7)]
    if sort.startswith("-"):
        assert names == expected[::-1]
    else:
        assert names == [*expected, "9"]
    assert {page["meta"]["total"] for page in pages} == {7}
    back = api.get(f"{path}&cursor={pages[1]['meta']['prev_cursor']}").json
    assert back["data"] == pages[0]["data"]
    foreign = api.get(
        f"/artifacts?q=other&page_size=3&sort={sort}&cursor={pages[0]['meta']['next_cursor']}"
    )
    assert foreign.status_code == 422


def test_another_organization_is_never_found(org: Org, other_org: Org) -> None:
    create_text(other_org.api("labeler"), ENGLISH)
    assert _search(org, "rent") == _search(org, "-nothing") == []
    # No query can match documents of another organization, even if it contains that id.
    for odd in (f"english {other_org.id}", f'"english {other_org.id}"', str(other_org.id)):
        assert _search(org, odd) == []


_VIEWS = ("searchable_artifacts", "search_hits")


@pytest.mark.parametrize("view", _VIEWS)
def test_a_view_shows_only_the_bound_organization(org: Org, other_org: Org, view: str) -> None:
    create_text(other_org.api("labeler"), ENGLISH)
    count = text(f"SELECT count(*) FROM {view}")
    with org.app.app_context():
        assert db.session().execute(count).scalar_one() == 0
        for bound, expected in ((org, 0), (other_org, 1)):
            with tenancy.organization(bound.id):
                assert db.session().execute(count).scalar_one() == expected


@pytest.mark.parametrize("view", _VIEWS)
@pytest.mark.parametrize("statement", ["UPDATE {} SET archived = true", "DELETE FROM {}"])
def test_views_are_read_only(org: Org, statement: str, view: str) -> None:
    with org.app.app_context(), tenancy.organization(org.id):
        with pytest.raises(ProgrammingError, match="permission denied"):
            db.session().execute(text(statement.format(view)))
        db.session().rollback()


def test_rare_words_are_found_with_the_index_of_words_alone(org: Org) -> None:
    create_text(org.api("labeler"), ENGLISH)
    with org.app.app_context(), tenancy.organization(org.id):
        hits = select(searching.select_hits(searching.build_query("rent")))
        plan = explain(hits, disabled=["enable_seqscan"])
    # An index on the organization's documents would have to be read completely.
    assert set(re.findall(r"\b[ip][xk]_artifact\w+", plan)) == {"ix_artifact_search_vector"}


def _restore_unmigrated_index(workspace: Workspace) -> None:
    workspace.sql(
        "UPDATE artifact_texts SET search = to_tsvector('simple', text) WHERE organization_id = :o",
        o=workspace.org.id,
    )
    workspace.sql("DELETE FROM artifact_search WHERE organization_id = :o", o=workspace.org.id)
    workspace.sql(
        "INSERT INTO artifact_search_backlog (organization_id) VALUES (:o)", o=workspace.org.id
    )


def _index(org: Org, *, checkpoint: Callable[[], None] | None = None) -> None:
    with org.app.app_context(), tenancy.across_organizations(reason="as the job"):
        reprocessing.index_backlog(checkpoint or db.session().commit)
        db.session().rollback()


def test_old_documents_are_found_until_they_are_indexed_again(org: Org) -> None:
    workspace = Workspace(org)
    api = org.api("admin")
    create_text(api, ENGLISH, "a")
    old = create_text(api, ENGLISH + " Again.", "b")
    _restore_unmigrated_index(workspace)
    assert _search(org, "rents") == ["a", "b"]
    assert _search(org, "rent") == []
    assert _search(org, "rents", "&language=en") == ["a", "b"]
    # A changed document is indexed in the new way, and is found only once.
    api.patch(f"/artifacts/{old['id']}", {"name": "c"})
    assert (_search(org, "rents"), _search(org, "rent")) == (["a", "c"], ["c"])
    _index(org)
    assert _search(org, "rents") == _search(org, "rent") == ["a", "c"]
    assert workspace.sql("SELECT 1 FROM artifact_search_backlog") == []


def test_indexing_continues_after_an_interruption(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "BATCH_SIZE", 2)
    workspace = Workspace(org)
    for number in range(5):
        create_text(org.api("labeler"), f"{ENGLISH} {number}", f"{number}")
    _restore_unmigrated_index(workspace)
    with pytest.raises(KilledError):
        _index(org, checkpoint=build_killing_checkpoint(2))
    assert _search(org, "rent") == ["0", "1"]
    assert _search(org, "rents") == ["0", "1", "2", "3", "4"]
    with org.app.app_context(), tenancy.organization(org.id):
        (waiting,) = db.session().query(ArtifactSearchBacklog).all()
        assert waiting.after is not None
    _index(org)
    assert _search(org, "rent") == ["0", "1", "2", "3", "4"]


def test_the_job_indexes_the_backlog(org: Org, work: Work, app: Flask) -> None:
    create_text(org.api("labeler"), ENGLISH, "a")
    _restore_unmigrated_index(Workspace(org))
    make_due(app, "artifacts.index")
    work()
    assert _search(org, "rent") == ["a"]


@pytest.mark.parametrize(
    ("words", "most", "kept"),
    [("abc", 3, "abc"), ("abcd", 3, "abc"), ("aüb", 2, "a"), ("aüb", 3, "aü"), ("😀😀", 7, "😀")],
)
def test_words_are_cut_at_a_character(org: Org, words: str, most: int, kept: str) -> None:
    with org.app.app_context():
        cut = text("SELECT search_cut(:words, :most)")
        assert db.session().scalar(cut, {"words": words, "most": most}) == kept


def test_large_metadata_leaves_room_for_the_text(org: Org) -> None:
    metadata: dict[str, Any] = {
        f"{n}": " ".join(f"{n}-{word:x}" for word in range(250)) for n in range(100)
    }
    create_text(org.api("labeler"), ENGLISH, "a", metadata=metadata)
    assert _search(org, "rent") == ["a"]


def test_accents_are_found_however_they_are_encoded(org: Org) -> None:
    api = org.api("labeler")
    create_text(api, "Cafe\u0301 in Zu\u0308rich", "decomposed", metadata={"a": "Mu\u0308nster"})
    create_text(api, "Café in Zürich, as one code point each", "compose\u0301d")
    for query in ("café", "cafe\u0301", '"in Zürich"', '"in Zu\u0308rich"'):
        assert _search(org, query) == ["decomposed", "compose\u0301d"]
    assert _search(org, "Münster") == _search(org, "Mu\u0308nster") == ["decomposed"]
    assert _search(org, "composéd") == ["compose\u0301d"]
    assert _search(org, "café -münster") == ["compose\u0301d"]
