"""Check that quality runs end once and with the same results, although workers are killed."""

from typing import Any
from uuid import UUID

import pytest

from tests.faults.sites import Site

pytestmark = pytest.mark.xdist_group("faults")

DOCUMENTS = 500
_TAG = {"field": "number", "row": None, "confidence": None, "source": "human", "evidence": []}
_EXPIRE = (
    "UPDATE jobs SET leased_until = now() WHERE organization_id = :org"
    " AND function = 'quality_runs.run' AND leased_until > now()"
)


@pytest.fixture
def labeled_site(test_site: Site) -> tuple[Site, UUID]:
    schema_id = test_site.create_schema()
    test_site.create_documents(DOCUMENTS, schema_id=schema_id)
    for number, labeler in enumerate(test_site.create_labelers(2)):
        test_site.insert_tag_sets(labeler, **_TAG, value=str(number))
    return test_site, schema_id


def _wait_for_run(test_site: Site, run_id: str) -> dict[str, Any]:
    test_site.sql(_EXPIRE)
    return dict(test_site.wait_for_end(f"/quality/runs/{run_id}"))


def test_a_run_is_completed_after_kills_of_its_worker(labeled_site: tuple[Site, UUID]) -> None:
    test_site, schema_id = labeled_site
    body = {"schema_id": str(schema_id)}
    undisturbed = _wait_for_run(
        test_site, test_site.call("POST", "/quality/compute", json=body)["id"]
    )
    assert undisturbed["status"] == "completed"
    assert undisturbed["results"][0]["units"] == DOCUMENTS
    run_id = test_site.call("POST", "/quality/compute", json=body)["id"]
    for steps in range(3):
        # The first update starts the run, the second reports progress, the third completes it.
        with test_site.turnstile("quality_runs", sql_part="UPDATE quality_runs") as gate:
            test_site.sql(_EXPIRE)
            worker = gate.wait_for_arrival("worker.py")
            for _ in range(steps):
                worker = gate.step("worker.py")
            gate.kill(worker)
        test_site.service.kill("worker.py", "quality")
    run = _wait_for_run(test_site, run_id)
    assert run["status"] == "completed"
    for name in ("results", "pairs", "warnings"):
        assert run[name] == undisturbed[name]
    completed = [event["run_id"] for event in test_site.events("quality_run.completed")]
    assert completed.count(run_id) == 1
    test_site.check_no_attempts("quality_runs.run")
