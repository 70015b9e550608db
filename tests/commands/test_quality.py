"""`flask quality`: the aggregates are counted anew."""

from typing import Any

from tests.factories import Org
from tests.factories.quality import QualityWorkspace


def test_wrong_sums_are_corrected(flask: Any, org: Org) -> None:
    quality = QualityWorkspace(org)
    quality.act(quality.label(quality.artifact(), "A"), "accept")
    quality.count()
    counted = quality.list_cells()
    assert flask.json("quality", "rebuild", org.slug) == {"corrected_cells": 0}
    quality.sql("UPDATE quality_cells SET submitted = submitted + 3 WHERE subject = 'labeler'")
    assert flask.json("quality", "rebuild", org.slug) == {"corrected_cells": 1}
    assert quality.list_cells() == counted


def test_an_organization_that_is_not_there(flask: Any) -> None:
    assert "no such organization" in flask.refused("quality", "rebuild", "nope")
