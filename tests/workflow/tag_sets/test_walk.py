"""One document all the way: taken in, labeled, corrected, accepted; beyond the BMP too."""

from collections.abc import Callable

from tests.factories.errors import check_conflict
from tests.factories.workspace import Workspace, counts, tag
from tests.workflow.actions import accept, start_draft, submit

TEXT = "Facture n° 7 😀\nTotal à payer: 𐄫 €\n"


def test_from_text_to_done(workspace: Workspace, work: Callable[[], None]) -> None:
    labeler = workspace.org.api("labeler")
    body = {"name": "facture.txt", "text": TEXT, "schema_id": str(workspace.schema())}
    artifact = labeler.post("/artifacts", json=body).json["data"]
    work()
    path = f"/artifacts/{artifact['id']}"
    text = labeler.get(f"{path}/text").json["data"]["text"]
    draft = workspace.draft(artifact["id"])
    assert labeler.get(path).json["data"]["status"] == "in_progress"
    start = text.index("Total")
    clause = text[start:].rstrip()
    tags = [
        tag("number", "7", evidence=[{"page": 1, "text": "7"}]),
        tag("clause", clause, evidence=[{"start": start, "end": start + len(clause)}]),
    ]
    saved = workspace.save(draft, tags).json["data"]
    place = saved["tags"][1]["evidence"][0]
    assert text[place["start"] : place["end"]] == saved["tags"][1]["value"] == "Total à payer: 𐄫 €"
    # A client that counts UTF-16 units ends up behind the text.
    units = len(text.encode("utf-16-le")) // 2
    behind = [tag("clause", "€", evidence=[{"start": units - 2, "end": units}])]
    assert workspace.save(saved, behind).json["error"]["field"].startswith("tags.0.evidence.0.")
    assert submit(workspace, draft).status_code == 200
    assert labeler.get(path).json["data"]["status"] == "in_review"
    assert accept(workspace, draft, tags=[tag("number", "07"), tags[1]]).status_code == 200
    document = labeler.get(path).json["data"]
    assert (document["status"], document["label_counts"]) == ("done", counts(accepted=1))
    check_conflict(start_draft(workspace, artifact["id"]), state="done")
