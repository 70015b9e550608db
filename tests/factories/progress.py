"""React to the progress reports of jobs."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.factories.orgs import Org
from tests.factories.queueing import call_in_thread

OnProgress = Callable[[Callable[[int], None]], None]
"""A fixture's function that installs a callback; the callback gets the number of items done."""


def install_progress_callback(
    monkeypatch: pytest.MonkeyPatch, jobs: Any, org: Org, call: Callable[[int], None]
) -> None:
    """Call a function on another thread after each progress report of the organization's jobs.

    `jobs` is the module of the jobs. They report after each item, and not only once a second.
    """
    report = jobs._report_progress

    def reported(job: Any, record_id: Any, done: int, total: int) -> None:
        report(job, record_id, done, total)
        if job.organization_id == org.id:
            call_in_thread(call, done)

    monkeypatch.setattr(jobs, "REPORT_SECONDS", 0.0)
    monkeypatch.setattr(jobs, "_report_progress", reported)
