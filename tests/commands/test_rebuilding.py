"""`flask counts`, `flask quality` and `flask feedback`: derived data is compared and corrected."""

from typing import Any

import pytest

from tests.factories import Org
from tests.factories.counts import fold, insert_artifacts, run_sql
from tests.factories.feedback import Assisted, make_predicted_tag
from tests.factories.quality import QualityWorkspace

WRONG = 3
"""The exit status of a command that found something."""


def _get_total(org: Org) -> int:
    return int(org.api("viewer").get("/artifacts?archived=any").json["meta"]["total"])


def _corrupt_count(org: Org) -> None:
    """Have a cell say more than there is."""
    fold(org.app)
    run_sql(
        org,
        "UPDATE counts SET n = n + 5 WHERE cube = 'artifacts' AND facets = (SELECT min(facets)"
        " FROM counts WHERE organization_id = :org AND cube = 'artifacts')",
    )


def test_counts_that_agree(flask: Any, org: Org) -> None:
    insert_artifacts(org, 12)
    assert flask.run("counts", "verify", org.slug).exit_code == 0
    assert flask.json("counts", "rebuild", org.slug) == {"corrected_cells": 0}


def test_a_drift_is_found_and_corrected(flask: Any, org: Org) -> None:
    insert_artifacts(org, 12)
    _corrupt_count(org)
    assert _get_total(org) == 12 + 5
    result = flask.run("counts", "verify", org.slug)
    assert result.exit_code == WRONG
    assert "artifacts" in result.stdout
    assert flask.json("counts", "rebuild", org.slug) == {"corrected_cells": 1}
    assert _get_total(org) == 12
    assert flask.run("counts", "verify", org.slug).exit_code == 0


def test_wrong_sums_of_quality_are_corrected(flask: Any, org: Org) -> None:
    quality = QualityWorkspace(org)
    quality.act(quality.label(quality.artifact(), "A"), "accept")
    quality.update_metrics()
    counted = quality.list_cells()
    assert flask.json("quality", "rebuild", org.slug) == {"corrected_cells": 0}
    quality.sql("UPDATE quality_cells SET submitted = submitted + 3 WHERE subject = 'labeler'")
    assert flask.json("quality", "rebuild", org.slug) == {"corrected_cells": 1}
    assert quality.list_cells() == counted


def test_feedback_is_recorded_again(flask: Any, org: Org) -> None:
    assisted = Assisted(org)
    assisted.accept(assisted.draft([make_predicted_tag("number", "A-1")]))
    assisted.record()
    before = assisted.rows()
    assert len(before) == 1
    assisted.workspace.sql("DELETE FROM prediction_feedback WHERE organization_id = :o", o=org.id)
    assert flask.json("feedback", "rebuild", org.slug) == {"tag_sets": 1}
    assert assisted.rows() == before


@pytest.mark.parametrize(
    "command",
    [
        ("counts", "verify"),
        ("counts", "rebuild"),
        ("quality", "rebuild"),
        ("feedback", "rebuild"),
    ],
)
def test_an_organization_that_is_not_there(flask: Any, command: tuple[str, str]) -> None:
    assert "no such organization" in flask.get_refusal(*command, "nope")
