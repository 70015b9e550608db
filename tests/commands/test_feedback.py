"""`flask feedback`: feedback is recorded from accepted tag sets again."""

from typing import Any

from tests.factories import Org
from tests.factories.feedback import Assisted, predicted


def test_feedback_is_recorded_again(flask: Any, org: Org) -> None:
    assisted = Assisted(org)
    assisted.accept(assisted.draft([predicted("number", "A-1")]))
    assisted.record()
    before = assisted.rows()
    assert len(before) == 1
    assisted.workspace.sql("DELETE FROM prediction_feedback WHERE organization_id = :o", o=org.id)
    assert flask.json("feedback", "rebuild", org.slug) == {"tag_sets": 1}
    assert assisted.rows() == before


def test_an_organization_that_is_not_there(flask: Any) -> None:
    assert "no such organization" in flask.refused("feedback", "rebuild", "nope")
