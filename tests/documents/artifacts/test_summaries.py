"""A page of a list has a limited size, whatever the metadata of its documents."""

import pytest

from tests.documents.artifacts.conftest import create_text
from tests.factories import Org

_SMALL = {"lot": 7}
_LARGE = {f"key {number}": "x" * 2000 for number in range(9)}
"""Larger than a thousandth of the limit."""


@pytest.mark.parametrize(
    "query",
    ["", "archived=any", "sort=name", "q=rent", "q=rent&sort=name", "media_type=text/plain&q=rent"],
)
def test_metadata_too_large_for_a_page_is_left_to_the_document(org: Org, query: str) -> None:
    api = org.api("labeler")
    text = "The tenant pays the rent on the first day of each month."
    large = create_text(api, f"{text} Large.", "large", metadata=_LARGE)
    create_text(api, f"{text} Small.", "small", metadata=_SMALL)
    for page_size, listed_metadata in ((1000, None), (100, _LARGE)):
        answer = api.get(f"/artifacts?page_size={page_size}&{query}").json
        listed = {document["name"]: document for document in answer["data"]}
        assert listed["large"]["metadata"] == listed_metadata
        assert listed["small"]["metadata"] == _SMALL
    assert api.get(f"/artifacts/{large['id']}").json["data"]["metadata"] == _LARGE
