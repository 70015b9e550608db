"""An idle service logs nothing. Periodic work is logged only if it fails."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.kit import events
from app.kit.jobs.handlers import Job
from tests.factories import Org, run_jobs_of
from tests.kit.conftest import Lines
from tests.kit.jobs.workshop import declare_handler, enqueue


@pytest.fixture
def list_lines(lines: Lines) -> Callable[[str], list[dict[str, Any]]]:
    """Return a function that lists the lines of an event since its last call."""
    return lambda event: [line for line in lines() if line["event"] == event]


def test_a_successful_probe_is_no_line_and_a_refused_one_is(app: Flask, list_lines: Any) -> None:
    client = app.test_client()
    for path in ("/health/live", "/health/ready"):
        assert client.get(path).status_code == 200
    assert list_lines("request") == []
    assert client.get("/metrics").status_code in {401, 403}
    (line,) = list_lines("request")
    assert line["path"] == "/metrics"
    assert client.get("/api/v1/openapi.json").status_code < 500
    assert len(list_lines("request")) == 1


def test_a_completed_job_is_a_line_when_a_request_caused_it(org: Org, list_lines: Any) -> None:
    def pass_or_fail(job: Job) -> None:
        if job.args["fails"]:
            raise RuntimeError("no luck")

    def run(*, fails: bool, request_id: str | None = None) -> list[str]:
        events.set_request_id(request_id)
        enqueue(org, "test.pass_or_fail", {"fails": fails})
        events.set_request_id(None)
        run_jobs_of(org)
        ran = [line for line in list_lines("job.ran") if line["function"] == "test.pass_or_fail"]
        return [line["outcome"] for line in ran]

    with declare_handler("test.pass_or_fail", pass_or_fail, max_attempts=1):
        assert run(fails=False) == []
        assert run(fails=False, request_id="r-1") == ["completed"]
        (outcome,) = run(fails=True)
        assert outcome != "completed"
