"""`flask counts`: totals are compared with the rows, and corrected."""

from typing import Any

from tests.factories import Org
from tests.factories.counts import fold, insert_artifacts, run_sql

WRONG = 3
"""The exit status of a command that found something."""


def _total(org: Org) -> int:
    total: int = org.api("viewer").get("/artifacts?archived=any").json["meta"]["total"]
    return total


def _drift(org: Org) -> None:
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
    _drift(org)
    assert _total(org) == 12 + 5
    found = flask.run("counts", "verify", org.slug)
    assert found.exit_code == WRONG
    assert "artifacts" in found.stdout
    assert flask.json("counts", "rebuild", org.slug) == {"corrected_cells": 1}
    assert _total(org) == 12
    assert flask.run("counts", "verify", org.slug).exit_code == 0


def test_an_organization_that_is_not_there(flask: Any) -> None:
    assert "no such organization" in flask.refused("counts", "verify", "nope")
    assert "no such organization" in flask.refused("counts", "rebuild", "nope")
