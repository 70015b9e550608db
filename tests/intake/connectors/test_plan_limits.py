"""Connectors and their crawls keep to the limits of the plan."""

from tests.factories.usage import find_usage_differences, set_plan
from tests.intake.conftest import counts
from tests.intake.connectors.conftest import Folder


def test_creating_a_connector(folder: Folder) -> None:
    first = folder.connect()
    set_plan(folder.org, "free", {"connectors": 1})
    body = {"name": "Second", "type": "local", "settings": {}}
    answer = folder.admin.post("/connectors", json=body)
    assert (answer.status_code, answer.json["error"]["code"]) == (402, "plan_limit_reached")
    details = {"meter": "connectors", "limit": 1, "used": 1, "plan": "free"}
    assert answer.json["error"]["details"] == details
    assert folder.admin.delete(f"/connectors/{first['id']}").status_code == 204
    assert folder.admin.post("/connectors", json=body).status_code == 201
    assert find_usage_differences(folder.org) == []


def test_a_crawl_stops_at_the_limit_and_the_next_one_continues(folder: Folder) -> None:
    for number in range(40):
        folder.write(f"{number:02}.txt", f"Text number {number}")
    connector = folder.connect()
    set_plan(folder.org, "free", {"documents_per_month": 20})
    job = folder.crawl(connector)
    assert (job["status"], job["error"]["code"]) == ("failed", "plan_limit_reached")
    assert "20 documents" in job["error"]["message"]
    # The batch in which the limit was reached is recorded document by document; the rest of the
    # source was not fetched.
    assert job["counts"] == counts(found=32, created=20, failed=12)
    failed = folder.items(job["id"], status="failed")
    assert {item["error"]["code"] for item in failed} == {"plan_limit_reached"}
    [alert] = folder.alerts(connector)
    assert "20 documents" in alert["message"]
    assert folder.count() == 20

    set_plan(folder.org, "free", {"documents_per_month": 100})
    again = folder.crawl(connector)
    assert again["status"] == "completed"
    assert again["counts"] == counts(found=40, created=20, skipped=20)
    assert folder.count() == 40
    assert find_usage_differences(folder.org) == []


def test_known_content_needs_no_room(folder: Folder) -> None:
    folder.write("a.txt", "The same text")
    folder.write("b.txt", "The same text")
    connector = folder.connect()
    set_plan(folder.org, "free", {"documents_per_month": 1})
    job = folder.crawl(connector)
    assert (job["status"], job["counts"]) == ("completed", counts(found=2, created=1, duplicate=1))
