"""Check that quality runs end once and with the same results, although workers are killed."""

from typing import Any
from uuid import UUID

import pytest

from tests.faults.sites import Site

pytestmark = pytest.mark.xdist_group("faults")

DOCUMENTS = 500
_ANSWERS = """
INSERT INTO tag_sets (organization_id, id, artifact_id, schema_id, schema_version_id, labeler_id,
    source, tags, status, submitted_at, seconds_spent, comment_count, rejections, review_rank,
    escalated, flags, created_at, updated_at, revision)
SELECT :org, gen_random_uuid(), document.id, schemas.id, schemas.current_version_id, :labeler,
    'human', jsonb_build_array(jsonb_build_object('field', 'number', 'value', CAST(:answer AS text),
        'row', NULL, 'confidence', NULL, 'source', 'human', 'evidence', CAST('[]' AS jsonb))),
    'submitted', now(), 30, 0, 0, 0, false, '[]', now(), now(), 1
FROM artifacts document JOIN schemas
  ON schemas.organization_id = :org AND schemas.id = document.schema_id
WHERE document.organization_id = :org
"""
_EXPIRE = (
    "UPDATE jobs SET leased_until = now() WHERE organization_id = :org"
    " AND function = 'quality_runs.run' AND leased_until > now()"
)


@pytest.fixture
def labeled_site(test_site: Site) -> tuple[Site, UUID]:
    schema_id = test_site.create_schema()
    test_site.create_documents(DOCUMENTS, schema_id=schema_id)
    for number, labeler in enumerate(test_site.create_labelers(2)):
        test_site.sql(_ANSWERS, labeler=labeler, answer=str(number))
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
