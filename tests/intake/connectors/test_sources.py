"""Crawl a real server of each type: all documents, then only what is new."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.intake.conftest import counts
from tests.intake.connectors.conftest import Folder
from tests.intake.connectors.servers import SERVERS

pytestmark = pytest.mark.usefixtures("_allow_loopback")


@pytest.mark.parametrize("type_name", SERVERS)
def test_a_crawl_reads_what_is_new(folder: Folder, tmp_path: Path, type_name: str) -> None:
    with ExitStack() as stack:
        place = stack.enter_context(SERVERS[type_name](tmp_path))
        for number in range(5):
            place.add(number)
        connector = folder.connect(type=type_name, settings=place.settings)
        tested = folder.admin.post(f"/connectors/{connector['id']}/test").json["data"]
        assert tested["ok"], tested
        assert len(tested["entries"]) == 5
        job = folder.crawl(connector)
        assert (job["status"], job["counts"]) == ("completed", counts(found=5, created=5))
        place.add(5)
        job = folder.crawl(connector)
        assert job["status"] == "completed"
        assert job["counts"] == counts(found=6, created=1, skipped=5)
        (item,) = folder.items(job["id"])
        artifact = folder.artifact(item["artifact_id"])
        assert (artifact["name"], artifact["status"]) == (item["uri"], "ready")


@pytest.mark.parametrize("type_name", SERVERS)
def test_a_host_that_is_gone_ends_the_crawl(folder: Folder, tmp_path: Path, type_name: str) -> None:
    with SERVERS[type_name](tmp_path) as place:
        connector = folder.connect(type=type_name, settings=place.settings)
    job = folder.crawl(connector)
    assert (job["status"], job["error"]["code"]) == ("failed", "unreachable")
    assert [alert["kind"] for alert in folder.alerts(connector)] == ["unreachable"]
