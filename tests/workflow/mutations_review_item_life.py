"""Mutation tests: the state machine of review items must notice every broken rule."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.kit import db, events
from app.workflow.review_queue.queries import items, next_item
from app.workflow.review_queue.service import assigning
from app.workflow.tag_sets.queries import deciding
from app.workflow.tag_sets.service import bulk, decisions, rules
from tests.factories.state_machines import Patch, copy_with, expect_failure
from tests.workflow.mutations_artifact_life import (
    a_bulk_sends_back_without_end,
    a_bulk_tells_nobody,
    a_verdict_is_on_what_nobody_saw,
    it_goes_back_without_end,
    nobody_accepted_it,
)
from tests.workflow.test_review_item_life import LIVES, STEPS, ReviewItemLife

Fault = Callable[[Patch], None]


def _none(*_: Any, **__: Any) -> int:
    """Return 0, as if nothing blocked an action or nothing was changed."""
    return 0


def _hide_members(patch: Patch, **members: None) -> None:
    """Replace members of a review with other values when it is checked."""
    real = rules.check_review

    def check_review(caller: Any, review: Any, **more: Any) -> None:
        real(caller, SimpleNamespace(**{**review._asdict(), **members}), **more)

    patch.setattr(rules, "check_review", check_review)


def people_review_their_own(patch: Patch) -> None:
    patch.setattr(rules, "check_reviewer", _none)


def people_are_given_their_own(patch: Patch) -> None:
    real = next_item.claim_next

    def claim_next(*args: Any, **criteria: Any) -> Any:
        return real(*args, **{**criteria, "allows_self_review": True})

    patch.setattr(next_item, "claim_next", claim_next)


def claims_bind_nobody(patch: Patch) -> None:
    _hide_members(patch, claimed_by=None)


def whoever_comes_does_what_a_person_was_to(patch: Patch) -> None:
    _hide_members(patch, assignee_id=None)


def whoever_comes_does_what_a_team_was_to(patch: Patch) -> None:
    _hide_members(patch, assignee_team_id=None)


def the_draw_gives_what_others_hold(patch: Patch) -> None:
    real = next_item.claim_next

    def claim_next(user_id: Any, **more: Any) -> Any:
        statement = (
            "UPDATE tag_sets SET claim_user_id = NULL WHERE organization_id = (SELECT"
            " organization_id FROM memberships WHERE user_id = :id)"
        )
        db.session().execute(text(statement), {"id": user_id})
        return real(user_id, **more)

    patch.setattr(next_item, "claim_next", claim_next)


def the_queue_has_no_order(patch: Patch) -> None:
    real = deciding.update_tag_sets

    def change(tag_set_ids: Any, *args: Any, **details: Any) -> None:
        real(tag_set_ids, *args, **details)
        statement = text("UPDATE tag_sets SET review_rank = 0 WHERE id = ANY (:ids)")
        db.session().execute(statement, {"ids": list(tag_set_ids)})

    patch.setattr(deciding, "update_tag_sets", change)


def a_verdict_ends_nothing(patch: Patch) -> None:
    patch.setattr(decisions, "REVIEW_RESET", {})


def a_bulk_ends_nothing(patch: Patch) -> None:
    real, review_columns = bulk.build_decision, decisions.REVIEW_RESET.keys()

    def build_decision(*args: Any, **values: Any) -> dict[str, Any]:
        decision = real(*args, **values)
        return {name: decision[name] for name in decision.keys() - review_columns}

    patch.setattr(bulk, "build_decision", build_decision)


def escalating_is_forgotten(patch: Patch) -> None:
    patch.setattr(items, "escalate", _none)


def nobody_is_told_of_it(patch: Patch) -> None:
    patch.setattr(assigning, "events", copy_with(events, emit=_none))


def work_waits_for_a_team_that_is_gone(patch: Patch) -> None:
    patch.setattr(items, "unassign_team", lambda _: [])


FAULTS: list[Fault] = [
    people_review_their_own,
    people_are_given_their_own,
    claims_bind_nobody,
    whoever_comes_does_what_a_person_was_to,
    whoever_comes_does_what_a_team_was_to,
    the_draw_gives_what_others_hold,
    the_queue_has_no_order,
    a_verdict_ends_nothing,
    a_bulk_ends_nothing,
    escalating_is_forgotten,
    nobody_is_told_of_it,
    a_verdict_is_on_what_nobody_saw,
    it_goes_back_without_end,
    a_bulk_sends_back_without_end,
    a_bulk_tells_nobody,
    nobody_accepted_it,
    work_waits_for_a_team_that_is_gone,
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_broken_rule_is_found(app: Flask, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    fault(Patch(monkeypatch))
    expect_failure(type("Life", (ReviewItemLife,), {"flask": app}), examples=4 * LIVES, steps=STEPS)
