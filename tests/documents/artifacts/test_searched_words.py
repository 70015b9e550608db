"""The index contains the normalized, truncated name, metadata and text of a document."""

from typing import Any

import orjson
import pytest
from sqlalchemy import text

from app.kit import db
from tests.factories import Org

MOST = 240_000
_CALL = text("SELECT searched_words(:name, CAST(:metadata AS jsonb), :words)")
# The definition, without shortcuts.
_DEFINITION = text(
    """
    SELECT search_cut(normalize(search_cut(concat_ws(' ', :name,
        translate(:name, '.,;_:-+@=~#&()[]{}', repeat(' ', 18)),
        search_cut((SELECT string_agg(member #>> '{}', ' ' ORDER BY key)
                    FROM jsonb_each(CAST(:metadata AS jsonb)) AS given (key, member)
                    WHERE jsonb_typeof(member) <> 'boolean'), 60000),
        CAST(:words AS text)), 240000), NFC), 240000)
    """
)
DECOMPOSED = "cafe\u0301 no\u0308rdlich"


@pytest.mark.parametrize(
    ("name", "metadata", "words"),
    [
        ("bill_4711.pdf", {}, "plain words"),
        ("bill.pdf", {"a": "x", "b": 7, "c": True, "d": None}, "plain words"),
        ("bill.pdf", {"only": True}, ""),
        (f"{DECOMPOSED}.txt", {}, "plain"),
        ("a.txt", {"place": DECOMPOSED}, "plain"),
        ("a.txt", {}, DECOMPOSED),
        ("a.txt", {"long": "m " * 40_000}, "words"),
        ("a.txt", {}, "w " * MOST),
        ("a.txt", {}, "ä " * MOST),
        ("a.txt", {}, "w" * (MOST - 12)),
        ("a.txt", {}, "w" * (MOST - 11)),
    ],
)
def test_shortcuts_do_not_change_what_is_indexed(
    org: Org, name: str, metadata: dict[str, Any], words: str
) -> None:
    values = {"name": name, "metadata": orjson.dumps(metadata).decode(), "words": words}
    with org.app.app_context():
        session = db.session()
        result = session.execute(_CALL, values).scalar_one()
        assert result == session.execute(_DEFINITION, values).scalar_one()
        session.rollback()
    assert len(result.encode()) <= MOST
    if DECOMPOSED in (words, metadata.get("place"), name.removesuffix(".txt")):
        assert "caf\u00e9 n\u00f6rdlich" in result
