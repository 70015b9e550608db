"""Documents keep their text and offsets until they are reprocessed, and tag sets prevent that."""

from collections.abc import Callable

import pytest

from tests.documents.artifacts.conftest import create_text, make_pdf, upload
from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.workspace import Workspace

OLD = "1,234.56\nTotal due\x07 cafe\u0301"
"""The text as an earlier release read it: values before labels, control characters, separate
accents."""


def test_text_of_an_earlier_release_is_kept_until_reprocessing(
    org: Org, work: Callable[[], None]
) -> None:
    api = org.api("admin")
    path = f"/artifacts/{upload(api, make_pdf('Total due 1,234.56'), 'a.pdf').json['data']['id']}"
    work()
    Workspace(org).sql(
        "UPDATE artifact_texts SET text = :text WHERE artifact_id = :id",
        text=OLD,
        id=path.rpartition("/")[2],
    )
    assert api.patch(path, {"name": "b.pdf", "priority": 90}).status_code == 200
    work()
    assert api.get(f"{path}/text").json["data"]["text"] == OLD
    assert api.post(f"{path}/reprocess").status_code == 202
    work()
    assert api.get(f"{path}/text").json["data"]["text"] == "Total due 1,234.56"


def test_a_page_image_shows_the_stored_text(org: Org, work: Callable[[], None]) -> None:
    api = org.api("admin")
    old, new = "1,234.56 Total due", "Total due 1,234.56"
    artifact_id = create_text(api, new)["id"]
    expected = {
        text: api.get(_image_path(create_text(api, text)["id"])).data for text in (old, f"{new} ")
    }
    Workspace(org).sql(
        "UPDATE artifact_texts SET text = :text WHERE artifact_id = :id", text=old, id=artifact_id
    )
    image = api.get(_image_path(artifact_id))
    assert image.data == expected[old]
    assert api.post(f"/artifacts/{artifact_id}/reprocess").status_code == 202
    work()
    reread = api.get(_image_path(artifact_id), headers={"If-None-Match": image.headers["ETag"]})
    assert reread.data == expected[f"{new} "]


def _image_path(artifact_id: str) -> str:
    return f"/artifacts/{artifact_id}/pages/1/image?width=300"


@pytest.mark.parametrize("end", [None, "accept", "reject"])
def test_a_tag_set_of_any_status_prevents_reprocessing(org: Org, end: str | None) -> None:
    workspace = Workspace(org)
    sent = workspace.submitted()
    if end is not None:
        body = {"reason": "No.", "send_to": "pool"} if end == "reject" else {}
        answer = org.api("reviewer").post(f"/tag-sets/{sent['id']}/{end}", body)
        assert answer.status_code == 200, answer.json
    before = org.api("reviewer").get(f"/tag-sets/{sent['id']}").json
    text = org.api("viewer").get(f"/artifacts/{sent['artifact_id']}/text").json
    refused = org.api("admin").post(f"/artifacts/{sent['artifact_id']}/reprocess")
    check_error(refused, 409, "conflict", details={"tag_sets": [sent["id"]]})
    assert org.api("reviewer").get(f"/tag-sets/{sent['id']}").json == before
    assert org.api("viewer").get(f"/artifacts/{sent['artifact_id']}/text").json == text
